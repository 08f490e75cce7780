import { brandOf, brandWith } from '../options/brand.js'
import type { IssuedToken, TokenSubject } from './jwt/issue-token.js'
import type { VerifiedToken } from './verified-token.js'

/** Verifies without waiting. The guard uses it before it waits for `verify`. */
export interface SyncVerifier {
  fromCache(token: string): VerifiedToken | undefined
  /** The number of verified tokens that stay cached. 0 without a cache. */
  readonly cacheSize: number
  /** The current time by the verifier's clock, in milliseconds. */
  now(): number
  /** The difference between clocks that is tolerated, in milliseconds. */
  readonly tolerance: number
  /**
   * Verifies a token like `verify`, without a look at the cache. Returns undefined when its key has to be fetched first.
   * @throws AuthError `invalid_token`
   */
  verifySync(token: string): VerifiedToken | undefined
  /** Issues a token without waiting. Returns undefined when the key is not in memory. Undefined for a verifier. */
  readonly issueNow?: ((subject: TokenSubject) => IssuedToken | undefined) | undefined
}

export const withSyncVerifier = <T extends object>(verifier: T, sync: SyncVerifier): T =>
  brandWith('SyncVerifier', verifier, sync)

export const syncVerifierOf = (verifier: object) => brandOf('SyncVerifier', verifier) as SyncVerifier | undefined
