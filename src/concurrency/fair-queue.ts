/**
 * The origin of a request: network and connection.
 * @inline
 */
export interface Source {
  /** The client's network: an IPv4 address, an IPv6 /64, or `'unknown'`. */
  readonly network: string
  /** The connection, compared by identity. Requests without a connection share a lane and have no limit per connection. */
  readonly connection: object | undefined
}

/** The maximum number of waiting items: in total, for one client network, and for one connection. */
export interface QueueLimits {
  readonly total: number
  readonly perNetwork: number
  readonly perConnection: number
}

/**
 * The slot of an item in the queue, empty after the item has left. Node may collect a slot much later than its item: the tables of a
 * `Map` that has grown refer to each other.
 */
export interface QueueSlot<T> {
  readonly source: Source
  item: T | undefined
}

/** The waiting items of one network, in a lane for each connection. */
interface Network<T> {
  size: number
  readonly lanes: Map<object | undefined, Set<QueueSlot<T>>>
}

/**
 * Creates a bounded queue that alternates between client networks, and within a network between connections. It calls `drop` with each
 * item that it removes to enforce its limits:
 *
 * - A connection that exceeds its limit loses all its items. Responses leave a connection in order, so a response to the surplus
 *   request would stay in memory until the waiting requests are done.
 * - When the queue is full, the network with the most waiting items loses one of its newest items. It must have more items than
 *   the new item's network.
 */
export function createFairQueue<T extends object>(limits: QueueLimits, drop: (item: T) => void) {
  // A Map keeps the order of insertion, so the first key is the next network to serve.
  const networks = new Map<string, Network<T>>()
  const connections = new Map<object | undefined, Set<QueueSlot<T>>>()

  /** Empties a slot, and returns its item. */
  function leave(slot: QueueSlot<T>): T | undefined {
    const { item, source } = slot
    const network = networks.get(source.network)
    if (!item || !network) return undefined
    slot.item = undefined
    queue.size--
    network.size--
    deleteFrom(network.lanes, source.connection, slot)
    deleteFrom(connections, source.connection, slot)
    if (network.size === 0) networks.delete(source.network)
    return item
  }

  function dropAll(slots: Iterable<QueueSlot<T>>): void {
    for (const slot of [...slots]) {
      const item = leave(slot)
      if (item) drop(item)
    }
  }

  /** Makes room for an item of a network that has `others` items waiting. Returns whether there is room. */
  function makeRoom(others: number): boolean {
    if (queue.size < limits.total) return true
    const most = largest(networks.values())
    const lane = most && most.size > others + 1 && largest(most.lanes.values())
    if (!lane) return false
    dropAll([...lane].slice(-1))
    return true
  }

  const queue = {
    /** The number of waiting items. */
    size: 0,
    /** Adds an item at the end of its lane. Returns undefined when a limit is reached. */
    add(source: Source, item: T): QueueSlot<T> | undefined {
      const { network: name, connection } = source
      const pipelined = connection && connections.get(connection)
      if (pipelined && pipelined.size >= limits.perConnection) {
        dropAll(pipelined)
        return undefined
      }
      const others = networks.get(name)?.size ?? 0
      if (others >= limits.perNetwork || !makeRoom(others)) return undefined
      const network = getOrCreate(networks, name, () => ({ size: 0, lanes: new Map() }))
      const slot: QueueSlot<T> = { source, item }
      network.size++
      getOrCreate(network.lanes, connection, () => new Set<QueueSlot<T>>()).add(slot)
      getOrCreate(connections, connection, () => new Set<QueueSlot<T>>()).add(slot)
      queue.size++
      return slot
    },
    /**
     * Takes the next item that fits. Only the first item of each connection can be next. Returns undefined when none fits.
     * @param fits a question that may also remove the item. Default: every item fits
     */
    take(fits: (item: T) => boolean = () => true): T | undefined {
      for (const [name, network] of networks) {
        for (const [connection, lane] of network.lanes) {
          // A first item that was removed makes the next one the first.
          for (const slot of lane) {
            if (slot.item && fits(slot.item)) {
              const item = leave(slot)
              if (network.size > 0) moveToEnd(networks, name, network)
              if (lane.size > 0) moveToEnd(network.lanes, connection, lane)
              return item
            }
            if (lane.has(slot)) break
          }
        }
      }
      return undefined
    },
    /** Removes a waiting item. Returns whether it was waiting. */
    remove: (slot: QueueSlot<T>): boolean => leave(slot) !== undefined,
  }
  return queue
}

function deleteFrom<K, T>(map: Map<K, Set<T>>, key: K, item: T): void {
  const items = map.get(key)
  if (items?.delete(item) && items.size === 0) map.delete(key)
}

function moveToEnd<K, V>(map: Map<K, V>, key: K, value: V): void {
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

function largest<V extends { readonly size: number }>(all: Iterable<V>): V | undefined {
  let found: V | undefined
  for (const one of all) if (!found || one.size > found.size) found = one
  return found
}
