import { LRUCache } from 'lru-cache'
import { bare } from '../shared/values.js'
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

/** Options without a prototype, because lru-cache would read options from a polluted prototype. */
const OPTIONS = bare({})

/** Creates a cache of at most `max` tokens. The least recently used token gives way. */
export function verifiedCache(max: number, keys: KeySource, clock: () => number): VerifiedCache {
  const entries = new LRUCache<string, Entry>({ max })
  return {
    add(text, { token, key, notBefore, notAfter }) {
      entries.set(text.slice(-KEY_LENGTH), { text, token, key, notBefore, notAfter }, OPTIONS)
    },
    fromCache(text) {
      const entry = entries.get(text.slice(-KEY_LENGTH), OPTIONS)
      if (entry?.text !== text) return undefined
      const now = clock()
      if (now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key) return entry.token
      entries.delete(text.slice(-KEY_LENGTH))
      return undefined
    },
  }
}

/** Verifies every token every time. */
export const NO_CACHE: VerifiedCache = { add() {}, fromCache: () => undefined }
