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
  /** The token is truncated, enclosed in quotes, encrypted, or not a JWT. To accept API keys, pass `apiKeys: true` to the guard. */
  | 'malformed'
  /** The token's header contains `crit`, so a different package issued the token. */
  | 'critical_header'
  /**
   * The token's `typ` is not `at+jwt`. To accept tokens from an identity provider, set [`accept:
   * 'jwt'`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#accept-tokens-of-an-identity-provider).
   */
  | 'type'
  /**
   * The token is from a different environment, its signing key was removed or is not deployed yet, or the API key no longer exists. Pass
   * the same `keys` to every process, and [rotate
   * keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/keys.md#how-do-i-rotate-keys) step by
   * step. If a provider lists several algorithms for a key, set
   * [`algorithms`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'unknown_key'
  /** The token's `alg` does not match the key. Two of your keys share a `kid`, or the token is forged. */
  | 'algorithm'
  /** The token was modified, or two of your keys share a `kid`. Give every key a unique `kid`. */
  | 'signature'
  /**
   * The signature is valid, but a
   * [claim](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#10-tokens) is missing or has
   * the wrong type. Find out which other program uses your signing key.
   */
  | 'claims'
  /**
   * The token's `iss` does not match the verifier's `issuer`. Use the same `issuer` everywhere, even [inside your
   * network](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#the-issuer-is-an-http-url-inside-your-network).
   * With `accept: 'jwt'`, trailing slashes must also match.
   */
  | 'issuer'
  /**
   * The token is for a different audience. Set the same `audience` in the issuer and the verifier, or omit `audience` in both. If you set
   * `authorizedParties`, check that the list includes the client.
   */
  | 'audience'
  /**
   * The client sent an [ID
   * token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#why-are-id-tokens-refused)
   * instead of an access token.
   */
  | 'id_token'
  /** The ID token's `nonce` differs from the `nonce` passed to `verify`, or one of the two values is missing. */
  | 'nonce'
  /** The token's `iat` or `nbf` is in the future. Synchronize your clocks, and set `clockTolerance`. */
  | 'not_yet_valid'
  /** The token's `exp`, or your custom verifier's `expiresAt`, is in the past. Get a new token, or set a longer `lifetime`. */
  | 'expired'
  /** `isRevoked` returned `true`, or the session has ended. */
  | 'revoked'
  /** The account was deleted, or `findById` does not accept the `id` from `findByEmail`. */
  | 'unknown_account'
  /** The account is disabled. */
  | 'account_disabled'
  /**
   * The token was issued before the account's
   * [`tokensValidAfter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-out.md#sign-a-user-out-everywhere).
   */
  | 'superseded'

/**
 * The reason for refusing a login, for the host's logs. The client cannot tell the reasons apart. `limited`: guesses with other spellings of
 * the account's address have used up its limits, so the password was not checked.
 */
export type LoginRefusal =
  /** Your account store did not find an account with this email address. Compare addresses in lower case. */
  | 'unknown_account'
  /**
   * The password does not match the hash. Check that your client does not trim the password. With bcrypt, passwords longer than 72 bytes
   * never match.
   */
  | 'wrong_password'
  /** The password was correct, but the account is disabled. */
  | 'account_disabled'
  /** The account's `passwordHash` is `null`. Let the user set a password. */
  | 'no_password'
  /**
   * Failed logins with other spellings of the email address reached the account's
   * [limits](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions). To
   * lift the limits, call `limits.reset`.
   */
  | 'limited'
  /** The password or `tokensValidAfter` changed during the login. */
  | 'superseded'

/** The reason for refusing a new password. The client receives it. */
export type PasswordRefusal =
  /** The password is shorter than `minLength`, which the response includes in `detail`. */
  | 'too_short'
  /** The password exceeds 256 characters, or 72 bytes if `bcrypt()` is the first hasher. */
  | 'too_long'
  /** The password is a common word, a keyboard pattern, or a repeated sequence. */
  | 'common'
  /** Your `isForbidden` function returned `true`. */
  | 'forbidden'

/**
 * The reason for refusing a refresh token, for the host's logs. The client cannot tell the reasons apart. `ended`: the session is over, or
 * has expired. `reused`: the token was used before, and the session has ended because of it.
 */
export type RefreshRefusal =
  /** Your `refresh` function returned `undefined`, so this client cannot use refresh tokens. */
  | 'missing'
  /**
   * The client sent an invalid refresh token, or the token was issued with a different `issuer` or `secret`. Pass the same `secret` to
   * every process, and [replace the
   * secret](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#replace-the-secret)
   * step by step.
   */
  | 'malformed'
  /**
   * The request contains refresh cookies for several live sessions. Either two APIs share a path and domain, or [a different
   * host](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/explanation/security.md#known-limits-of-refresh-tokens)
   * set one of the cookies.
   */
  | 'several_cookies'
  /**
   * The user signed out, the session expired, or your code revoked the session. If every refresh fails, check that your store saves the
   * session's `refresh`.
   */
  | 'ended'
  /**
   * The refresh token was [already
   * replaced](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves),
   * so two clients may be using it. Compare the `address` in `session.refreshed` events. Check that your client saves every new refresh
   * token, and that your servers' clocks agree.
   */
  | 'reused'
  /** The account was deleted, or `findById` does not accept the `id` from `findByEmail`. */
  | 'unknown_account'
  /** The account is disabled. */
  | 'account_disabled'
  /** The password hash or `tokensValidAfter` changed after the sign-in. */
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
   * Your account store threw an error, exceeded `timeout`, or returned an invalid account. Test the store with
   * [`accountStoreContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#accountstorecontractoptions).
   */
  | 'accounts'
  /**
   * A hasher threw an error or exceeded `timeout`, or no hasher accepts the stored hash. Add a suitable hasher to
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions),
   * raise the `costLimit`, or install the module that the `error` mentions.
   */
  | 'passwords'
  /** `isRevoked` threw an error, exceeded `timeout`, or did not return a boolean. Check for a missing `return` or `await`. */
  | 'revocation'
  /**
   * Your session store failed. If `refused` is `false`, the store could not save `lastUsedAt`. Test the store with
   * [`storeContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#storecontractstore-options).
   */
  | 'sessions'
  /**
   * `remoteKeys` could not fetch the public keys, or your `sign` function or custom verifier failed. To log failed fetches, pass `onError`
   * to
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'keys'
  /**
   * The [code store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#codes) failed or
   * exceeded `timeout`.
   */
  | 'codes'
  /** The second-factor store failed or exceeded `timeout`, or none of your secrets can decrypt a stored factor. */
  | 'factors'
  /**
   * The shared [limit
   * store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions) failed
   * or was too slow.
   */
  | 'limits'
  /**
   * One of your functions threw an error, exceeded `timeout`, or returned an invalid value. The event's `option` identifies the function.
   */
  | 'hook'
  /**
   * An unexpected error occurred, or one of your `claims` cannot be converted to JSON. Correct the claim, or report the `error` with its
   * stack.
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
    message: 'This endpoint does not support the method. The Allow header lists the supported methods.',
  },
  /**
   * The body is compressed, is not encoded in UTF-8, or contains neither JSON nor form data. Send exactly one `Content-Type:
   * application/json` header.
   */
  unsupported_media_type: {
    status: 415,
    accept: 'application/json, application/x-www-form-urlencoded',
    message:
      'Send the request body as application/json or application/x-www-form-urlencoded, in UTF-8 and without compression.',
  },
  /**
   * A page on a different origin tried to sign in, refresh, or sign out with `refresh: 'cookie'`. Add the page's origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_request: {
    status: 403,
    message:
      'This endpoint does not accept requests from the origin of this page. Add the origin to the allowed origins of the API.',
  },
  /**
   * A page on a different site sent credentials as a form. Enable
   * [CORS](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors)
   * and send JSON, or add the page's origin to
   * [`allowedOrigins`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_form: {
    status: 415,
    accept: 'application/json',
    message:
      'A page on a different site must send the credentials as application/json, so that the browser sends a CORS preflight first.',
  },
  /**
   * The body exceeds
   * [`bodyLimit`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions)
   * (default: 10 kB).
   */
  body_too_large: { status: 413, message: 'The request body is too large.' },
  /**
   * The body is malformed or [too
   * complex](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#3-refusals-of-the-token-call),
   * repeats a member, or omits a required member. With curl, use `--data-urlencode`.
   */
  invalid_body: {
    status: 400,
    message: 'The request body must contain "email" and "password", each exactly once and as a string.',
  },
  /**
   * The email address or password is wrong, or the account is disabled. The response body is empty, except on routes below `/auth/account`.
   * See [Login reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons).
   */
  invalid_credentials: {
    status: 403,
    empty: true,
    message: 'The email address or the password is wrong.',
  },
  /**
   * The session has ended, or the client did not send a refresh token from this environment. The response body is empty. See [Refresh
   * reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons).
   */
  invalid_refresh_token: {
    status: 403,
    empty: true,
    message: 'The refresh token is not valid. Sign in again.',
  },
  /** The client disconnected, so only `onEvent` receives this code. If clients disconnect often, raise your client and proxy timeouts. */
  client_closed_request: {
    status: 499,
    unseen: true,
    message: 'The client closed the connection before the response.',
  },
  /**
   * A client made too many [failed
   * logins](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions), or
   * requested too many
   * [emails](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#limits) or
   * [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#authcodes). Wait
   * `Retry-After` seconds. If all users receive this code, set [`trust
   * proxy`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md).
   */
  too_many_attempts: { status: 429, message: 'Too many failed logins. Try again later.' },
  /**
   * A [queue is
   * full](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#9-limits-and-connections), or
   * clients on one network abandoned 200 logins within a second. If logins receive this code, raise `concurrency` and `queue` in
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions).
   */
  overloaded: {
    status: 503,
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  /**
   * The client did not send an `Authorization: Bearer …` header, or a proxy removed the header. For a CORS preflight, mount [`cors()`
   * first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  missing_token: {
    status: 401,
    challenge: null,
    message: missingToken('Bearer'),
  },
  /**
   * The `Authorization` header is malformed or repeated, the query also contains an `access_token`, or the number of headers reaches Node's
   * `maxHeadersCount`.
   */
  invalid_request: {
    status: 400,
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  /**
   * The token, session, or account is invalid. Get a new token, and retry once. See [Token
   * reasons](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons).
   */
  invalid_token: {
    status: 401,
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  /**
   * The last sign-in is older than `signedInWithin`. [Send the password to
   * `/confirm`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#confirm-the-user),
   * or sign in again. If the challenge omits `max_age`, the route requires a [second
   * factor](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md) or a passkey.
   */
  insufficient_user_authentication: {
    status: 401,
    challenge: 'insufficient_user_authentication',
    message: 'This resource needs a more recent sign-in.',
  },
  /** The token or account is missing a scope listed in the challenge. Add the scope to the account, and get a new token. */
  insufficient_scope: {
    status: 403,
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  /**
   * `allow` returned `false`, a new API key requested a scope that the token lacks, or an administrator [acting as the
   * user](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#authsigninaccount-req-res-details)
   * called a route with `acting: false`.
   */
  forbidden: {
    status: 403,
    message: 'This account may not use this resource.',
  },
  /**
   * The emailed code is unknown, already used, or expired, or was sent for a different `issuer`, `tenant`, or purpose. Request a new email.
   * Passkey options expire after ten minutes, and `origins` must include your page's origin.
   */
  invalid_code: { status: 403, message: 'The code is invalid or has expired. Request a new code.' },
  /** A different account claimed the address after the email was sent. Sign in, or choose a different address. */
  address_taken: { status: 409, message: 'Another account already uses this email address.' },
  /** An email address must be 3 to 254 characters long and contain exactly one `@`, without spaces or any of `,;:<>"()[]\`. */
  invalid_email: { status: 422, message: 'This is not a valid email address.' },
  /**
   * The [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#password-reasons) in
   * the response explains why the new password was rejected. The emailed code stays valid.
   */
  weak_password: {
    status: 422,
    showsReason: true,
    message: 'This password cannot be used. Choose a different password.',
  },
  /** Recovery codes require an authenticator app. */
  no_second_factor: { status: 409, message: 'This account has no authenticator app.' },
  /** The account has no API key with this ID. */
  unknown_api_key: { status: 404, message: 'This account has no such API key.' },
  /** The account already has 20 API keys. Remove one first. */
  too_many_api_keys: {
    status: 409,
    message: 'This account already has the maximum number of API keys. Remove one first.',
  },
  /** This passkey is the account's last way to sign in. Set a password first. */
  last_sign_in_method: {
    status: 409,
    message: 'This is the only way to sign in to the account. Add a different way first.',
  },
  /** The account already has 20 passkeys. Remove one first. */
  too_many_passkeys: {
    status: 409,
    message: 'This account already has the maximum number of passkeys. Remove one first.',
  },
  /** The account has no passkey with this ID. */
  unknown_passkey: { status: 404, message: 'This account has no such passkey.' },
  /** The account has no session with this ID. */
  unknown_session: { status: 404, message: 'This account has no such session.' },
  /**
   * A [dependency](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies) failed
   * or exceeded `timeout`.
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
