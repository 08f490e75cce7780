import { misuse, PAGE } from '../options/misuse.js'
import { AuthError } from '../refusals/auth-error.js'
import { unverifiedIssuer } from './jwt/compact-jws.js'
import { assertTokenText } from './jwt/verify-token.js'
import { KEY_LENGTH, recentMap } from './recent-map.js'
import { type SyncVerifier, syncVerifierOf } from './sync-verifier.js'
import type { TokenVerifier } from './tokens.js'
import { toVerifiedToken, type VerifiedToken } from './verified-token.js'

/** One verifier as the guard uses it: of this package, or the host's own. */
type Selected = ReturnType<typeof selected>

/** The verifiers of a guard. */
export interface Verifiers {
  readonly issuers: readonly [string, ...string[]]
  /** Returns a token that was verified before and is still valid. */
  fromCache(token: string): VerifiedToken | undefined
  /**
   * Returns the verifier that a token's `iss` names, without work on its signature.
   * @throws AuthError `invalid_token` when no verifier has this issuer
   */
  select(token: string): Selected
  /** Returns the verifier that has verified a token. */
  verifierOf(auth: VerifiedToken): Selected
}

const NEVER = () => undefined
const WITHOUT_SYNC = { verifySync: NEVER, now: () => Date.now(), tolerance: 0 }

/** @param isOwn returns whether a token may be from this verifier */
function selected(tokens: TokenVerifier, isOwn: (auth: VerifiedToken) => boolean) {
  const { issuer } = tokens
  const { verifySync, now, tolerance }: Pick<SyncVerifier, 'verifySync' | 'now' | 'tolerance'> =
    syncVerifierOf(tokens) ?? WITHOUT_SYNC
  async function verify(text: string): Promise<VerifiedToken> {
    const auth = toVerifiedToken(await tokens.verify(text), issuer)
    // A forgotten `return` in a host's own `verify` does not count as a token.
    if (!auth) throw misuse('tokens: verify must return a verified token, or throw')
    if (!isOwn(auth)) throw misuse('tokens: verify returned a token of another issuer', PAGE.issuers)
    return auth
  }
  return { issuer, verifySync, verify, now, tolerance }
}

export function oneVerifier(tokens: TokenVerifier): Verifiers {
  const only = selected(tokens, () => true)
  const fromCache = syncVerifierOf(tokens)?.fromCache ?? NEVER
  return { issuers: [only.issuer], fromCache, select: () => only, verifierOf: () => only }
}

/** A `Map` holds at most 2 ** 24 entries. */
const MOST_HINTS = 10_000_000

/**
 * Returns several verifiers, each of another issuer. The `iss` of a token selects its verifier. For a cached token, one look-up finds the
 * verifier, whose cache decides.
 */
export function severalVerifiers(list: readonly TokenVerifier[]): Verifiers {
  const cached = list.reduce((sum, tokens) => sum + (syncVerifierOf(tokens)?.cacheSize ?? 0), 0)
  /** Only a hint: another token may have the same last characters. */
  const holders = recentMap<SyncVerifier>(Math.min(cached, MOST_HINTS))

  function hinted(tokens: TokenVerifier): Selected {
    const { issuer } = tokens
    const only = selected(tokens, (auth) => auth.issuer === issuer)
    const sync = syncVerifierOf(tokens)
    if (!sync) return only
    return {
      ...only,
      verifySync(text) {
        const auth = sync.fromCache(text) ?? sync.verifySync(text)
        if (auth && sync.cacheSize > 0) holders.set(text.slice(-KEY_LENGTH), sync)
        return auth
      },
    }
  }

  const byIssuer = new Map(list.map((tokens) => [tokens.issuer, hinted(tokens)]))
  return {
    issuers: [...byIssuer.keys()] as [string, ...string[]],
    fromCache(text) {
      const id = text.slice(-KEY_LENGTH)
      return (holders.recent.get(id) ?? holders.get(id))?.fromCache(text)
    },
    select(text) {
      assertTokenText(text)
      const issuer = unverifiedIssuer(text)
      const found = issuer === undefined ? undefined : byIssuer.get(issuer)
      if (!found) throw new AuthError('invalid_token', { reason: issuer === undefined ? 'malformed' : 'issuer' })
      return found
    },
    verifierOf: (auth) => byIssuer.get(auth.issuer) as Selected,
  }
}
