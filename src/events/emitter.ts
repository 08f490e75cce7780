import { ignoringErrors } from '../options/values.js'
import { describeError } from './describe-error.js'
import type { AuthEvent, AuthObserver, EventBase } from './events.js'

export type EventSubject = Pick<EventBase, 'address' | 'email' | 'tenant'>

/** An event without the fields that the emitter adds. */
export type NewEvent<E> = E extends AuthEvent ? Omit<E, keyof EventBase> : never

export type Emit = (subject: EventSubject, event: NewEvent<AuthEvent>) => void

export function emitter(observer: AuthObserver = warnOfFirstFailures()): Emit {
  return (subject, event) => ignoringErrors(() => observer({ ...event, ...subject, time: new Date() } as AuthEvent))
}

export function warn(message: string): void {
  process.emitWarning(message, 'ExpressTokenEndpointWarning')
}

/** Creates the default observer. It emits a process warning for the first failure of each dependency and hook, which would leave no trace. */
function warnOfFirstFailures(): AuthObserver {
  const warned = new Set<string>()
  return (event) => {
    if (event.type !== 'dependency.failed') return
    const { dependency, option: name = dependency } = event
    if (warned.has(name)) return
    warned.add(name)
    warn(`${name} failed: ${describeError(event.error)}. Set onEvent to receive every failure`)
  }
}
