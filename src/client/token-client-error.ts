import type { RefusedSignIn } from './client-options.js'

/** The reasons why a caller gets no token. */
export type TokenClientErrorCode =
  | 'refused'
  | 'try_later'
  | 'unreachable'
  | 'unexpected'
  | 'interrupted'
  | 'signed_out'
  | 'closed'

/**
 * The error of the client. It holds no token, no password and no other error, because other errors can hold a request.
 *
 * - `refused`: the server refused the sign-in, and `refused` has its code. Call `signOut()` before you use new credentials.
 * - `try_later`: the server asked with 429 or 503 to wait longer than `maxWait`. After a 429, another e-mail address need not wait.
 * - `unreachable`: there was no complete response within `timeout`.
 * - `unexpected`: the response has another status, or no valid token.
 * - `interrupted`: the connection broke while a body was sent, perhaps because the API refused the token. The next call has another token.
 * - `signed_out`: the user signed out after the call began, or somebody signed in in another tab. The call is not repeated for the next
 *   user. In the second case, call `restore()`.
 * - `closed`: `close()` has ended the client.
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
