/** The entries that each sweep checks. More than one, so that the map does not grow for ever. */
const SWEPT = 4

type Read<T> = (entry: T) => string

/** Creates a map of entries that expire, unless their expiration is null, which also lists the entries of an owner. Sweep it before each new entry. */
export function expiringMap<T extends { readonly expiresAt: Date | null }>(keyOf: Read<T>, ownerOf: Read<T>) {
  const entries = new Map<string, T>()
  const owners = new Map<string, Map<string, T>>()
  let swept = entries.values()

  const entriesOf = (owner: string) => owners.get(owner) ?? new Map<string, T>()

  function remove(entry: T): void {
    entries.delete(keyOf(entry))
    const left = entriesOf(ownerOf(entry))
    left.delete(keyOf(entry))
    if (left.size === 0) owners.delete(ownerOf(entry))
  }

  return {
    get: (key: string) => entries.get(key),
    list: (owner: string) => [...entriesOf(owner).values()],
    set(entry: T): void {
      entries.set(keyOf(entry), entry)
      owners.set(ownerOf(entry), entriesOf(ownerOf(entry)).set(keyOf(entry), entry))
    },
    remove,
    /** Continues where the last call ended, so that one call costs the same however many entries there are. */
    sweep(now: Date): void {
      for (let i = 0; i < SWEPT; i++) {
        const { value: entry, done } = swept.next()
        if (done) {
          swept = entries.values()
          return
        }
        if (entry.expiresAt !== null && entry.expiresAt <= now) remove(entry)
      }
    },
  }
}
