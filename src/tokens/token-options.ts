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
  /**
   * This environment's base URL: absolute, http or https. Every token contains it as `iss` (RFC 7519 section 4.1.1), and a token of
   * another environment is refused. A trailing slash makes no difference.
   */
  issuer: string | undefined
  /** The audience of the tokens (`aud`; RFC 7519 section 4.1.3). One name, compared exactly. Default: the issuer. */
  audience?: string | undefined
  /** The form of the tokens. Default: tokens that this package issues (RFC 9068). See {@link JwtVerifierOptions} for `'jwt'`. */
  accept?: undefined
  /** Public keys or secrets: one key, or a list of one kind. Every key of the list verifies. Or `remoteKeys(url)`. */
  keys: SecretTokenKey | PublicTokenKey | readonly SecretTokenKey[] | readonly PublicTokenKey[] | RemoteKeys
  /** The difference between clocks that is tolerated for `iat`, `nbf` and `exp`. Default 0, at most one minute. */
  clockTolerance?: Duration | undefined
  /**
   * The number of verified tokens that stay cached: those that were used last. A cached token is not verified again, but its times and its key
   * are checked on every request.
   * Set it to at least the number of tokens in use. Default 10,000; 1 to 10,000,000; `false` turns the cache off.
   */
  cache?: number | false | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** The options of `createTokenVerifier` for access tokens of an identity provider. */
export interface JwtVerifierOptions extends Omit<TokenVerifierOptions, 'accept' | 'audience' | 'issuer'> {
  /**
   * Accepts the access tokens of identity providers: with the type `at+jwt`, `JWT` or none, and several audiences. ID tokens are refused,
   * and so are tokens that are bound to a key (`cnf`), because the guard does not check the proof.
   */
  accept: 'jwt'
  /**
   * The clients whose tokens are accepted (`client_id`, `azp`, `cid` or `appid`). A token of another client, or without one, is refused.
   * Default: every client of the provider, and tokens that name none.
   */
  authorizedParties?: readonly string[] | undefined
  /** The provider's issuer, exactly as in its tokens (`iss`): an absolute http or https URL. A slash at its end makes a difference. */
  issuer: string | undefined
  /** The audience of this API: one of those in `aud`, compared exactly. */
  audience: string | undefined
  /**
   * Returns the scopes of a token from its claims, for example from roles or permissions. Called once for each new token. Undefined means
   * no scopes. An error, or another value than a list of scopes, causes a `503`. Default: `scope` or `scp`, a list or text with spaces.
   */
  scopes?: ScopesOf | undefined
  /**
   * Returns the account's id from a token's claims. Called once for each new token. A token whose result is undefined is refused. An error,
   * or another value than a non-empty string, causes a `503`. Default: `sub`, which is unique only within its issuer.
   */
  accountId?: AccountIdOf | undefined
}

/** The options of `createTokenIssuer`. */
export interface TokenIssuerOptions extends Omit<TokenVerifierOptions, 'accept' | 'keys'> {
  /** One key, or a list: all secrets or all key pairs. The first key signs, all keys verify. */
  keys:
    | SecretTokenKey
    | PrivateTokenKey
    | RemoteSigningKey
    | readonly SecretTokenKey[]
    | readonly (PrivateTokenKey | PublicTokenKey | RemoteSigningKey)[]
  /** The client that tokens are issued to (`client_id`; RFC 9068 section 2.2). A non-empty string. Default: the issuer. */
  clientId?: string | undefined
  /** The lifetime of a token: `exp` minus `iat`. Default one hour; one second to 366 days. */
  lifetime?: Duration | undefined
  /** The time limit for `sign` of a key. Default 5 s. 1 ms to 1 min. */
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
