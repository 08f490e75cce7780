import { AuthError } from '../errors/auth-error.js'
import { looksLikeJwt, unverifiedIssuer } from './jwt/compact-jws.js'
import { assertTokenText } from './jwt/verify-token.js'
import { KEY_LENGTH, recentMap } from './recent-map.js'
import type { VerifiedToken } from './verified-token.js'
import type { Verifier } from './verifier.js'

/** The verifiers of a guard. */
export interface Verifiers {
  /** The name of the first verifier. */
  readonly realm: string
  /** The issuers whose tokens may have sessions. */
  readonly issuers: readonly string[]
  /** Returns a token that was verified before and is still valid. */
  fromCache(text: string): VerifiedToken | undefined
  /**
   * Returns the verifier that a token's `iss` names, without work on its signature. Otherwise returns the first one that accepts the text.
   * @throws AuthError `invalid_token` when no verifier has this issuer
   */
  select(text: string): Verifier
  /** Returns the verifier of the issuer of a verified token. */
  ofToken(auth: VerifiedToken): Verifier
}

export function oneVerifier(verifier: Verifier): Verifiers {
  const { issuer, fromCache } = verifier
  return { realm: issuer, issuers: [issuer], fromCache, select: () => verifier, ofToken: () => verifier }
}

/** A `Map` holds at most 2 ** 24 entries. */
const MOST_HINTS = 10_000_000

/**
 * Returns several verifiers, each of another issuer. The `iss` of a token selects its verifier. For a cached token, one look-up finds the
 * verifier, whose cache decides.
 */
export function severalVerifiers(list: readonly Verifier[]): Verifiers {
  const cached = list.reduce((sum, { cacheSize }) => sum + cacheSize, 0)
  /** Only a hint: another token may have the same last characters. */
  const holders = recentMap<Verifier>(Math.min(cached, MOST_HINTS))

  function withHint(verifier: Verifier): Verifier {
    return {
      ...verifier,
      verifyNow(text) {
        // Another guard may have had it verified.
        const auth = verifier.fromCache(text) ?? verifier.verifyNow(text)
        // A full cache adds only some tokens.
        if (verifier.fromCache(text)) holders.set(text.slice(-KEY_LENGTH), verifier)
        return auth
      },
    }
  }

  const verifiers = list.map(withHint)
  const byIssuer = new Map(verifiers.map((verifier) => [verifier.issuer, verifier]))
  const asked = verifiers.filter(({ accepts }) => accepts)
  const issuers = verifiers.filter((verifier) => !asked.includes(verifier)).map(({ issuer }) => issuer)

  function askedAbout(text: string): Verifier | undefined {
    if (asked.length === 0) return undefined
    const isJwt = looksLikeJwt(text)
    return asked.find(({ accepts }) => accepts?.(text, isJwt))
  }

  return {
    realm: list[0]?.issuer as string,
    issuers,
    fromCache(text) {
      const id = text.slice(-KEY_LENGTH)
      return (holders.recent.get(id) ?? holders.older(id))?.fromCache(text)
    },
    select(text) {
      assertTokenText(text)
      const issuer = unverifiedIssuer(text)
      const isNamed = issuer !== undefined && issuers.includes(issuer)
      const found = isNamed ? byIssuer.get(issuer) : askedAbout(text)
      if (!found) throw new AuthError('invalid_token', { reason: issuer === undefined ? 'malformed' : 'issuer' })
      return found
    },
    ofToken: (auth) => byIssuer.get(auth.issuer) as Verifier,
  }
}
