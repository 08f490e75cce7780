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
   * The text is cut off, quoted, encrypted, has a header of more than 2,048 characters, or is another kind of token: an API key needs a guard with
   * `apiKeys: true`. Send `authenticationToken` unchanged.
   */
  | 'malformed'
  /** `crit` is in the header, so this package did not issue the token. Find its issuer. */
  | 'critical_header'
  /**
   * `typ` is not `at+jwt`, as in an ID token. Get the token from the token endpoint or from `issue()`. For tokens of an identity provider,
   * set
   * [`accept: 'jwt'`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#accept-tokens-of-an-identity-provider).
   */
  | 'type'
  /**
   * No key matches the `kid` of the token: another environment, a removed key, or a key that is not deployed yet. Or the token has no
   * `kid`, and there is more than one key. Or the API key was removed or has expired. Pass the same `keys` to every process, and
   * [rotate keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/keys.md#how-do-i-rotate-keys) step
   * by step. Some providers list one key with several algorithms, of which only the first counts. To accept another one, set
   * [`algorithms`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   */
  | 'unknown_key'
  /** `alg` is not the algorithm of the key. Check whether two of your keys share a `kid`. Otherwise the token is forged. */
  | 'algorithm'
  /** The token was changed, or another key with the same `kid` signed it. If you set `kid`, use a new one for each key. */
  | 'signature'
  /**
   * A [claim](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#10-tokens) is missing or of
   * the wrong type, but your key signed the token. Find out who else uses your key.
   */
  | 'claims'
  /**
   * `iss` is not the `issuer` of your verifier. Set the same text in both, also
   * [inside your network](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#the-issuer-is-an-http-url-inside-your-network).
   * If you set `accept: 'jwt'`, copy a slash at its end too.
   */
  | 'issuer'
  /**
   * The token's `aud` is another audience. Set the same `audience` in your issuer and your verifier, or in neither. With
   * `authorizedParties`, the token may be of a client that is not in the list.
   */
  | 'audience'
  /**
   * The token is
   * [not an access token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#why-are-id-tokens-refused).
   * Send the access token instead.
   */
  | 'id_token'
  /**
   * An ID token has another
   * [`nonce`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/cookbook/other-sign-ins.md#sign-in-with-google-apple-or-microsoft)
   * than the one that you pass to `verify`, or has one and you pass none.
   */
  | 'nonce'
  /** `iat` or `nbf` is in the future. Synchronise your clocks (NTP), and set `clockTolerance`. */
  | 'not_yet_valid'
  /**
   * The token has expired, by its `exp`, also if its `iat` is later, or by the `expiresAt` of your custom verifier. Get a new token, or set
   * a longer `lifetime`.
   */
  | 'expired'
  /** `isRevoked` returned `true`, or the session is over. Sign in again. */
  | 'revoked'
  /** `findById` found nothing. If the account exists, check that `findById` finds the `id` that `findByEmail` returns. */
  | 'unknown_account'
  /** `disabled` of the account is `true`. Set it to `false` to admit the account. */
  | 'account_disabled'
  /**
   * The token was issued before `tokensValidAfter`, or is one that
   * [counts whole seconds](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-out.md#sign-a-user-out-everywhere).
   * Sign in again.
   */
  | 'superseded'

/**
 * The reason for refusing a login, for the host's logs. The client cannot tell the reasons apart. `limited`: guesses with other spellings of
 * the account's address have used up its limits, so the password was not checked.
 */
export type LoginRefusal =
  /**
   * Your account store found nothing, or the address is longer than 320 characters or contains a NUL. Check that your function returns the
   * account, and compares addresses in lower case if it should.
   */
  | 'unknown_account'
  /**
   * The password does not match the stored hash. If the password is right, check whether your client trims it. bcrypt hashes never match a
   * password of more than 72 bytes.
   */
  | 'wrong_password'
  /** The password was right, but `disabled` is `true`. Set `disabled` to `false` if the owner may sign in. */
  | 'account_disabled'
  /** `passwordHash` is `null`. Let the owner set a password. */
  | 'no_password'
  /**
   * Guesses with other spellings of the account's address have used up its
   * [failed-login limits](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions),
   * so the password was not checked. Wait until the window ends, or call `limits.reset`.
   */
  | 'limited'
  /**
   * The password was right, but it was changed, or `tokensValidAfter` was set, before the
   * [session](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-out.md#show-and-end-sessions) had
   * started. The session has ended. Nothing is wrong, unless your store returns another `passwordHash` on each call.
   */
  | 'superseded'

/** The reason for refusing a new password. The client receives it. */
export type PasswordRefusal =
  /** The password has fewer characters than `minLength` of `createPasswords`. The `detail` names the number. Choose a longer one. */
  | 'too_short'
  /** The password has more than 256 characters, or more than 72 bytes with `bcrypt()` as the first hasher. Choose a shorter one. */
  | 'too_long'
  /** The password is one of the most common ones, such as a known word, a row of keys or a repetition. Choose another one. */
  | 'common'
  /** `isForbidden` of `createPasswords` returned true. Choose another one. */
  | 'forbidden'

/**
 * The reason for refusing a refresh token, for the host's logs. The client cannot tell the reasons apart. `ended`: the session is over, or
 * has expired. `reused`: the token was used before, and the session has ended because of it.
 */
export type RefreshRefusal =
  /** Your function `refresh` returned `undefined` for the request, so that its client has no refresh token. */
  | 'missing'
  /**
   * The text is not a refresh token of this issuer, is signed with another secret, or `find` of `oldRefreshTokens` does not know it. Pass the same `secret` to every process, and
   * [replace it](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#replace-the-secret)
   * step by step.
   */
  | 'malformed'
  /**
   * The request has refresh cookies of several sessions that are live.
   * [Another host of your domain](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/explanation/security.md#known-limits-of-refresh-tokens)
   * sets one, or two of your APIs use the same path and domain.
   */
  | 'several_cookies'
  /** The user signed out, the session expired, or your code ended it. Normal. If each refresh gets it, your store loses `refresh`. */
  | 'ended'
  /**
   * The refresh token was
   * [replaced earlier](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves),
   * so two clients have copies. Ask the user, and look at the `address` of `session.refreshed`. If honest users get it, check that your
   * client saves each refresh token, and that your clocks agree.
   */
  | 'reused'
  /** `findById` found nothing. If the account exists, check that `findById` finds the `id` that `findByEmail` returns. */
  | 'unknown_account'
  /** `disabled` of the account is `true`. */
  | 'account_disabled'
  /**
   * `tokensValidAfter` is later than the sign-in, or the password hash has changed since. Normal, unless your store returns another
   * `passwordHash` on each call.
   */
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
   * A hasher threw or exceeded `timeout`, or no hasher accepts the stored hash. Pass
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions)
   * a hasher for the hash, raise its
   * [`costLimit`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#argon2idoptions),
   * or install the module that the `error` names.
   */
  | 'passwords'
  /** `isRevoked` threw, exceeded `timeout`, or did not return `true` or `false`. Check for a missing `return` or `await`. */
  | 'revocation'
  /**
   * Your session store failed. If `refused` is `false`, only `lastUsedAt` is not stored. Test the store with
   * [`storeContract()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#storecontractstore-options).
   */
  | 'sessions'
  /**
   * `remoteKeys` cannot fetch its URL, `sign` of a key failed, or your custom verifier failed. Read the `error`, and set `onError` of
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options)
   * to receive every failed fetch.
   */
  | 'keys'
  /**
   * The store of
   * [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/cookbook/after-the-password.md#codes-that-work-once)
   * failed or is too slow. Repair it.
   */
  | 'codes'
  /** The store of second factors and API keys failed or is too slow, or no `secret` decrypts a factor. Repair it, or add the secret. */
  | 'factors'
  /** The shared store of your failed-login limits failed or is too slow. Repair it. Meanwhile each process counts on its own. */
  | 'limits'
  /**
   * The function that `option` names threw, exceeded `timeout`, or returned something else than it must: `beforeSignIn`, `tenant`,
   * `respond`, `sessionLabel`, `refresh`, `mail`, `defer`, `allow` or `tokenFrom`. Correct the function.
   */
  | 'hook'
  /**
   * An unforeseen error, or `claims` that JSON cannot hold, like a `BigInt`. Correct the `claims`, or report the stack of the `error` to
   * the project.
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
   * The method is not in `Allow`. Use `POST` for tokens and `GET` for keys. For a CORS preflight, mount
   * [`cors()` first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  method_not_allowed: {
    status: 405,
    message: 'The Allow header names the methods that can be used here.',
  },
  /**
   * `Content-Type` is missing, repeated, not UTF-8, or neither JSON nor a form, or the body is compressed. Send
   * `Content-Type: application/json`.
   */
  unsupported_media_type: {
    status: 415,
    accept: 'application/json, application/x-www-form-urlencoded',
    message:
      'Send the credentials as application/json or application/x-www-form-urlencoded, in UTF-8, with no content coding.',
  },
  /**
   * A page of another origin sent a sign-in, a refresh or a sign-out, with `refresh: 'cookie'`. If it is your page, add its origin to
   * `allowedOrigins` of
   * [`tokenRouter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_request: {
    status: 403,
    message: 'A page of another origin must be among the allowed origins of this endpoint.',
  },
  /**
   * A page of another site sent the credentials as a form. Send JSON, and set up
   * [CORS](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   * If your page must send a form, add its origin to `allowedOrigins` of
   * [`tokenRouter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  cross_site_form: {
    status: 415,
    accept: 'application/json',
    message: 'A page of another site must send the credentials as application/json, so that the browser asks first.',
  },
  /**
   * The body is longer than `bodyLimit`, by default 10 kB. Send only the two members, or set `bodyLimit` of
   * [`tokenRouter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#tokenrouteroptions).
   */
  body_too_large: { status: 413, message: 'The request body is too large.' },
  /**
   * The body is not an object with the strings `email` and `password` (for a refresh, `refreshToken`), is malformed, or repeats a member.
   * It may also be
   * [too complex](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#3-refusals-of-the-token-call).
   * Send both members once, as strings. In curl, use `--data-urlencode` for `&` and `+`.
   */
  invalid_body: {
    status: 400,
    message: 'The request body must hold "email" and "password", each once and each a string.',
  },
  /**
   * The response has no body, except below the account path. The e-mail address or the password is wrong, or the account is disabled. Read the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons) in
   * `onEvent`.
   */
  invalid_credentials: {
    status: 403,
    empty: true,
    message: 'The e-mail address or the password is wrong.',
  },
  /**
   * The response has no body. The session is over, or the text is not a refresh token of this environment. Sign in again. As the operator, read
   * the [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) in
   * `onEvent`.
   */
  invalid_refresh_token: {
    status: 403,
    empty: true,
    message: 'The refresh token is not valid. Sign in again.',
  },
  /**
   * Only in `onEvent`. The client disconnected before the response. If you see it often, raise the timeouts of your clients and proxies: a
   * login takes longer under load.
   */
  client_closed_request: {
    status: 499,
    unseen: true,
    message: 'The client closed the connection before the response.',
  },
  /**
   * A
   * [failed-login limit](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions)
   * is used up, or an account has too many
   * [codes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md). Wait for `Retry-After`
   * seconds. If everyone gets `429`,
   * [set `trust proxy`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md).
   */
  too_many_attempts: { status: 429, message: 'Too many failed logins. Try again later.' },
  /**
   * A
   * [limit of waiting requests](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/http.md#9-limits-and-connections)
   * is reached, or the clients of one network disconnected during 200 logins in a second. Wait for `Retry-After` seconds. For logins, see
   * `concurrency` and `queue` of
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions).
   */
  overloaded: {
    status: 503,
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  /**
   * The header `Authorization: Bearer …` is missing. If you send it, a proxy removes it, or the request is a CORS preflight: mount
   * [`cors()` first](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   */
  missing_token: {
    status: 401,
    challenge: null,
    message: missingToken('Bearer'),
  },
  /**
   * The header is malformed or repeated, the query contains an `access_token` too, or the header lines reach the server's `maxHeadersCount`
   * (1,000). Send `Authorization: Bearer TOKEN` once, without quotes, and no token elsewhere.
   */
  invalid_request: {
    status: 400,
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  /**
   * Also from `verify`. The token, its session or its account is not valid. In your client, get a new token once. As the operator, read the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) in
   * `onEvent`.
   */
  invalid_token: {
    status: 401,
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  /**
   * The sign-in is older than `signedInWithin` of the route, and the challenge has `max_age` (RFC 9470). Ask for the password, send it to
   * `POST {token}/confirm` or sign in again, and retry the request. Without `max_age`, the route needs a sign-in with a
   * [second factor](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md) or a passkey.
   */
  insufficient_user_authentication: {
    status: 401,
    challenge: 'insufficient_user_authentication',
    message: 'This resource needs a more recent sign-in.',
  },
  /**
   * The token lacks a scope that the challenge names, or a guard with `accounts` found an account that has lost it. Add the scope to the
   * `scopes` that your store returns, and get a new token.
   */
  insufficient_scope: {
    status: 403,
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  /**
   * The function `allow` of the guard returned `false` for the account, or an administrator who acts as the account called a route that
   * [refuses them](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/cookbook/login-routes.md#an-administrator-acts-as-a-user).
   */
  forbidden: {
    status: 403,
    message: 'This account may not use this resource.',
  },
  /**
   * The mailed code is unknown, was used, has expired, or is for something else. The client asks for another mail. As the operator, pass the
   * same `issuer` and the same `tenant` where the code is created and where it is used. Or a new passkey is not valid, or its options are
   * older than ten minutes. The client asks for new options, and the operator compares `origins` of `passkeys` with the page.
   */
  invalid_code: { status: 403, message: 'The code is not valid any more. Ask for another one.' },
  /** Another account has the address since the mail was sent. The client signs in, or chooses another address. */
  address_taken: { status: 409, message: 'Another account has this address.' },
  /** The text is not an e-mail address. Send one with exactly one `@`, of 3 to 254 characters, without blanks and without `,;<>"():`. */
  invalid_email: { status: 422, message: 'This is not an e-mail address.' },
  /**
   * The new password is refused. The body has the
   * [`reason`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#password-reasons).
   * The code of the mail stays valid.
   */
  weak_password: { status: 422, showsReason: true, message: 'This password cannot be used. Choose another one.' },
  /** The account has no authenticator app, so it has no recovery codes. The client sets the app up first. */
  no_second_factor: { status: 409, message: 'This account has no authenticator app.' },
  /** No API key of the account has this id. List the keys anew. */
  unknown_api_key: { status: 404, message: 'This account has no such API key.' },
  /** The account has 20 API keys. The client removes one first. */
  too_many_api_keys: { status: 409, message: 'This account has as many API keys as it may have. Remove one first.' },
  /** The passkey is the last way to sign in: the account has no password, and the app mails no codes. The user adds another one first. */
  last_sign_in_method: {
    status: 409,
    message: 'This is the last way to sign in to the account. Add another one first.',
  },
  /** The account has 20 passkeys. The user removes one first. */
  too_many_passkeys: { status: 409, message: 'This account has as many passkeys as it may have. Remove one first.' },
  /** No passkey of the account has this id. List the passkeys anew. */
  unknown_passkey: { status: 404, message: 'This account has no such passkey.' },
  /** No session of the account uses this id. List the sessions anew. */
  unknown_session: { status: 404, message: 'This account has no such session.' },
  /**
   * Also from `verify`. A dependency failed or exceeded `timeout`. Read the
   * [`dependency`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies) in
   * `onEvent`.
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
