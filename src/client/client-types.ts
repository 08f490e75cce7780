import type { StepUpFields } from './client-options.js'

/** The options of `token()`. */
export interface TokenRequest {
  /** Ends this call's wait. The sign-in continues for the other calls. */
  signal?: AbortSignal | null | undefined
  /**
   * A token that an API has refused. The call gets another token, after a sign-in if necessary. After a new token that was refused
   * too, the call gets the same token for up to 20 s. The call rejects with `signed_out` unless it
   * is one of the last 16 tokens since the sign-out.
   */
  rejected?: string | undefined
}

/**
 * Calls a sign-in route of the app, and returns its response, as the global `fetch` does. The signal aborts after `timeout`, and when the
 * user signs out.
 */
export type OwnSignIn = (signal: AbortSignal) => Response | PromiseLike<Response>

/** The options of `headers()`. */
export interface HeadersRequest extends TokenRequest {
  /** The absolute URL of the request. The call rejects with a `TypeError` when the token must not go there. Default: not checked. */
  url?: string | URL | undefined
}

/** A `TokenClientError`, or the error of `credentials` or `onStepUp`. */
export interface SignInError extends Error {
  /** The code of a `TokenClientError`. Otherwise of any type. */
  readonly code?: unknown
}

/** The state of a client, without the token. The object is frozen. */
export interface TokenClientState {
  /** The expiration of the held token by this machine's clock, in milliseconds since 1970. Undefined without a token. */
  readonly expiresAt: number | undefined
  /** The failure of the last sign-in, or of saving its refresh token. Undefined after a successful sign-in, and after `signOut()`. */
  readonly error: SignInError | undefined
}

/** The header of a request to an API. */
export type AuthorizationHeader = {
  /** `Bearer` and the token. */
  Authorization: string
}

/** The code of a mail, and the password that its reader chooses. */
export interface CodeAndPassword {
  /** The code of the mail. */
  readonly code: string
  /** The new password, sent as it is. */
  readonly password: string
}

/** A `CodeAndPassword` with the members that `signUp.fields` of the server names. */
export interface Confirmation extends CodeAndPassword {
  // biome-ignore lint/suspicious/noExplicitAny: with `unknown`, an interface of an app without further members would not fit.
  readonly [member: string]: any
}

/** The change of a password. */
export interface PasswordChange {
  /** The password until now. Omit it for an account without a password. */
  readonly password?: string | undefined
  /** The new password, sent as it is. */
  readonly newPassword: string
}

/** A client that holds its token. */
export interface TokenClient {
  /**
   * Calls an API like the global `fetch`, with the token. A path is appended to the base URL. After a 401 that says `invalid_token`,
   * gets a new token and repeats the request once, unless `init.body` is a stream. The body of a `Request` is kept in memory until
   * then.
   *
   * After a sign-out, earlier calls are not repeated. In a browser, `cache` is `'no-store'` unless `init` has another value.
   * @throws TypeError for a URL of an origin that must not get the token
   * @throws TokenClientError when there is no token
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /**
   * Returns a valid token, for clients other than `fetch`.
   * @throws TokenClientError when there is no token
   */
  readonly token: (request?: TokenRequest) => Promise<string>
  /**
   * Returns the `Authorization` header.
   * @throws TypeError for a URL of an origin that must not get the token
   * @throws TokenClientError when there is no token
   */
  readonly headers: (request?: HeadersRequest) => Promise<AuthorizationHeader>
  /**
   * Signs in with a route of the app, for example after a passkey, a mailed link or a password change. The response of the function has the
   * members of a sign-in: `authenticationToken`, `expiration`, and `refreshToken` with `refresh: { load, save, remove }`.
   *
   * The new token replaces the held one, a running refresh and a form. Calls that wait for them use it. For another person, call `signOut()`
   * first. With `refresh: 'cookie'`, no other tab calls the token endpoint meanwhile, and other tabs are signed out until their
   * `restore()`.
   * @throws TokenClientError as for credentials, or the error of the function. The held token stays
   */
  readonly signIn: (call: OwnSignIn) => Promise<void>
  /**
   * Mails a code for a new account. Resolves also for an address that has an account, whose owner gets another mail.
   * @throws TokenClientError
   */
  readonly signUp: (email: string) => Promise<void>
  /**
   * Creates the account with the code of the mail, and signs in, as `signIn` does.
   * @throws TokenClientError, for example with `refused.code` `invalid_code`, `weak_password` or `address_taken`
   */
  readonly confirm: (given: Confirmation) => Promise<void>
  /**
   * Mails a code for a new password. Resolves also for an address without an account.
   * @throws TokenClientError
   */
  readonly forgotten: (email: string) => Promise<void>
  /**
   * Sets a new password with the code of the mail, which ends all sessions of the account. Does not sign in.
   * @throws TokenClientError, for example with `refused.code` `invalid_code` or `weak_password`
   */
  readonly reset: (given: CodeAndPassword) => Promise<void>
  /**
   * Changes the password, which ends the other sessions of the account.
   * @throws TokenClientError, for example with `refused.code` `invalid_credentials` or `weak_password`
   */
  readonly changePassword: (given: PasswordChange) => Promise<void>
  /**
   * Mails a code to a new address of the account.
   * @throws TokenClientError, for example with `refused.code` `insufficient_user_authentication`
   */
  readonly changeAddress: (email: string) => Promise<void>
  /**
   * Changes the address with the code of the mail, which ends the other sessions of the account.
   * @throws TokenClientError, for example with `refused.code` `invalid_code` or `address_taken`
   */
  readonly confirmAddress: (code: string) => Promise<void>
  /**
   * Deletes the account, and signs out.
   * @throws TokenClientError, for example with `refused.code` `insufficient_user_authentication`
   */
  readonly remove: () => Promise<void>
  /**
   * Confirms the sign-in of the session with the password, so that routes which require a recent sign-in accept the new token.
   * @throws TokenClientError, for example with `refused.code` `invalid_credentials`. The held token stays
   */
  readonly stepUp: (given: StepUpFields) => Promise<void>
  /**
   * Returns whether the user is signed in, for example after a reload. Refreshes the session of an earlier sign-in if necessary, and never
   * asks for credentials. Waits for an overloaded server like other calls.
   * @throws TokenClientError with `try_later`, `unreachable` or `unexpected` when the server did not decide: the user may still be signed in
   */
  readonly restore: () => Promise<boolean>
  /**
   * Deletes the token, and ends a running sign-in. The next call signs in again. With `refresh`, ends the session at the server too.
   * @returns a promise that you need not await. It rejects when the server did not end the session within `maxWait`. The user is signed
   * out here in any case
   */
  readonly signOut: () => Promise<void>
  /** The current state. The same object until the state changes. */
  readonly state: TokenClientState
  /**
   * Calls `listener` with the state: once after the subscription, and after each sign-in, failed sign-in and sign-out. Never with the
   * token.
   * @returns a function that removes the listener
   */
  readonly onChange: (listener: (state: TokenClientState) => void) => () => void
  /** Deletes the token, and ends the client. All waiting and later calls reject with the code `closed`. */
  readonly close: () => void
}
