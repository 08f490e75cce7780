import type { VerifiedToken } from './verified-token.js'

/** What guards ask of this package's own verifiers before they wait for `verify`. */
export interface QuickPath {
  /** The token of credentials (`Bearer`, a space and the token) that were good before and are so still. */
  recall(credentials: string | undefined): VerifiedToken | undefined
  /**
   * As `verify`, at once; undefined when keys have to be waited for.
   * @throws AuthError `invalid_token`
   */
  verifyNow(token: string): VerifiedToken | undefined
}

const paths = new WeakMap<object, QuickPath>()

/** Gives a verifier its quick path. It is the very object's: a copy with a `verify` of the host's own must not go round that. */
export function withQuickPath<T extends object>(verifier: T, path: QuickPath): T {
  paths.set(verifier, path)
  return verifier
}

export function quickPathOf(verifier: object): QuickPath | undefined {
  return paths.get(verifier)
}
