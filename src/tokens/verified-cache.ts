import { LRUCache } from 'lru-cache'
import type { KeySource } from './keys.js'
import type { VerifiedToken } from './verified-token.js'
import type { Verification } from './verify.js'

/** Remembers successes, and nothing else, by the credentials that brought them: `Bearer`, a space and the token. */
export interface VerifiedCache {
  remember(credentials: string, verification: Verification): void
  /** The token of credentials that were good before and are so still. */
  recall(credentials: string | undefined): VerifiedToken | undefined
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
  /** Which was used last is kept account of only where one may have to go. */
  const find = (mark: number) => (remembered.size < max ? remembered.peek(mark) : remembered.get(mark))
  return {
    remember(credentials, { token, key, notBefore, notAfter }) {
      const mark = markOf(credentials)
      if (remembered.size < max || isMet(mark)) remembered.set(mark, { credentials, token, key, notBefore, notAfter })
    },
    recall(credentials) {
      const entry = typeof credentials === 'string' ? find(markOf(credentials)) : undefined
      if (!entry || entry.credentials !== credentials) return undefined
      const now = clock()
      const holds = now >= entry.notBefore && now < entry.notAfter && keys.find(entry.key.kid) === entry.key
      return holds ? entry.token : undefined
    },
  }
}

/**
 * The last characters of a token are of its signature, so they are as good as drawn by lot: a hash that costs nothing, where
 * that of the whole text costs more than all else that is done to recall it.
 */
function markOf(text: string): number {
  let mark = 0
  for (let at = text.length - 8; at < text.length; at++) mark = Math.imul(mark, 71) + text.charCodeAt(at)
  return mark >>> 1
}

/**
 * Tells whether a token was met before, as far as it remembers. Where more tokens are about than can be remembered, those that come
 * once would drive out those that come often, and be kept just long enough to be dear to clear away.
 */
function doorkeeper(max: number): (mark: number) => boolean {
  const places = new Uint32Array(2 ** Math.ceil(Math.log2(max)))
  return (mark) => {
    const place = mark % places.length
    if (places[place] === mark) return true
    places[place] = mark
    return false
  }
}

/** Every token takes the full way every time. */
export const NO_CACHE: VerifiedCache = { remember() {}, recall: () => undefined }
