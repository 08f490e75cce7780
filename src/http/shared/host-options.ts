import type { AuthObserver } from '../../shared/events.js'
import { timeoutOption } from '../../shared/host-call.js'
import { bool, type Duration, func, optional } from '../../shared/options.js'

/** The options that the router and the guard have in common. */
export interface HostOptions {
  /**
   * Time limit for each dependency: account store, password check, revocation check, key set. Default 5 s. 1 ms to 1 min. After the
   * limit the response is `503`.
   */
  timeout?: Duration | undefined
  /**
   * Called with every refusal and every failure, and by the token router with every issued token. Default: the first failure of each
   * dependency is a warning of the process.
   */
  onEvent?: AuthObserver | undefined
  /** Passes failures of dependencies (`503`) to the host's error handler instead of sending a response. Default false. */
  forwardErrors?: boolean | undefined
}

export const hostSchema = {
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  forwardErrors: optional(bool, false),
}
