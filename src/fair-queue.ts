/**
 * Where a request comes from.
 * @inline
 */
export interface Source {
  /** The client's network: an IPv4 address, an IPv6 /64, or `'unknown'`. */
  readonly network: string
  /** The connection, compared by identity. Requests without one share a lane. */
  readonly connection: object | undefined
}

/** How many items may wait: in total, of one client network, and of one connection. */
export interface QueueLimits {
  readonly total: number
  readonly perNetwork: number
  readonly perConnection: number
}

/** A bounded queue that serves client networks in turn, and within a network its connections in turn. */
export interface FairQueue<T extends object> {
  /** Adds an item at the end of its connection's lane. Returns false when a limit is reached. */
  add(source: Source, item: T): boolean
  /** Takes the next item; undefined when nothing waits. */
  take(): T | undefined
  /** Removes a waiting item. Returns whether it was waiting. */
  remove(source: Source, item: T): boolean
  readonly size: number
}

interface Network<T> {
  size: number
  readonly lanes: Map<object | undefined, Set<T>>
}

/**
 * Creates a fair queue. It calls `drop` with items that have to give way:
 *
 * - A connection that exceeds its limit loses all its items. Responses leave a connection in order, so answering only the surplus
 *   would keep it in memory behind those that wait.
 * - When the queue is full, a network that has more items waiting than the new item's network loses one of its newest items.
 */
export function createFairQueue<T extends object>(limits: QueueLimits, drop: (item: T) => void): FairQueue<T> {
  // A Map keeps the order of insertion: the first key is the next one to be served.
  const networks = new Map<string, Network<T>>()
  let size = 0

  function remove({ network: name, connection }: Source, item: T): boolean {
    const network = networks.get(name)
    const lane = network?.lanes.get(connection)
    if (!network || !lane?.delete(item)) return false
    size--
    network.size--
    if (lane.size === 0) network.lanes.delete(connection)
    if (network.size === 0) networks.delete(name)
    return true
  }

  function dropAll(source: Source, lane: ReadonlySet<T>): void {
    for (const item of [...lane]) {
      remove(source, item)
      drop(item)
    }
  }

  /** Makes room for an item of a network that has `own` items waiting. Returns whether there is room. */
  function makeRoom(own: number): boolean {
    if (size < limits.total) return true
    const [name, network] = largest(networks, ({ size }) => size) ?? []
    if (name === undefined || !network || network.size <= own + 1) return false
    const [connection, lane] = largest(network.lanes, ({ size }) => size) ?? []
    const newest = [...(lane ?? [])].at(-1)
    if (!newest || !remove({ network: name, connection }, newest)) return false
    drop(newest)
    return true
  }

  return {
    add(source, item) {
      const waiting = networks.get(source.network)
      const own = waiting?.size ?? 0
      const lane = waiting?.lanes.get(source.connection)
      if (lane && lane.size >= limits.perConnection) {
        dropAll(source, lane)
        return false
      }
      if (own >= limits.perNetwork || !makeRoom(own)) return false
      const network = getOrCreate(networks, source.network, () => ({ size: 0, lanes: new Map() }))
      getOrCreate(network.lanes, source.connection, () => new Set<T>()).add(item)
      network.size++
      size++
      return true
    },
    take() {
      const [name, network] = first(networks) ?? []
      const [connection, lane] = (network && first(network.lanes)) ?? []
      const [item] = lane ?? []
      if (name === undefined || !network || !lane || !item) return undefined
      remove({ network: name, connection }, item)
      moveToEnd(networks, name)
      moveToEnd(network.lanes, connection)
      return item
    },
    remove,
    get size() {
      return size
    },
  }
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  return map.entries().next().value
}

function moveToEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

function largest<K, V>(map: ReadonlyMap<K, V>, sizeOf: (value: V) => number): [K, V] | undefined {
  let found: [K, V] | undefined
  for (const entry of map) if (!found || sizeOf(entry[1]) > sizeOf(found[1])) found = entry
  return found
}
