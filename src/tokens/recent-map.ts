/** A map that keeps the entries that were used last. */
export interface RecentMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

/**
 * Creates a map that keeps the `size` entries that were used last. It holds them in two maps of at most `size` entries. An entry that is
 * used moves to the recent map. When the recent map is full, it becomes the older one, whose other entries give way.
 */
export function recentMap<V>(size: number): RecentMap<V> {
  let recent = new Map<string, V>()
  let older = new Map<string, V>()

  function set(key: string, value: V): void {
    if (recent.size >= size) {
      older = recent
      recent = new Map()
    }
    recent.set(key, value)
  }

  return {
    set,
    get(key) {
      const found = recent.get(key)
      if (found !== undefined) return found
      const old = older.get(key)
      if (old !== undefined) set(key, old)
      return old
    },
    delete(key) {
      recent.delete(key)
      older.delete(key)
    },
  }
}

/**
 * Returns the key of a token in a map: its last characters. They belong to the signature, so they differ between tokens, and are faster to
 * hash than the whole token. Compare the whole text too, because a forged token may have the same last characters.
 */
export const keyOfToken = (text: string): string => text.slice(-16)
