import type { RefusedSignIn } from './client-options.js'

/** The reasons why a caller gets no token. */
export type TokenClientErrorCode =
  /**
   * The server rejected your credentials or a call to the account routes. `error.refused` contains `{ code, detail, reason }`. To use
   * different credentials, call `signOut()`.
   */
  | 'refused'
  /**
   * The server returned `429` or `503`, and asked the client to wait longer than `maxWait`. After a `429`, you can immediately sign in with
   * a different email address.
   */
  | 'try_later'
  /** The connection failed, the response was not complete within `timeout`, or `credentials` took too long. */
  | 'unreachable'
  /**
   * The token endpoint returned an unexpected status (`error.status`) or did not return a valid token. In browsers, redirects have the
   * status `0`.
   */
  | 'unexpected'
  /** The connection broke while the client was sending your request body. */
  | 'interrupted'
  /**
   * The client signed out during your call, or [someone signed in from another
   * tab](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/pages-and-apps.md#another-tab-signs-in). In
   * that case, call `restore()`.
   */
  | 'signed_out'
  /** You called `close()`. */
  | 'closed'

/**
 * The error of the client. It holds no token, no password and no other error, because other errors can hold a request. Its `code` is a
 * {@link TokenClientErrorCode}.
 */
export class TokenClientError extends Error {
  /** `'AbortError'` for `signed_out` and `closed`, as `fetch` names it. Otherwise `'TokenClientError'`. */
  declare readonly name: string
  /** The reason, one of a closed set. */
  declare readonly code: TokenClientErrorCode
  /** The status of the token endpoint's response. Undefined without a response. */
  declare readonly status: number | undefined
  /** The time before which the client does not call the token endpoint again, after a 429 for this account. Undefined when there is none. */
  declare retryAt: Date | undefined
  /** The server's refusal, with the code `refused`. */
  declare readonly refused: RefusedSignIn | undefined

  /**
   * @param detail the status, or the code of a system error for the message
   * @param hint the end of the message
   * @internal
   */
  constructor(
    code: TokenClientErrorCode,
    detail?: number | string,
    retryAt?: Date,
    hint = '',
    refused?: RefusedSignIn,
  ) {
    super(`No token: ${code.replace('_', ' ')}${detail ? ` (${detail})` : ''}${hint}`)
    const name = /out$|^c/.test(code) ? 'AbortError' : 'TokenClientError'
    const status = typeof detail === 'number' ? detail : undefined
    Object.assign(this, { name, code, status, retryAt, refused })
  }
}
