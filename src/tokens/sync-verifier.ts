import { brand, brandOf } from '../shared/brand.js'
import type { IssuedToken, TokenSubject } from './jwt/issue-token.js'
import type { VerifiedToken } from './verified-token.js'

/** Verifies without waiting. The guard uses it before it waits for `verify`. */
export interface SyncVerifier {
  /** Returns a token that was verified before and is still valid. */
  fromCache(token: string): VerifiedToken | undefined
  /** The current time by the verifier's clock, in milliseconds. */
  now(): number
  /** The difference between clocks that is tolerated, in milliseconds. */
  readonly tolerance: number
  /**
   * Verifies a token like `verify`, without a look at the cache. Returns undefined when its key has to be fetched first.
   * @throws AuthError `invalid_token`
   */
  verifySync(token: string): VerifiedToken | undefined
  /** Issues a token without waiting, with a key in memory. Undefined for a verifier. */
  readonly issueNow?: ((subject: TokenSubject) => IssuedToken | Promise<IssuedToken>) | undefined
}

interface Mark {
  readonly of: object
  readonly sync: SyncVerifier
}

/** Adds a sync verifier to a verifier that is not frozen yet. */
export function withSyncVerifier<T extends object>(verifier: T, sync: SyncVerifier): T {
  return brand('SyncVerifier', verifier, Object.freeze({ of: verifier, sync }))
}

/** Returns a verifier's sync verifier. A copy, an heir or a proxy has none, because its own `verify` must not be bypassed. */
export function syncVerifierOf(verifier: object): SyncVerifier | undefined {
  const mark = brandOf('SyncVerifier', verifier) as Mark | undefined
  return mark?.of === verifier ? mark.sync : undefined
}
