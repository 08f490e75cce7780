import type { Verification } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import { KEY_LENGTH, recentMap } from './recent-map.js'
import type { VerifiedToken } from './verified-token.js'

/**
 * Creates a cache of the `size` tokens that were used last. Refusals are not cached. A full cache adds a token when it is verified for the
 * second time. So tokens that come once displace no others, and leave no garbage that has grown old, which Node collects slowly.
 */
export function verifiedCache(size: number, keys: KeySource, clock: () => number) {
  const entries = recentMap<Verification>(size)
  let isRepeated: ((id: string) => boolean) | undefined
  return {
    add(verification: Verification): void {
      const id = verification.text.slice(-KEY_LENGTH)
      if (!entries.hasRoom()) {
        isRepeated ??= createSightings(size)
        if (!isRepeated(id)) return
      }
      entries.set(id, verification)
    },
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

/**
 * Creates a function that returns whether a text came before, among about the last `size`. It holds a number for each text. Two texts may
 * have the same number, and then the second text counts as repeated.
 */
function createSightings(size: number) {
  const sightings = new Int32Array(size)
  return (text: string): boolean => {
    let hash = 0
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
    const at = (hash >>> 0) % size
    const isRepeated = sightings[at] === hash
    sightings[at] = hash
    return isRepeated
  }
}

/** Verifies every token every time. */
export const NO_CACHE: ReturnType<typeof verifiedCache> = { add() {}, fromCache: () => undefined }
