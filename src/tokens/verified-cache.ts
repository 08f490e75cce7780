import { bare } from '../options/values.js'
import { lruCache } from '../packages/on-first-use.cjs'
import type { Verification } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import type { VerifiedToken } from './verified-token.js'

/** Options without a prototype, because lru-cache would read a `ttl` from a polluted prototype and forget the tokens. */
const OPTIONS = bare({})

/**
 * The length of a key of the map: the last characters of a token. They belong to the signature, so they differ between tokens, and take much
 * less time to hash than the whole token. The whole text is compared too, because a forged token may have the same last characters.
 */
const KEY_LENGTH = 16

/** Creates a map that keeps the `size` entries that were used last, by the texts of tokens. With the size 0, it keeps none. */
export function recentTexts<V>(size: number) {
  if (size === 0) return { get: () => undefined, set() {}, delete() {} }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache would allocate all slots immediately. With `maxSize`, it grows.
  const bounds = bare({ maxSize: size, sizeCalculation: () => 1 })
  const entries = new LRUCache<string, { readonly text: string; readonly value: V }>(bounds)
  return {
    get(text: string): V | undefined {
      const entry = entries.get(text.slice(-KEY_LENGTH), OPTIONS)
      return entry?.text === text ? entry.value : undefined
    },
    set: (text: string, value: V): void => void entries.set(text.slice(-KEY_LENGTH), { text, value }, OPTIONS),
    delete: (text: string): void => void entries.delete(text.slice(-KEY_LENGTH)),
  }
}

/** Creates a cache of the `size` verified tokens that were used last. Refusals are not cached. */
export function verifiedCache(size: number, keys: KeySource, clock: () => number) {
  const entries = recentTexts<Verification>(size)
  return {
    add: entries.set,
    /** Returns a token that was verified before and is still valid: its times and its key are checked again. */
    find(text: string): VerifiedToken | undefined {
      const entry = entries.get(text)
      if (!entry) return undefined
      const now = clock()
      if (now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key) return entry.token
      entries.delete(text)
      return undefined
    },
  }
}
