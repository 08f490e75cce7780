import { timeoutOption } from '../concurrency/host-call.js'
import type { AuthObserver } from '../events/events.js'
import { type Duration, func } from '../options/checks.js'
import { InvalidOption, optional } from '../options/read-options.js'
import type { Refuse } from './custom-response.js'

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
  /**
   * Returns the status and the body of a refusal, for clients that expect another form: `(error, req) => ({ status, body })`. An object is
   * sent as JSON. The headers stay, such as `Retry-After` and the challenge. When the function throws, or returns no status from
   * 400 to 599, the response stays as it is. Default: problem details (RFC 9457), and an empty `403` for invalid credentials.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  refuse?: Refuse<any> | undefined
}

function forwarding(value: unknown): boolean | 'all' {
  if (typeof value === 'boolean' || value === 'all') return value
  throw new InvalidOption("true, false or 'all'")
}

export const hostSchema = {
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  forwardErrors: optional(forwarding, false),
  refuse: optional(func<Refuse>('a function (error, req) => ({ status, body })')),
}
