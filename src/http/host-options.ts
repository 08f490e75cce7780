import { timeoutOption } from '../concurrency/host-call.js'
import type { AuthObserver } from '../events/events.js'
import { type Duration, func } from '../options/checks.js'
import { optional } from '../options/read-options.js'
import type { Refuse } from './refuse.js'

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
   * Shapes every refusal, for clients that expect another form: `(error, req, next) => ({ status, body })`. An object is sent as JSON. Or it
   * calls `next` once, with an error for the host's own error handler, and returns nothing. The headers stay in both cases, such as
   * `Retry-After` and the challenge. When the function does neither, the response stays as it is, and also when it does both, throws or
   * returns a promise. Default:
   * problem details (RFC 9457), and an empty `403` for invalid credentials.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  refuse?: Refuse<any> | undefined
}

export const hostSchema = {
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  refuse: optional(func<Refuse>('a function (error, req, next) => ({ status, body })')),
}

/** The names of options of before. */
export const hostAliases = {
  'Pass refuse(error, req, next), which returns { status, body } or calls next() with an error': 'forwardErrors',
}
