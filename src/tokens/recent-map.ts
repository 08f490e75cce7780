/**
 * Creates a map that keeps the `size` entries that were used last. It holds them in two maps of at most `size` entries. An entry that is
 * used moves to the recent map. When the recent map is full, it becomes the older one, whose other entries give way.
 *
 * The tokens do not use lru-cache, because each request with a known token does one look-up: 130 ns here and 180 ns there (Node 24, 5,000
 * entries). A service that only verifies tokens does not load lru-cache at all.
 */
export function recentMap<V>(size: number) {
  let older = new Map<string, V>()
  const map = {
    /** The entries that were used since it was empty. Look here first. */
    recent: new Map<string, V>(),
    /** Returns an entry that is not in `recent`, and moves it there. */
    older(key: string): V | undefined {
      const found = older.get(key)
      if (found !== undefined) map.set(key, found)
      return found
    },
    /** Returns whether a further entry displaces none. */
    hasRoom: () => map.recent.size + older.size < size,
    set(key: string, value: V): void {
      if (map.recent.size >= size) {
        older = map.recent
        map.recent = new Map()
      }
      map.recent.set(key, value)
    },
    delete(key: string): void {
      map.recent.delete(key)
      older.delete(key)
    },
  }
  return map
}

/**
 * The length of a token's key in a map: its last characters. They belong to the signature, so they differ between tokens, and are faster to
 * hash than the whole token. Compare the whole text too, because a forged token may have the same last characters.
 */
export const KEY_LENGTH = 16
