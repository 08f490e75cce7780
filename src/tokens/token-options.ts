import {
  type Check,
  type Clock,
  clockOption,
  type Duration,
  duration,
  integer,
  optional,
  text,
} from '../shared/options.js'
import { baseUrl } from '../shared/web-url.js'
import type { PrivateTokenKey, PublicTokenKey, SecretTokenKey } from './keys/key-ring.js'
import type { RemoteKeys } from './keys/remote-keys.js'

/** What `createTokenVerifier` takes. */
export interface TokenVerifierOptions {
  /**
   * This environment's base URL: absolute, http or https. Bound into every token as `iss` (RFC 7519
   * section 4.1.1), and a token of another is refused. A trailing slash makes no difference.
   */
  issuer: string | undefined
  /** Whom the tokens are meant for (`aud`; RFC 7519 section 4.1.3). One name, compared letter for letter. Default: the issuer. */
  audience?: string | undefined
  /** Public keys or secrets: one, or a list of one kind, of which any may verify. Or `remoteKeys(url)`, alone. */
  keys: SecretTokenKey | PublicTokenKey | readonly SecretTokenKey[] | readonly PublicTokenKey[] | RemoteKeys
  /** By how much clocks may differ; applies to `iat`, `nbf` and `exp`. Default 0, at most one minute. */
  clockTolerance?: Duration | undefined
  /**
   * How many verified tokens are remembered, so that each is verified once; twice or a little more, where others that are good still
   * take all the room. Times and keys are checked at every request all the same. Default 10,000; 1 to 10,000,000; `false` goes without.
   */
  cache?: number | false | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** What `createTokenIssuer` takes. */
export interface TokenIssuerOptions extends Omit<TokenVerifierOptions, 'keys'> {
  /** One key, or a list, all secrets or all key pairs: the first signs, all verify. */
  keys: SecretTokenKey | PrivateTokenKey | readonly SecretTokenKey[] | readonly (PrivateTokenKey | PublicTokenKey)[]
  /** The client that tokens are issued to (`client_id`; RFC 9068 section 2.2). A non-empty text. Default: the issuer. */
  clientId?: string | undefined
  /** How long a token is good for: `exp` less `iat`. Default one hour; at least one second, at most 366 days. */
  lifetime?: Duration | undefined
}

const cacheSize: Check<number | false> = (value) =>
  value === false ? false : integer(1, 10_000_000, 'a number of tokens, or false')(value)

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
  lifetime: optional(duration(1000, 366 * 86_400_000), 3_600_000),
}

/** Names that these options have elsewhere. */
export const tokenAliases = {
  secret: 'keys',
  secretOrKey: 'keys',
  key: 'keys',
  privateKey: 'keys',
  publicKey: 'keys',
  algorithm: 'keys',
  algorithms: 'keys',
  jwks: 'keys',
  jwksUri: 'keys',
  iss: 'issuer',
  issuerBaseURL: 'issuer',
  baseUrl: 'issuer',
  aud: 'audience',
  expiresIn: 'lifetime',
  expiration: 'lifetime',
  exp: 'lifetime',
  ttl: 'lifetime',
  maxAge: 'lifetime',
  leeway: 'clockTolerance',
  skew: 'clockTolerance',
  now: 'clock',
  cacheSize: 'cache',
}
