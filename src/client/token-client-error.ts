import type { RefusedSignIn } from './client-options.js'

/** The reasons why a caller gets no token. */
export type TokenClientErrorCode =
  /**
   * The server refused your credentials, or a call of the account routes. The `status` is `403`, or a different one from `400` to `499`.
   * `error.refused` is `{ code, detail, reason }`. To use new credentials, call `signOut()`.
   */
  | 'refused'
  /**
   * The server sent the `status` `429` or `503` and a wait longer than `maxWait`. `retryAt` is the time of the next sign-in. After a
   * `429`, a different e-mail address need not wait.
   */
  | 'try_later'
  /**
   * No complete response arrived within `timeout`, or `credentials` took longer. `retryAt` is the time of the next sign-in.
   */
  | 'unreachable'
  /**
   * The response had a different `status`, which is `0` for a redirect in a browser, or no valid token. `retryAt` is the time of the next sign-in.
   */
  | 'unexpected'
  /**
   * The connection broke while your request body was being sent. Your API may have refused the token before it read the body. Your next call gets a
   * new token.
   */
  | 'interrupted'
  /**
   * Your call began before a sign-out, or
   * [somebody signed in in another tab](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/pages-and-apps.md#another-tab-signs-in).
   * The call is not repeated for the next user: in the second case, call `restore()`. The error's `name` is `AbortError`.
   */
  | 'signed_out'
  /** You have called `close()`. The error's `name` is `AbortError`. */
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
