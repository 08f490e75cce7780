import { type Duration, func } from '../options/checks.js'
import { InvalidOption, optional } from '../options/read-options.js'
import type { AuthObserver } from '../refusals/events.js'
import { timeoutOption } from './host-call.js'

/** The options that the router and the guard have in common. */
export interface HostOptions {
  /**
   * Time limit for each dependency: account store, password check, revocation check, key set. Default 5 s. 1 ms to 1 min. After the
   * limit the response is `503`.
   */
  timeout?: Duration | undefined
  /**
   * Called with every refusal and every failure, and by the token router with every issued token. Default: each router and
   * guard emits a process warning for the first failure of each dependency.
   */
  onEvent?: AuthObserver | undefined
  /**
   * Passes refusals to the host's error handler instead of sending a response. With `true`, failures of dependencies (`503`). With
   * `'all'`, every refusal: an `AuthError` with all headers of the response. Default false.
   */
  forwardErrors?: boolean | 'all' | undefined
}

function forwarding(value: unknown): boolean | 'all' {
  if (typeof value === 'boolean' || value === 'all') return value
  throw new InvalidOption("true, false or 'all'")
}

export const hostSchema = {
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  forwardErrors: optional(forwarding, false),
}
