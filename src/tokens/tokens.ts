import { misuse, PAGE } from '../shared/misuse.js'
import { type Checked, isPlainObject, readOptions } from '../shared/options.js'
import { traceSync, VERIFY } from '../shared/tracing.js'
import { memberOf } from '../shared/values.js'
import { hrefOf } from '../shared/web-url.js'
import { type IssuedToken, issueToken, type TokenSubject } from './jwt/issue-token.js'
import { assertTokenText, type Verification, verifyToken } from './jwt/verify-token.js'
import { type KeySource, type PublicJwk, readKeys } from './keys/key-ring.js'
import { isRemoteKeys, retryUnknownKey, unlessUnknownKey } from './keys/remote-keys.js'
import { withSyncVerifier } from './sync-verifier.js'
import {
  issuerSchema,
  type TokenIssuerOptions,
  type TokenVerifierOptions,
  tokenAliases,
  verifierSchema,
} from './token-options.js'
import { NO_CACHE, verifiedCache } from './verified-cache.js'
import type { VerifiedToken } from './verified-token.js'

/** Verifies the tokens of one environment. Returned by `createTokenVerifier`. */
export interface TokenVerifier {
  /** The environment's base URL, without a trailing slash. */
  readonly issuer: string
  /** The audience of its tokens (`aud`). */
  readonly audience: string
  /**
   * Verifies a token's text: algorithm, key, signature, environment, times (RFC 7519 section 7.2, RFC 8725, RFC 9068 section 4).
   * @throws AuthError `invalid_token`, with a `reason`, when the token is refused; `unavailable` when its key may be among remote keys
   * that cannot be fetched
   */
  verify(token: string): Promise<VerifiedToken>
}

/** Issues the tokens of one environment, and verifies them. Returned by `createTokenIssuer`. */
export interface TokenIssuer extends TokenVerifier {
  /**
   * Issues a token. Its times are whole seconds; two tokens are never the same.
   * @throws TypeError when the account id, the scopes or the claims are not valid
   */
  issue(subject: TokenSubject): IssuedToken
  /** The current time, by the issuer's `clock`. */
  now(): Date
  /** The public keys as a JWK set (RFC 7517 section 5), without secrets. */
  jwks(): {
    /** One key for each key pair in `keys`. The signing key is the first. */
    keys: PublicJwk[]
  }
}

/**
 * Creates the issuer of one environment's tokens. It also verifies them.
 * @throws TypeError naming the option that is not valid
 */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const caller = 'createTokenIssuer'
  const read = readOptions<TokenIssuerOptions, typeof issuerSchema>(caller, options, issuerSchema, tokenAliases)
  return issuerOf(caller, read)
}

/** The options of an issuer after {@link issuerSchema}: times in milliseconds, the keys still unread. */
export type IssuerSettings = Checked<typeof issuerSchema>

/** @throws TypeError naming the key that is not valid */
export function issuerOf(caller: string, read: IssuerSettings): TokenIssuer {
  const { issuer, audience = issuer, clientId = issuer } = read
  if (hasRemoteKeys(read.keys)) {
    const says = 'must hold a key that signs, but remoteKeys() are public ones. To verify only, use createTokenVerifier'
    throw misuse(`${caller}: option "keys" ${says}`, PAGE.keys)
  }
  const ring = readKeys(caller, read.keys)
  const { signingKey } = ring.first
  if (!signingKey) {
    const says = 'must be a "privateKey" or a "secret", but is a "publicKey". To verify only, use createTokenVerifier'
    throw misuse(`${caller}: the first of "keys" signs, so it ${says}`, PAGE.keys)
  }
  const signer = { ...read, audience, clientId, ring, signingKey }
  return withVerifier(signer, ring, {
    issue: (subject: TokenSubject) => issueToken(signer, subject),
    now: () => new Date(read.clock()),
    jwks: () => ({ keys: ring.publicJwks() }),
  })
}

/**
 * Creates a verifier, for a service that holds no signing key.
 * @throws TypeError naming the option that is not valid
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const caller = 'createTokenVerifier'
  const read = readOptions<TokenVerifierOptions, typeof verifierSchema>(caller, options, verifierSchema, tokenAliases)
  const wrong = (says: string) => misuse(`${caller}: option "keys" must ${says}`, PAGE.keys)
  if (Array.isArray(read.keys) && hasRemoteKeys(read.keys)) {
    throw wrong('be remoteKeys() without other keys, or a list of keys without it')
  }
  const url = hrefOf(read.keys)
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    throw wrong('hold keys, but is a URL. Did you mean remoteKeys(url)?')
  }
  const hasPrivateKey = (key: unknown) => isPlainObject(key) && memberOf(key, 'privateKey') !== undefined
  if ([read.keys].flat().some(hasPrivateKey)) {
    throw wrong('hold no "privateKey": a verifier signs nothing. Give the "publicKey"')
  }
  return withVerifier(read, isRemoteKeys(read.keys) ? read.keys : readKeys(caller, read.keys), {})
}

const hasRemoteKeys = (keys: unknown) => [keys].flat().some(isRemoteKeys)

const factsOf = ({ token }: Verification) => ({ accountId: token.accountId, tokenId: token.id })

/** Adds the members of a verifier to an object, and freezes it. */
function withVerifier<T extends object>(
  { issuer, audience = issuer, clock, clockTolerance: tolerance, cache }: Checked<typeof verifierSchema>,
  keys: KeySource,
  object: T,
): Readonly<TokenVerifier & T> {
  const { add, fromCache } = cache === false ? NO_CACHE : verifiedCache(cache, keys, clock)
  function verifyNew(text: string): VerifiedToken {
    const expected = { issuer, audience, now: clock(), tolerance }
    const verification = traceSync(VERIFY, () => verifyToken(text, keys, expected), factsOf)
    add(text, verification)
    return verification.token
  }
  function verifyHere(text: string): VerifiedToken {
    assertTokenText(text)
    return fromCache(text) ?? verifyNew(text)
  }
  const verify = (text: string) => retryUnknownKey(keys, () => verifyHere(text))
  const verifySync = (text: string) => unlessUnknownKey(keys, () => verifyNew(text))
  const verifier = { issuer, audience, verify, ...object }
  return Object.freeze(withSyncVerifier(verifier, { fromCache, now: clock, tolerance, verifySync }))
}
