import type { TokenRefusal } from '../errors/codes.js'
import { ignoringErrors } from '../options/values.js'
import { describeError } from './describe-error.js'
import type { AuthEvent, AuthObserver, EventBase } from './events.js'
import { warn, warnOnce } from './warnings.js'

export type EventSubject = Pick<EventBase, 'address' | 'email' | 'tenant'>

/** An event without the fields that the emitter adds. */
export type NewEvent<E> = E extends AuthEvent ? Omit<E, Exclude<keyof EventBase, 'type'>> : never

export type Emit = (subject: EventSubject, event: NewEvent<AuthEvent>) => void

export function emitter(observer: AuthObserver = warnOfFirstFailures()): Emit {
  return (subject, event) => ignoringErrors(() => observer({ ...event, ...subject, time: new Date() } as AuthEvent))
}

/**
 * Creates the default observer. It emits a process warning for the first failure of each dependency and hook, which would leave no trace. In
 * development, also for the first refusal of a token for each reason.
 */
function warnOfFirstFailures(): AuthObserver {
  const warned = new Set<string>()
  return (event) => {
    if (event.type === 'bearer.refused') noteRefusedToken(event.reason)
    if (event.type !== 'dependency.failed') return
    const { dependency, option: name = dependency } = event
    if (warned.has(name)) return
    warned.add(name)
    warn(`${name} failed: ${describeError(event.error)}. Set onEvent to receive every failure`)
  }
}

const TOKEN_REASONS: Readonly<Record<TokenRefusal, true>> = {
  malformed: true,
  algorithm: true,
  type: true,
  critical_header: true,
  unknown_key: true,
  signature: true,
  claims: true,
  issuer: true,
  audience: true,
  id_token: true,
  nonce: true,
  not_yet_valid: true,
  expired: true,
  revoked: true,
  unknown_account: true,
  account_disabled: true,
  superseded: true,
}

/** Warns of the reason. A custom verifier in JavaScript may give any text, which is not repeated. */
function noteRefusedToken(reason: TokenRefusal | undefined): void {
  if (reason !== undefined && Object.hasOwn(TOKEN_REASONS, reason)) warnOnce('refusedToken', reason)
}
