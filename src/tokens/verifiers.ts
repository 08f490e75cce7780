import { AuthError } from '../errors/auth-error.js'
import { looksLikeJwt, unverifiedIssuer } from './jwt/compact-jws.js'
import { assertTokenText } from './jwt/verify-token.js'
import { recentTexts } from './verified-cache.js'
import type { VerifiedToken } from './verified-token.js'
import type { Verifier } from './verifier.js'

/** The verifiers of a guard. */
export interface Verifiers extends Pick<Verifier, 'cached' | 'verify'> {
  /** The name of the first verifier. */
  readonly realm: string
  /** Returns the verifier of the issuer of a verified token. */
  ofToken(auth: VerifiedToken): Verifier
}

export function oneVerifier(verifier: Verifier): Verifiers {
  const { issuer, cached, verify } = verifier
  return { realm: issuer, cached, verify, ofToken: () => verifier }
}

/** A `Map` holds at most 2 ** 24 entries. */
const MOST_HOLDERS = 10_000_000

/**
 * Returns several verifiers, each of another issuer. The `iss` of a token selects its verifier. For a cached token, one look-up finds the
 * verifier, whose cache decides.
 */
export function severalVerifiers(list: readonly Verifier[]): Verifiers {
  const cached = list.reduce((sum, { cacheSize }) => sum + cacheSize, 0)
  /** The verifiers of the cached tokens. */
  const holders = recentTexts<Verifier>(Math.min(cached, MOST_HOLDERS))
  const byIssuer = new Map(list.map((verifier) => [verifier.issuer, verifier]))
  const asked = list.filter(({ accepts }) => accepts)
  const named = new Set(list.filter(({ accepts }) => !accepts).map(({ issuer }) => issuer))

  function askedAbout(text: string): Verifier | undefined {
    if (asked.length === 0) return undefined
    const isJwt = looksLikeJwt(text)
    return asked.find(({ accepts }) => accepts?.(text, isJwt))
  }

  /**
   * Returns the verifier that a token's `iss` names, without work on its signature. Otherwise returns the first one that accepts the text.
   * @throws AuthError `invalid_token` when no verifier has this issuer
   */
  function select(text: string): Verifier {
    assertTokenText(text)
    const issuer = unverifiedIssuer(text)
    const isNamed = issuer !== undefined && named.has(issuer)
    const found = isNamed ? byIssuer.get(issuer) : askedAbout(text)
    if (!found) throw new AuthError('invalid_token', { reason: issuer === undefined ? 'malformed' : 'issuer' })
    return found
  }

  return {
    realm: list[0]?.issuer as string,
    cached: (text) => holders.get(text)?.cached(text),
    async verify(text, wait) {
      const verifier = select(text)
      const auth = await verifier.verify(text, wait)
      if (verifier.cacheSize > 0) holders.set(text, verifier)
      return auth
    },
    ofToken: (auth) => byIssuer.get(auth.issuer) as Verifier,
  }
}
