import { timeoutOption } from '../concurrency/host-call.js'
import { type Clock, clockOption, type Duration, duration, func, integer, text, tokenAge } from '../options/checks.js'
import { aliasesOf, type Check, checkThat, optional } from '../options/read-options.js'
import { baseUrl, exactUrl } from '../options/web-url.js'
import { isText } from './jwt/claims.js'
import type { AccountIdOf, ScopesOf } from './jwt/provider-claims.js'
import type { PrivateTokenKey, PublicTokenKey, RemoteSigningKey, SecretTokenKey } from './keys/key-ring.js'
import type { RemoteKeys } from './keys/remote-keys.js'

/** The options of `createTokenVerifier`. */
export interface TokenVerifierOptions {
  /** Base URL that identifies the issuer (`iss`), without a query or fragment. A trailing slash does not matter. */
  issuer: string | undefined
  /** Audience (`aud`), which must match exactly. Default: the issuer. */
  audience?: string | undefined
  /**
   * `'jwt'` for [access tokens from identity
   * providers](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#access-tokens-from-identity-providers),
   * or `'id-token'` for [ID
   * tokens](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#id-tokens). Default: tokens
   * from this package (RFC 9068).
   */
  accept?: undefined
  /**
   * A [key](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#keys) with a `publicKey`
   * or `secret`, a list of such keys, or the result of
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options)
   * or
   * [`discoverKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#discoverkeysissuer-options).
   */
  keys: SecretTokenKey | PublicTokenKey | readonly SecretTokenKey[] | readonly PublicTokenKey[] | RemoteKeys
  /** Allowed clock skew for `iat`, `nbf`, and `exp` (0 to 60 s). Default: `0`. */
  clockTolerance?: Duration | undefined
  /**
   * Maximum number of verified tokens to cache (1 to 10,000,000), or `false` to turn off the cache. Guards still check expiration, scopes,
   * revocation, and accounts on every request. Default: `10000`.
   *
   * Set it to at least the number of tokens in use.
   */
  cache?: number | false | undefined
  /** Clock for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** The options of `createTokenVerifier` for access tokens of an identity provider. */
export interface JwtVerifierOptions extends Omit<TokenVerifierOptions, 'accept' | 'audience' | 'issuer'> {
  /**
   * Set to `'jwt'`. The verifier rejects ID tokens and tokens bound to a key (`cnf`).
   *
   * The types `at+jwt` and `JWT`, and no type, are accepted.
   */
  accept: 'jwt'
  /**
   * IDs of the [clients whose tokens you
   * accept](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md#accept-tokens-of-an-identity-provider),
   * as they appear in `client_id`, `azp`, `cid`, or `appid`. Default: any client ID, or none.
   */
  authorizedParties?: readonly string[] | undefined
  /** Exact value of the tokens' `iss` claim, including any trailing slash. */
  issuer: string | undefined
  /** Your API's audience, exactly as it appears in the `aud` claim. */
  audience: string | undefined
  /**
   * Function `(claims) => scopes`. Default: `scope` or `scp`.
   *
   * Called once for every new token, because the result is cached with it. When it fails or returns an invalid value, the client receives
   * `503`.
   */
  scopes?: ScopesOf | undefined
  /**
   * Function `(claims) => id`. Return `undefined` to reject the token. Default: `sub` (unique per issuer).
   *
   * Called once for every new token, because the result is cached with it. When it fails or returns an invalid value, the client receives
   * `503`.
   */
  accountId?: AccountIdOf | undefined
}

/** The options of `createTokenIssuer`. */
export interface TokenIssuerOptions extends Omit<TokenVerifierOptions, 'accept' | 'keys'> {
  /**
   * Pass a [key](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#keys), a list of
   * secrets, or a list of key pairs. The first key signs tokens, and all keys verify them.
   */
  keys:
    | SecretTokenKey
    | PrivateTokenKey
    | RemoteSigningKey
    | readonly SecretTokenKey[]
    | readonly (PrivateTokenKey | PublicTokenKey | RemoteSigningKey)[]
  /** Value of the `client_id` claim. Default: the issuer. */
  clientId?: string | undefined
  /** Token lifetime (1 s to 366 days). Default: `'1h'`. */
  lifetime?: Duration | undefined
  /**
   * Time limit for a key's `sign` function. Default: `'5s'`.
   *
   * After it, the client receives `503`.
   */
  timeout?: Duration | undefined
}

const tokenCount = integer(1, 10_000_000, 'a number of tokens, or false')
const cacheSize: Check<number | false> = (value) => (value === false ? false : tokenCount(value))

export const verifierSchema = {
  issuer: baseUrl,
  audience: optional(text('a non-empty string')),
  keys: (value: unknown) => value,
  clockTolerance: optional(duration(0, 60_000), 0),
  cache: optional(cacheSize, 10_000),
  clock: clockOption,
}

/** Clients of a provider. */
export const authorizedPartiesOption = optional(
  checkThat<readonly string[]>('a list of client ids', (value) => Array.isArray(value) && [...value].every(isText)),
)

/** The options that other verifiers and issuers do not have. */
const onlyFor = (accept: string) =>
  checkThat<undefined>(`omitted without accept: ${accept}`, (value) => value === undefined)

export const issuedVerifierSchema = {
  ...verifierSchema,
  // `createTokenVerifier` has read it to choose this table.
  accept: () => undefined,
  scopes: onlyFor("'jwt'"),
  accountId: onlyFor("'jwt'"),
  authorizedParties: onlyFor("'jwt' or 'id-token'"),
}

export const jwtSchema = {
  ...verifierSchema,
  issuer: exactUrl,
  audience: text("a non-empty string: with accept: 'jwt', the provider's name of this API"),
  accept: checkThat<'jwt'>("'jwt', 'id-token' or undefined", (value) => value === 'jwt'),
  scopes: optional(func<ScopesOf>('a function (claims) => scopes')),
  accountId: optional(func<AccountIdOf>('a function (claims) => accountId')),
  authorizedParties: authorizedPartiesOption,
}

export const issuerSchema = {
  ...verifierSchema,
  clientId: optional(text('a non-empty string')),
  lifetime: optional(tokenAge, 3_600_000),
  timeout: timeoutOption,
}

export const tokenAliases = aliasesOf({
  keys: 'secret secretOrKey privateKey publicKey algorithm algorithms jwksUri',
  issuer: 'issuerBaseURL',
  lifetime: 'expiresIn ttl maxAge',
})
