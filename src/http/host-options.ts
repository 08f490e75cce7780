import { timeoutOption } from '../concurrency/host-call.js'
import type { AuthObserver } from '../events/events.js'
import { type Duration, func } from '../options/checks.js'
import { optional } from '../options/read-options.js'
import type { Refuse } from './refuse.js'

/** The options that the router and the guard have in common. */
export interface HostOptions {
  /**
   * Maximum time for each dependency, such as the account store or the password check, from 1 ms to 1 min. A timeout causes `503`. Default:
   * `'5s'`.
   */
  timeout?: Duration | undefined
  /**
   * Function that receives every
   * [event](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#events). Default: a process
   * warning for each dependency's first failure.
   */
  onEvent?: AuthObserver | undefined
  /**
   * Function `(error, req, next)` that sends errors in [your own
   * JSON](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/mount-and-guard.md#errors-in-your-own-json),
   * or passes them to your error handler. Default: problem details.
   *
   * It returns `{ status, body }`, of which an object is sent as JSON, or calls `next` once and returns nothing. When it does neither,
   * both, throws or returns a promise, the response stays as it is: problem details (RFC 9457), and an empty `403` for invalid credentials.
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
