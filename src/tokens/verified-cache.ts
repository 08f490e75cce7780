import type { Verification } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import { KEY_LENGTH, recentMap } from './recent-map.js'
import type { VerifiedToken } from './verified-token.js'

/** Creates a cache of the `size` tokens that were used last, so that each token is verified once. Refusals are not cached. */
export function verifiedCache(size: number, keys: KeySource, clock: () => number) {
  const entries = recentMap<Verification>(size)
  return {
    add: (verification: Verification) => entries.set(verification.text.slice(-KEY_LENGTH), verification),
    /** Returns a token that was verified before and is still valid: its times and its key are checked again. */
    fromCache(text: string): VerifiedToken | undefined {
      const id = text.slice(-KEY_LENGTH)
      const entry = entries.recent.get(id) ?? entries.older(id)
      if (entry?.text !== text) return undefined
      const now = clock()
      if (now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key) return entry.token
      entries.delete(id)
      return undefined
    },
  }
}

/** Verifies every token every time. */
export const NO_CACHE: ReturnType<typeof verifiedCache> = { add() {}, fromCache: () => undefined }
