import type { AuthObserver } from '../../shared/events.js'
import { timeoutOption } from '../../shared/host-call.js'
import { bool, type Duration, func, optional } from '../../shared/options.js'

/** What every part of this package that stands in the host's app takes. */
export interface HostOptions {
  /**
   * How long each of the host's parts (account store, password check, revocation check, key set) may take before the answer is `503`.
   * Default five seconds; a millisecond to a minute.
   */
  timeout?: Duration | undefined
  /**
   * Is told of every refusal and every failure, and by the token router of every token issued. Default: the first failure of each
   * part is a warning of the process.
   */
  onEvent?: AuthObserver | undefined
  /** Hands failures of the host's own parts (`503`) to the host's error handler instead of answering. Default false. */
  forwardErrors?: boolean | undefined
}

export const hostSchema = {
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  forwardErrors: optional(bool, false),
}
