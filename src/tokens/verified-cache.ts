import type { Verification } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import type { VerifiedToken } from './verified-token.js'

/** Keeps verified tokens, so that each token is verified once. Refusals are not cached. */
export interface VerifiedCache {
  add(token: string, verification: Verification): void
  /** Returns a token that was verified before and is still valid: its times and its key are checked again. */
  fromCache(token: string): VerifiedToken | undefined
}

interface Entry extends Verification {
  readonly text: string
}

/**
 * The length of an entry's key: the last characters of the token. They belong to the signature, so they differ between tokens, and are
 * faster to hash than the whole token.
 */
export const KEY_LENGTH = 16

/**
 * Creates a cache that keeps the `size` tokens that were used last. It holds them in two maps of at most `size` tokens. A token that is
 * used moves to the recent map. When the recent map is full, it becomes the older one, whose other tokens give way.
 */
export function verifiedCache(size: number, keys: KeySource, clock: () => number): VerifiedCache {
  let recent = new Map<string, Entry>()
  let older = new Map<string, Entry>()

  function keep(id: string, entry: Entry): void {
    if (recent.size >= size) {
      older = recent
      recent = new Map()
    }
    recent.set(id, entry)
  }

  return {
    add: (text, verification) => keep(text.slice(-KEY_LENGTH), { text, ...verification }),
    fromCache(text) {
      const id = text.slice(-KEY_LENGTH)
      const found = recent.get(id)
      const entry = found ?? older.get(id)
      if (entry?.text !== text) return undefined
      const now = clock()
      if (now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key) {
        if (!found) keep(id, entry)
        return entry.token
      }
      recent.delete(id)
      older.delete(id)
      return undefined
    },
  }
}

/** Verifies every token every time. */
export const NO_CACHE: VerifiedCache = { add() {}, fromCache: () => undefined }
