import { brandOf, brandWith } from '../options/brand.js'
import { misuse } from '../options/misuse.js'
import type { IssuedToken, TokenSubject } from './jwt/issue-token.js'
import { toVerifiedToken, type VerifiedToken } from './verified-token.js'

/** A verifier as the guard uses it. Our own verifiers carry one, and {@link hostVerifier} creates one for a verifier of the host. */
export interface Verifier {
  readonly issuer: string
  /** The number of verified tokens that stay cached. 0 without a cache. */
  readonly cacheSize: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  readonly tolerance: number
  /** The current time by the verifier's clock, in milliseconds. */
  now(): number
  /** Returns a token that was verified before and is still valid. */
  fromCache(text: string): VerifiedToken | undefined
  /**
   * Verifies a token that is not cached, without waiting. Returns undefined when only `verify` can, because a key has to be fetched first.
   * @throws AuthError `invalid_token`
   */
  verifyNow(text: string): VerifiedToken | undefined
  /** Verifies a token, and may wait. */
  verify(text: string): Promise<VerifiedToken>
}

export const withVerifier = <T extends object>(tokens: T, verifier: Verifier): T =>
  brandWith('TokenVerifier', tokens, verifier)

/** Returns the verifier of an object of this package. A copy or a proxy of the object has none, so its own `verify` is used. */
export const verifierOf = (tokens: object) => brandOf('TokenVerifier', tokens) as Verifier | undefined

/** Creates the verifier of a host's object. It has no cache, and the time of this process. */
export function hostVerifier(tokens: { readonly issuer: string; verify(text: string): unknown }): Verifier {
  const { issuer } = tokens
  return {
    issuer,
    cacheSize: 0,
    tolerance: 0,
    now: () => Date.now(),
    fromCache: () => undefined,
    verifyNow: () => undefined,
    async verify(text) {
      const auth = toVerifiedToken(await tokens.verify(text), issuer)
      // A forgotten `return` in a host's own `verify` does not count as a token.
      if (!auth) throw misuse('tokens: verify must return a verified token, or throw')
      return auth
    },
  }
}

/** Issues a token without waiting. Returns undefined when the key is not in memory. */
export type IssueNow = (subject: TokenSubject) => IssuedToken | undefined

export const withIssueNow = <T extends object>(tokens: T, issueNow: IssueNow): T =>
  brandWith('TokenIssuer', tokens, issueNow)

/** Returns the function of an issuer of this package that issues without waiting. A copy or a proxy of the issuer has none. */
export const issueNowOf = (tokens: object) => brandOf('TokenIssuer', tokens) as IssueNow | undefined
