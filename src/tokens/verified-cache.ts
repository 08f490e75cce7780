import { LRUCache } from 'lru-cache'
import type { Verification } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import type { VerifiedToken } from './verified-token.js'

/** Remembers successes, and nothing else, by the credentials that brought them: `Bearer`, a space and the token. */
export interface VerifiedCache {
  add(credentials: string, verification: Verification): void
  /** The token of credentials that were good before and are so still. */
  fromCache(credentials: string | undefined): VerifiedToken | undefined
}

interface Entry extends Verification {
  readonly credentials: string
}

/**
 * A bounded memory of verified tokens. A mark finds an entry, and the whole text must be the entry's, so no two tokens
 * share one; the times are held against the clock at every meeting, and a key that has left the set takes its tokens along.
 */
export function verifiedCache(max: number, keys: KeySource, clock: () => number): VerifiedCache {
  const remembered = new LRUCache<number, Entry>({ max })
  const isMet = doorkeeper(max)
  /** While there is room for as many again, nobody asks which was used last. */
  const find = (mark: number) => (remembered.size < max / 2 ? remembered.peek(mark) : remembered.get(mark))

  function hasRoom(): boolean {
    if (remembered.size < max) return true
    const leastUsed = remembered.rvalues().next().value
    return leastUsed === undefined || clock() >= leastUsed.notAfter
  }

  return {
    add(credentials, { token, key, notBefore, notAfter }) {
      const mark = markOf(credentials)
      if (hasRoom() || isMet(mark)) remembered.set(mark, { credentials, token, key, notBefore, notAfter })
    },
    fromCache(credentials) {
      if (typeof credentials !== 'string') return undefined
      const mark = markOf(credentials)
      const entry = find(mark)
      if (entry?.credentials !== credentials) return undefined
      const now = clock()
      if (now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key) return entry.token
      remembered.delete(mark)
      return undefined
    },
  }
}

/**
 * The last characters of a token are of its signature, so they are as good as drawn by lot: a hash that costs nothing, where
 * that of the whole text costs more than all else that is done to recall it.
 */
export function markOf(text: string): number {
  let mark = 0
  for (let at = text.length - 8; at < text.length; at++) mark = Math.imul(mark, 71) + text.charCodeAt(at)
  return mark >>> 1
}

/**
 * Tells whether a token was met before, as far as it remembers. Where more tokens are about than can be remembered, those that come
 * once would drive out those that come often, and be kept just long enough to be dear to clear away. A mark has two places to be in, of
 * which the one to give up is drawn by lot: two that come by turns and had but one place between them would never be known.
 */
function doorkeeper(max: number): (mark: number) => boolean {
  const places = new Uint32Array(2 ** Math.max(1, Math.ceil(Math.log2(max))))
  let lot = 1
  return (mark) => {
    const first = (2 * mark) % places.length
    if (places[first] === mark || places[first + 1] === mark) return true
    // A linear congruential generator: its highest bit is good enough to choose between two, and the same at every run.
    lot = (Math.imul(lot, 1664525) + 1013904223) | 0
    places[first + (lot >>> 31)] = mark
    return false
  }
}

/** Every token takes the full way every time. */
export const NO_CACHE: VerifiedCache = { add() {}, fromCache: () => undefined }
