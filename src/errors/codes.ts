import { bare } from '../options/values.js'

/**
 * The codes of all refusals of a request or a token, a closed set. The page docs/reference/errors.md has the cause and the fix of
 * each code.
 * @useDeclaredType
 */
export type AuthErrorCode = keyof typeof ROWS

/**
 * A code of the host. The type keeps the codes of this package in an editor's list.
 * @inline
 */
export type HostCode = string & Record<never, never>

/**
 * The reason for refusing a bearer token, for the host's logs. The client learns only whether the token had expired. The page
 * docs/reference/errors.md has the cause and the fix of each reason.
 */
export type TokenRefusal =
  /**
   * The text is cut off, quoted or encrypted, has a header of more than 2,048 characters, or is a different kind of token. API keys need a
   * guard with `apiKeys: true`.
   */
  | 'malformed'
  /** `crit` is in the header, so a different package issued the token. */
  | 'critical_header'
  /**
   * `typ` is not `at+jwt`, as in an ID token. For tokens of an identity provider, set [`accept:
   * 'jwt'`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#accept-tokens-of-an-identity-provider).
   */
  | 'type'
  /**
   * No key has the `kid` of the token, because it comes from a different environment, or the key was removed or is not deployed yet. Or it
   * has no `kid` and there are several keys, or the API key is gone. Pass the same `keys` to every process, and [rotate
   * keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/keys.md#how-do-i-rotate-keys) step by step.
   * If a provider lists several algorithms for a key, set
   * [`algorithms`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'unknown_key'
  /** `alg` does not match the key. Two of your keys share a `kid`, or the token is forged. */
  | 'algorithm'
  /** The token was changed, or two keys share a `kid`. Give each key its own. */
  | 'signature'
  /**
   * A [claim](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#10-tokens) is missing or has
   * the wrong type, although your key signed the token. Find out who else uses your key.
   */
  | 'claims'
  /**
   * `iss` does not match your verifier's `issuer`. Set the same text in both, even [inside your
   * network](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#the-issuer-is-an-http-url-inside-your-network).
   * With `accept: 'jwt'`, copy a trailing slash too.
   */
  | 'issuer'
  /**
   * `aud` is a different audience. Set the same `audience` in issuer and verifier, or in neither. With `authorizedParties`, the client may
   * not be in the list.
   */
  | 'audience'
  /**
   * The token is [not an access
   * token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#why-are-id-tokens-refused).
   * Send that instead.
   */
  | 'id_token'
  /** The `nonce` of an ID token is not the one you pass to `verify`, or you pass none. */
  | 'nonce'
  /** `iat` or `nbf` is in the future. Synchronise your clocks, and set `clockTolerance`. */
  | 'not_yet_valid'
  /** `exp`, or `expiresAt` of a custom verifier, has passed. Get a new token, or set a longer `lifetime`. */
  | 'expired'
  /** `isRevoked` returned `true`, or the session is over. Sign in again. */
  | 'revoked'
  /** `findById` found nothing. Check that it finds the `id` from `findByEmail`. */
  | 'unknown_account'
  /** `disabled` of the account is `true`. */
  | 'account_disabled'
  /**
   * The token was issued before
   * [`tokensValidAfter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-out.md#sign-a-user-out-everywhere).
   * Sign in again.
   */
  | 'superseded'

/**
 * The reason for refusing a login, for the host's logs. The client cannot tell the reasons apart. `limited`: guesses with other spellings of
 * the account's address have used up its limits, so the password was not checked.
 */
export type LoginRefusal =
  /**
   * Your account store found nothing, or the address has more than 320 characters or a NUL. Return the account, and compare addresses in
   * lower case.
   */
  | 'unknown_account'
  /** The password does not match the hash. Check whether your client trims it. bcrypt never matches more than 72 bytes. */
  | 'wrong_password'
  /** The password was correct, but `disabled` is `true`. */
  | 'account_disabled'
  /** `passwordHash` is `null`. Let the owner set a password. */
  | 'no_password'
  /**
   * Guesses with other spellings used up the
   * [limits](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions) of
   * the account. Wait until the window ends, or call `limits.reset`.
   */
  | 'limited'
  /**
   * The password or `tokensValidAfter` changed before the session started. Normal, unless your store returns a different `passwordHash` on
   * each call.
   */
  | 'superseded'

/** The reason for refusing a new password. The client receives it. */
export type PasswordRefusal =
  /** The password is shorter than `minLength` of `createPasswords`. The `detail` states the number. */
  | 'too_short'
  /** The password has more than 256 characters, or more than 72 bytes with `bcrypt()` as the first hasher. */
  | 'too_long'
  /** The password is very common: a known word, a row of keys or a repetition. */
  | 'common'
  /** `isForbidden` of `createPasswords` returned `true`. */
  | 'forbidden'

/**
 * The reason for refusing a refresh token, for the host's logs. The client cannot tell the reasons apart. `ended`: the session is over, or
 * has expired. `reused`: the token was used before, and the session has ended because of it.
 */
export type RefreshRefusal =
  /** Your function `refresh` returned `undefined`, so the client has no refresh token. */
  | 'missing'
  /**
   * The text is not a refresh token of this issuer and secret, and `find` of `oldRefreshTokens` does not know it. Pass the same `secret` to
   * every process, and [replace
   * it](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#replace-the-secret) step by
   * step.
   */
  | 'malformed'
  /**
   * The request has refresh cookies of several live sessions, set by two APIs with the same path and domain, or by [a different
   * host](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/explanation/security.md#known-limits-of-refresh-tokens).
   */
  | 'several_cookies'
  /** The user signed out, the session expired, or your code ended it. If each refresh gets it, your store loses `refresh`. */
  | 'ended'
  /**
   * The refresh token was [replaced
   * earlier](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves),
   * so two clients have copies. Compare the `address` of `session.refreshed` events. Check that your client saves each refresh token, and
   * that your clocks agree.
   */
  | 'reused'
  /** `findById` found nothing. Check that it finds the `id` from `findByEmail`. */
  | 'unknown_account'
  /** `disabled` of the account is `true`. */
  | 'account_disabled'
  /** `tokensValidAfter` is later than the sign-in, or the password hash has changed, as after a reset. */
  | 'superseded'

/** The failed-login limit that refused a login. The page docs/reference/options.md describes the limits. */
export type LimitName = 'address' | 'pair' | 'account'

/** The options whose function is called for a request. When it fails, the event names the option. */
export type HookOption =
  | 'allow'
  | 'beforeSignIn'
  | 'defer'
  | 'mail'
  | 'oldRefreshTokens'
  | 'refresh'
  | 'respond'
  | 'sessionLabel'
  | 'tenant'
  | 'tokenFrom'

/**
 * The host's dependencies that can fail. `hook` is a function of the host, which `option` names. `internal` is an unforeseen error of this
 * package.
 */
export type Dependency =
  /**
   * Your account store threw, exceeded `timeout`, or returned an invalid account. Run
   * [`accountStoreContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#accountstorecontractoptions).
   */
  | 'accounts'
  /**
   * A hasher threw or exceeded `timeout`, or none accepts the stored hash. Pass
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions)
   * a hasher for it, raise the `costLimit`, or install the module in the `error`.
   */
  | 'passwords'
  /** `isRevoked` threw, exceeded `timeout`, or did not return `true` or `false`. Check for a missing `return` or `await`. */
  | 'revocation'
  /**
   * Your session store failed. If `refused` is `false`, only `lastUsedAt` is not stored. Run
   * [`storeContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#storecontractstore-options).
   */
  | 'sessions'
  /**
   * `remoteKeys` cannot fetch its URL, or `sign` or your custom verifier failed. `onError` of
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options)
   * receives every failed fetch.
   */
  | 'keys'
  /**
   * The store of [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#codes) failed
   * or exceeded `timeout`.
   */
  | 'codes'
  /** The store of factors failed or exceeded `timeout`, or no `secret` decrypts a factor. */
  | 'factors'
  /** The shared store of the limits failed or is too slow. Meanwhile, each process counts on its own. */
  | 'limits'
  /** The function in `option` threw, exceeded `timeout`, or returned an invalid value, such as `beforeSignIn`, `tenant` or `mail`. */
  | 'hook'
  /** An unforeseen error, or `claims` that JSON cannot hold, such as a `BigInt`. Correct the `claims`, or report the stack of the `error`. */
  | 'internal'

/** Describes a refusal. The error, the response and the OpenAPI document are made from this description. */
export interface Refusal {
  status: number
  /** The problem's `detail`, which the client receives. */
  message: string
  /** Seconds after which a client may try again, sent as `Retry-After`. The `retryAfter` of an error takes precedence. */
  retryAfter?: number
  /** The error code in `WWW-Authenticate` (RFC 6750 section 3.1, RFC 9470 section 3). Null: a challenge without an error code. */
  challenge?: string | null
  /** The media types that the endpoint reads, sent as `Accept` (RFC 9110 section 15.5.16). */
  accept?: string
  /** The response has no body, unless the endpoint sends problems. */
  empty?: true
  /** The problem has the member `reason`. */
  showsReason?: true
  /** The client has disconnected, so it receives no response. */
  unseen?: true
}

/**
 * Returns the message of `missing_token`.
 * @param scheme the scheme of the header. Undefined where the header does not hold the token
 */
export function missingToken(scheme: string | undefined): string {
  return `This resource needs a token.${scheme ? ` Send it as Authorization: ${scheme} <token>.` : ''}`
}

const ROWS = {
  /**
   * `Allow` lists the methods. For a CORS preflight, mount [`cors()`
   * first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  method_not_allowed: {
    status: 405,
    message: 'The Allow header names the methods that can be used here.',
  },
  /** The body is compressed, not UTF-8, or neither JSON nor a form. Send one `Content-Type: application/json`. */
  unsupported_media_type: {
    status: 415,
    accept: 'application/json, application/x-www-form-urlencoded',
    message:
      'Send the credentials as application/json or application/x-www-form-urlencoded, in UTF-8, with no content coding.',
  },
  /**
   * A page of a different origin sent a sign-in, refresh or sign-out, with `refresh: 'cookie'`. Add its origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_request: {
    status: 403,
    message: 'A page of another origin must be among the allowed origins of this endpoint.',
  },
  /**
   * A page of a different site sent credentials as a form. Send JSON with
   * [CORS](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors),
   * or add its origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_form: {
    status: 415,
    accept: 'application/json',
    message: 'A page of another site must send the credentials as application/json, so that the browser asks first.',
  },
  /**
   * The body is longer than
   * [`bodyLimit`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions) (10
   * kB).
   */
  body_too_large: { status: 413, message: 'The request body is too large.' },
  /**
   * The body is malformed or [too
   * complex](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#3-refusals-of-the-token-call),
   * repeats a member, or lacks a string such as `email`, `password` or `refreshToken`. In curl, use `--data-urlencode`.
   */
  invalid_body: {
    status: 400,
    message: 'The request body must hold "email" and "password", each once and each a string.',
  },
  /**
   * Wrong e-mail address or password, or a disabled account. No body, except below the account path. See the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons) in
   * `onEvent`.
   */
  invalid_credentials: {
    status: 403,
    empty: true,
    message: 'The e-mail address or the password is wrong.',
  },
  /**
   * The session is over, or the text is not a refresh token of this environment. No body. Sign in again. See the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) in
   * `onEvent`.
   */
  invalid_refresh_token: {
    status: 403,
    empty: true,
    message: 'The refresh token is not valid. Sign in again.',
  },
  /** Only in `onEvent`: the client disconnected. If frequent, raise the timeouts of clients and proxies. */
  client_closed_request: {
    status: 499,
    unseen: true,
    message: 'The client closed the connection before the response.',
  },
  /**
   * A [failed-login
   * limit](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions) is used
   * up, or an account has too many
   * [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#authcodes). Wait for
   * `Retry-After` seconds. If everyone gets it, set [`trust
   * proxy`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md).
   */
  too_many_attempts: { status: 429, message: 'Too many failed logins. Try again later.' },
  /**
   * A [queue is
   * full](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#9-limits-and-connections), or
   * clients of one network disconnected during 200 logins in a second. Wait for `Retry-After` seconds. For logins, raise `concurrency` and
   * `queue` of
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions).
   */
  overloaded: {
    status: 503,
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  /**
   * The header `Authorization: Bearer …` is missing. A proxy may remove it, or a CORS preflight needs [`cors()`
   * first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  missing_token: {
    status: 401,
    challenge: null,
    message: missingToken('Bearer'),
  },
  /**
   * The header is malformed or repeated, the query has an `access_token` too, or the request has 1,000 header lines, the server's
   * `maxHeadersCount`.
   */
  invalid_request: {
    status: 400,
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  /**
   * The token, its session or its account is not valid. Get a new token once. See the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) in
   * `onEvent`.
   */
  invalid_token: {
    status: 401,
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  /**
   * The sign-in is older than `signedInWithin` (`max_age` in the challenge). Send the password to `POST {token}/confirm`, or sign in again.
   * Without `max_age`, the route needs a [second
   * factor](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md) or a passkey.
   */
  insufficient_user_authentication: {
    status: 401,
    challenge: 'insufficient_user_authentication',
    message: 'This resource needs a more recent sign-in.',
  },
  /** The token lacks a scope in the challenge, or its account has lost it. Add it to the account's `scopes`, and get a new token. */
  insufficient_scope: {
    status: 403,
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  /**
   * `allow` returned `false`, or an administrator who [acts as the
   * account](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#authsigninaccount-req-res-details)
   * called a route with `acting: false`.
   */
  forbidden: {
    status: 403,
    message: 'This account may not use this resource.',
  },
  /**
   * The mailed code is unknown, used, expired or for something else, such as a different `issuer` or `tenant`. Ask for a new email. Or a new
   * passkey is not valid, or its options are older than ten minutes. Compare `origins` of `passkeys`.
   */
  invalid_code: { status: 403, message: 'The code is not valid any more. Ask for another one.' },
  /** A different account took the address after the email was sent. Sign in, or choose a different address. */
  address_taken: { status: 409, message: 'Another account has this address.' },
  /** An address must have exactly one `@` and 3 to 254 characters, without blanks and `,;<>"():`. */
  invalid_email: { status: 422, message: 'This is not an e-mail address.' },
  /**
   * The new password is refused. The body has the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#password-reasons).
   * The code of the mail stays valid.
   */
  weak_password: { status: 422, showsReason: true, message: 'This password cannot be used. Choose another one.' },
  /** The account has no authenticator app, so it has no recovery codes. */
  no_second_factor: { status: 409, message: 'This account has no authenticator app.' },
  /** The account has no API key with this id. */
  unknown_api_key: { status: 404, message: 'This account has no such API key.' },
  /** The account has 20 API keys. Remove one first. */
  too_many_api_keys: { status: 409, message: 'This account has as many API keys as it may have. Remove one first.' },
  /** The passkey is the last way to sign in, because the account has no password and the app mails no codes. */
  last_sign_in_method: {
    status: 409,
    message: 'This is the last way to sign in to the account. Add another one first.',
  },
  /** The account has 20 passkeys. Remove one first. */
  too_many_passkeys: { status: 409, message: 'This account has as many passkeys as it may have. Remove one first.' },
  /** The account has no passkey with this id. */
  unknown_passkey: { status: 404, message: 'This account has no such passkey.' },
  /** The account has no session with this id. */
  unknown_session: { status: 404, message: 'This account has no such session.' },
  /**
   * A dependency failed or exceeded `timeout`. Your `onEvent` gets the
   * [`dependency`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies).
   */
  unavailable: {
    status: 503,
    retryAfter: 5,
    message: 'The service cannot check this right now. Try again later.',
  },
} as const satisfies Record<string, Refusal>

/** The statuses of all refusals. */
export type RefusalStatus = (typeof ROWS)[AuthErrorCode]['status']

/** The codes of a status. */
export type CodeAt<S extends RefusalStatus> = {
  [C in AuthErrorCode]: (typeof ROWS)[C]['status'] extends S ? C : never
}[AuthErrorCode]

export const REFUSALS: Readonly<Record<AuthErrorCode, Refusal>> = bare(ROWS)

// An absent member must not be read from a polluted Object.prototype.
for (const row of Object.values(REFUSALS)) Object.setPrototypeOf(row, null)
