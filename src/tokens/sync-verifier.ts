import { bare } from '../shared/values.js'
import type { VerifiedToken } from './verified-token.js'

/** What guards ask of this package's own verifiers before they wait for `verify`. */
export interface SyncVerifier {
  /** The token of credentials (`Bearer`, a space and the token) that were good before and are so still. */
  fromCache(credentials: string | undefined): VerifiedToken | undefined
  /**
   * As `verify`, at once; undefined when keys have to be waited for.
   * @throws AuthError `invalid_token`
   */
  verifySync(token: string): VerifiedToken | undefined
}

/** Two copies of the package share it. The number is that of {@link SyncVerifier}: raise it when the interface changes. */
const MEMBER = Symbol.for('express-token-endpoint.verifySync.1')

interface WithQuickPath {
  [MEMBER]?: { readonly of: object; readonly path: SyncVerifier }
}

/** Adds a quick path to a verifier that is not frozen yet. */
export function withSyncVerifier<T extends object>(verifier: T, path: SyncVerifier): T {
  return Object.defineProperty(verifier, MEMBER, bare({ value: Object.freeze({ of: verifier, path }) }))
}

/** Returns a verifier's quick path. A copy, an heir or a proxy has none: its own `verify` must not be bypassed. */
export function syncVerifierOf(verifier: object): SyncVerifier | undefined {
  const found = Object.hasOwn(verifier, MEMBER) ? (verifier as WithQuickPath)[MEMBER] : undefined
  return found?.of === verifier ? found.path : undefined
}
