import {
  aliasesOf,
  type Check,
  type Clock,
  clockOption,
  type Duration,
  duration,
  integer,
  optional,
  text,
  tokenAge,
} from '../shared/options.js'
import { baseUrl } from '../shared/web-url.js'
import type { PrivateTokenKey, PublicTokenKey, SecretTokenKey } from './keys/key-ring.js'
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
  /** Public keys or secrets: one key, or a list of one kind. Every key of the list verifies. Or `remoteKeys(url)`. */
  keys: SecretTokenKey | PublicTokenKey | readonly SecretTokenKey[] | readonly PublicTokenKey[] | RemoteKeys
  /** The difference between clocks that is tolerated for `iat`, `nbf` and `exp`. Default 0, at most one minute. */
  clockTolerance?: Duration | undefined
  /**
   * The number of verified tokens that stay cached: those that were used last. At most twice as many are held. A cached token is not
   * verified again, but its times and its key are checked on every request. Set it to at least the number of tokens in use. Default
   * 10,000; 1 to 10,000,000; `false` turns the cache off.
   */
  cache?: number | false | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** The options of `createTokenIssuer`. */
export interface TokenIssuerOptions extends Omit<TokenVerifierOptions, 'keys'> {
  /** One key, or a list: all secrets or all key pairs. The first key signs, all keys verify. */
  keys: SecretTokenKey | PrivateTokenKey | readonly SecretTokenKey[] | readonly (PrivateTokenKey | PublicTokenKey)[]
  /** The client that tokens are issued to (`client_id`; RFC 9068 section 2.2). A non-empty string. Default: the issuer. */
  clientId?: string | undefined
  /** The lifetime of a token: `exp` minus `iat`. Default one hour; one second to 366 days. */
  lifetime?: Duration | undefined
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

export const issuerSchema = {
  ...verifierSchema,
  clientId: optional(text('a non-empty string')),
  lifetime: optional(tokenAge, 3_600_000),
}

/** Names of these options in other packages. */
export const tokenAliases = aliasesOf({
  keys: 'secret secretOrKey key privateKey publicKey algorithm algorithms jwks jwksUri',
  issuer: 'iss issuerBaseURL baseUrl',
  lifetime: 'expiresIn expiration exp ttl maxAge',
  clockTolerance: 'leeway skew',
  clock: 'now',
})
