import { LRUCache } from 'lru-cache'
import type { KeySource } from './keys.js'
import type { VerifiedToken } from './verified-token.js'
import type { Verification } from './verify.js'

/** Remembers successes, and nothing else. */
export interface VerifiedCache {
  remember(text: string, verification: Verification): void
  /** A token that was verified before and is good still. */
  recall(text: string): VerifiedToken | undefined
}

/**
 * A bounded memory of verified tokens. Its key is the whole text of the token, so no two share an entry; the times are held
 * against the clock at every meeting, and a key that has left the set takes its tokens along.
 */
export function verifiedCache(max: number, keys: KeySource, clock: () => number): VerifiedCache {
  const remembered = new LRUCache<string, Verification>({ max })
  return {
    remember(text, verification) {
      remembered.set(text, verification)
    },
    recall(text) {
      const entry = remembered.get(text)
      if (!entry) return undefined
      const now = clock()
      const holds = now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key
      return holds ? entry.token : undefined
    },
  }
}

/** Every token takes the full way every time. */
export const NO_CACHE: VerifiedCache = { remember() {}, recall: () => undefined }
