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
   * The text is truncated, quoted, encrypted or a different kind of token, or its header exceeds 2,048 characters. To accept API keys, pass
   * `apiKeys: true` to the guard.
   */
  | 'malformed'
  /** The header contains `crit`, so a different package issued the token. */
  | 'critical_header'
  /**
   * `typ` is not `at+jwt`, as in an ID token. To accept tokens from an identity provider, set [`accept:
   * 'jwt'`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#accept-tokens-of-an-identity-provider).
   */
  | 'type'
  /**
   * No key has the token's `kid`. The token comes from a different environment, its key was removed or is not deployed yet, or its API key
   * no longer exists. Pass the same `keys` to every process, and [rotate
   * keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/keys.md#how-do-i-rotate-keys) step by
   * step. If a provider lists several algorithms for a key, set
   * [`algorithms`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'unknown_key'
  /** `alg` does not match the key. Either two of your keys share a `kid`, or the token is forged. */
  | 'algorithm'
  /** The token was modified, or two keys share a `kid`. Give every key its own `kid`. */
  | 'signature'
  /**
   * A [claim](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#10-tokens) is missing or
   * has the wrong type, although the signature is valid. Find out who else signs with your key.
   */
  | 'claims'
  /**
   * `iss` does not match the verifier's `issuer`. Set the same text in both, even [inside your
   * network](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#the-issuer-is-an-http-url-inside-your-network).
   * With `accept: 'jwt'`, a trailing slash must match too.
   */
  | 'issuer'
  /**
   * `aud` is a different audience. Set the same `audience` in the issuer and the verifier, or in neither. With `authorizedParties`, check
   * that the list includes the client.
   */
  | 'audience'
  /**
   * The token is [not an access
   * token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#why-are-id-tokens-refused).
   * Send the access token instead.
   */
  | 'id_token'
  /** The `nonce` in the ID token differs from the one passed to `verify`, or none was passed. */
  | 'nonce'
  /** `iat` or `nbf` is in the future. Synchronize your clocks, and set `clockTolerance`. */
  | 'not_yet_valid'
  /** `exp`, or the `expiresAt` from a custom verifier, has passed. Get a new token, or set a longer `lifetime`. */
  | 'expired'
  /** `isRevoked` returned `true`, or the session is over. Sign in again. */
  | 'revoked'
  /** `findById` found no account. Check that it accepts the `id` returned by `findByEmail`. */
  | 'unknown_account'
  /** The account is disabled. */
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
  /** Your account store found no account, or the address exceeds 320 characters or contains a NUL. Compare addresses in lower case. */
  | 'unknown_account'
  /**
   * The password does not match the hash. Check whether your client trims the password. bcrypt never matches a password longer than 72
   * bytes.
   */
  | 'wrong_password'
  /** The password was correct, but the account is disabled. */
  | 'account_disabled'
  /** `passwordHash` is `null`. Let the owner set a password. */
  | 'no_password'
  /**
   * Guesses with other spellings of the address used up the account's
   * [limits](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions).
   * Wait until the window ends, or call `limits.reset`.
   */
  | 'limited'
  /**
   * The password or `tokensValidAfter` changed before the session started. This is normal, unless your store returns a different
   * `passwordHash` on every call.
   */
  | 'superseded'

/** The reason for refusing a new password. The client receives it. */
export type PasswordRefusal =
  /** The password is shorter than `minLength` of `createPasswords`. The `detail` includes this number. */
  | 'too_short'
  /** The password exceeds 256 characters, or 72 bytes if `bcrypt()` is the first hasher. */
  | 'too_long'
  /** The password is a common word, a keyboard pattern or a repetition. */
  | 'common'
  /** `isForbidden` of `createPasswords` returned `true`. */
  | 'forbidden'

/**
 * The reason for refusing a refresh token, for the host's logs. The client cannot tell the reasons apart. `ended`: the session is over, or
 * has expired. `reused`: the token was used before, and the session has ended because of it.
 */
export type RefreshRefusal =
  /** Your `refresh` function returned `undefined`, so the client does not receive refresh tokens. */
  | 'missing'
  /**
   * The text is not a refresh token for this issuer and secret, and `oldRefreshTokens` does not find it. Pass the same `secret` to every
   * process, and [replace
   * it](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#replace-the-secret) step
   * by step.
   */
  | 'malformed'
  /**
   * The request contains refresh cookies for several live sessions. Either two APIs share a path and domain, or [a different
   * host](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/explanation/security.md#known-limits-of-refresh-tokens)
   * set a cookie.
   */
  | 'several_cookies'
  /**
   * The user signed out, the session expired, or your code revoked it. If this happens on every refresh, your store does not save
   * `refresh`.
   */
  | 'ended'
  /**
   * The refresh token was [already
   * replaced](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves),
   * so two clients have copies. Compare the `address` in `session.refreshed` events. Check that your client saves every new refresh token,
   * and that your clocks agree.
   */
  | 'reused'
  /** `findById` found no account. Check that it accepts the `id` returned by `findByEmail`. */
  | 'unknown_account'
  /** The account is disabled. */
  | 'account_disabled'
  /** `tokensValidAfter` is later than the sign-in, or the password hash changed, for example in a password reset. */
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
   * Your account store threw, exceeded `timeout`, or returned an invalid account. Test it with
   * [`accountStoreContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#accountstorecontractoptions).
   */
  | 'accounts'
  /**
   * A hasher threw or exceeded `timeout`, or no hasher accepts the stored hash. Pass a suitable hasher to
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions),
   * raise its `costLimit`, or install the module mentioned in the `error`.
   */
  | 'passwords'
  /** `isRevoked` threw, exceeded `timeout`, or did not return a boolean. Check for a missing `return` or `await`. */
  | 'revocation'
  /**
   * Your session store failed. If `refused` is `false`, only `lastUsedAt` was not saved. Test the store with
   * [`storeContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#storecontractstore-options).
   */
  | 'sessions'
  /**
   * `remoteKeys` could not fetch its URL, or `sign` or your custom verifier failed. To receive every failed fetch, pass `onError` to
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'keys'
  /**
   * The [code store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#codes) failed or
   * exceeded `timeout`.
   */
  | 'codes'
  /** The factor store failed or exceeded `timeout`, or none of your secrets can decrypt a stored factor. */
  | 'factors'
  /** The shared limit store failed or was too slow. Until it recovers, each process counts on its own. */
  | 'limits'
  /**
   * One of your functions, such as `beforeSignIn` or `mail`, threw, exceeded `timeout`, or returned an invalid value. The event's `option`
   * identifies it.
   */
  | 'hook'
  /**
   * An unexpected error occurred, or JSON cannot represent a claim, such as a `BigInt`. Correct your `claims`, or report the `error` with
   * its stack.
   */
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
   * The `Allow` header lists the supported methods. For a CORS preflight, mount [`cors()`
   * first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  method_not_allowed: {
    status: 405,
    message: 'The Allow header names the methods that can be used here.',
  },
  /** The body is compressed, not UTF-8, or neither JSON nor a form. Send a single `Content-Type: application/json` header. */
  unsupported_media_type: {
    status: 415,
    accept: 'application/json, application/x-www-form-urlencoded',
    message:
      'Send the credentials as application/json or application/x-www-form-urlencoded, in UTF-8, with no content coding.',
  },
  /**
   * A page on a different origin sent a sign-in, refresh or sign-out request in cookie mode (`refresh: 'cookie'`). Add the origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_request: {
    status: 403,
    message: 'A page of another origin must be among the allowed origins of this endpoint.',
  },
  /**
   * A page on a different site sent credentials as a form. Send JSON with
   * [CORS](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors),
   * or add the origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_form: {
    status: 415,
    accept: 'application/json',
    message: 'A page of another site must send the credentials as application/json, so that the browser asks first.',
  },
  /**
   * The body exceeds
   * [`bodyLimit`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions)
   * (10 kB).
   */
  body_too_large: { status: 413, message: 'The request body is too large.' },
  /**
   * The body is malformed, is [too
   * complex](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#3-refusals-of-the-token-call),
   * repeats a member, or lacks a required string, such as `email`, `password` or `refreshToken`. In curl, use `--data-urlencode`.
   */
  invalid_body: {
    status: 400,
    message: 'The request body must hold "email" and "password", each once and each a string.',
  },
  /**
   * The email address or password is wrong, or the account is disabled. The body is empty, except below the account path. See the [login
   * reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons).
   */
  invalid_credentials: {
    status: 403,
    empty: true,
    message: 'The e-mail address or the password is wrong.',
  },
  /**
   * The session is over, or the text is not a refresh token from this environment. The body is empty. Sign in again. See the [refresh
   * reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons).
   */
  invalid_refresh_token: {
    status: 403,
    empty: true,
    message: 'The refresh token is not valid. Sign in again.',
  },
  /** The client disconnected. Only `onEvent` receives this code. If it occurs often, raise the timeouts in clients and proxies. */
  client_closed_request: {
    status: 499,
    unseen: true,
    message: 'The client closed the connection before the response.',
  },
  /**
   * A [failed-login
   * limit](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions) is
   * used up, or the account has too many
   * [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#authcodes). Wait
   * `Retry-After` seconds. If everyone receives this code, set [`trust
   * proxy`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md).
   */
  too_many_attempts: { status: 429, message: 'Too many failed logins. Try again later.' },
  /**
   * A [queue is
   * full](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#9-limits-and-connections), or
   * clients on one network disconnected during 200 logins within a second. Wait `Retry-After` seconds. For logins, raise `concurrency` and
   * `queue` of
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions).
   */
  overloaded: {
    status: 503,
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  /**
   * The `Authorization: Bearer …` header is missing. A proxy may have removed it. For a CORS preflight, mount [`cors()`
   * first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  missing_token: {
    status: 401,
    challenge: null,
    message: missingToken('Bearer'),
  },
  /**
   * The `Authorization` header is malformed or repeated, the query also contains an `access_token`, or the request reaches the server's
   * `maxHeadersCount` (1,000 header lines).
   */
  invalid_request: {
    status: 400,
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  /**
   * The token, its session or its account is not valid. Retry once with a new token. See the [token
   * reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons).
   */
  invalid_token: {
    status: 401,
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  /**
   * The sign-in is older than `signedInWithin` (`max_age` in the challenge). [Send the password to
   * `/confirm`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#confirm-the-user),
   * or sign in again. Without `max_age` in the challenge, the route requires a [second
   * factor](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md) or a passkey.
   */
  insufficient_user_authentication: {
    status: 401,
    challenge: 'insufficient_user_authentication',
    message: 'This resource needs a more recent sign-in.',
  },
  /** The token lacks a scope in the challenge, or the account lost that scope. Add it to the account's `scopes`, and get a new token. */
  insufficient_scope: {
    status: 403,
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  /**
   * `allow` returned `false`, or an administrator [acting as the
   * account](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#authsigninaccount-req-res-details)
   * called a route with `acting: false`.
   */
  forbidden: {
    status: 403,
    message: 'This account may not use this resource.',
  },
  /**
   * The emailed code is unknown, used, expired, or from a different `issuer`, `tenant` or purpose. Request a new email. A passkey cannot be
   * added if it is invalid or its options are older than ten minutes. Check `origins` of `passkeys`.
   */
  invalid_code: { status: 403, message: 'The code is not valid any more. Ask for another one.' },
  /** A different account took the address after the email was sent. Sign in, or choose a different address. */
  address_taken: { status: 409, message: 'Another account has this address.' },
  /** An address must have 3 to 254 characters and exactly one `@`, without spaces or any of `,;:<>"()[]\`. */
  invalid_email: { status: 422, message: 'This is not an e-mail address.' },
  /**
   * The new password was rejected. The body includes the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#password-reasons). The
   * emailed code stays valid.
   */
  weak_password: { status: 422, showsReason: true, message: 'This password cannot be used. Choose another one.' },
  /** The account does not have an authenticator app, so it cannot have recovery codes. */
  no_second_factor: { status: 409, message: 'This account has no authenticator app.' },
  /** The account has no API key with this id. */
  unknown_api_key: { status: 404, message: 'This account has no such API key.' },
  /** The account already has 20 API keys. Remove one first. */
  too_many_api_keys: { status: 409, message: 'This account has as many API keys as it may have. Remove one first.' },
  /** The account has no password, and the app does not email codes, so the passkey is the last way to sign in. */
  last_sign_in_method: {
    status: 409,
    message: 'This is the last way to sign in to the account. Add another one first.',
  },
  /** The account already has 20 passkeys. Remove one first. */
  too_many_passkeys: { status: 409, message: 'This account has as many passkeys as it may have. Remove one first.' },
  /** The account has no passkey with this id. */
  unknown_passkey: { status: 404, message: 'This account has no such passkey.' },
  /** The account has no session with this id. */
  unknown_session: { status: 404, message: 'This account has no such session.' },
  /**
   * A dependency failed or exceeded `timeout`. See the
   * [dependencies](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies).
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
