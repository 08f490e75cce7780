/** The maximum number of waiting items: in total, and for one client network. */
export interface QueueLimits {
  readonly total: number
  readonly perNetwork: number
}

/**
 * The slot of an item in the queue, empty after the item has left. Node may collect a slot much later than its item: the tables of a
 * `Map` that has grown refer to each other.
 */
export interface QueueSlot<T> {
  readonly network: string | undefined
  item: T | undefined
}

/**
 * Creates a bounded queue that alternates between client networks. When the queue is full, the network with the most waiting items loses
 * its newest one: the queue calls `drop` with it. That network must have more items than the new item's network.
 */
export function createFairQueue<T extends object>(limits: QueueLimits, drop: (item: T) => void) {
  // A Map keeps the order of insertion, so the first key is the next network to serve.
  const networks = new Map<string | undefined, Set<QueueSlot<T>>>()

  /** Empties a slot. Returns whether its item was waiting. */
  function remove(slot: QueueSlot<T>): boolean {
    const slots = networks.get(slot.network)
    if (!slots?.delete(slot)) return false
    slot.item = undefined
    queue.size--
    if (slots.size === 0) networks.delete(slot.network)
    return true
  }

  /** Makes room for an item of a network that has `others` items waiting. Returns whether there is room. */
  function makeRoom(others: number): boolean {
    if (queue.size < limits.total) return true
    let most = new Set<QueueSlot<T>>()
    for (const slots of networks.values()) if (slots.size > most.size) most = slots
    const newest = most.size > others + 1 ? [...most].at(-1) : undefined
    const item = newest?.item
    if (!newest || !item) return false
    remove(newest)
    drop(item)
    return true
  }

  const queue = {
    /** The number of waiting items. */
    size: 0,
    /** Adds an item after the others of its network. Returns undefined when a limit is reached. */
    add(network: string | undefined, item: T): QueueSlot<T> | undefined {
      const others = networks.get(network)?.size ?? 0
      if (others >= limits.perNetwork || !makeRoom(others)) return undefined
      const slot: QueueSlot<T> = { network, item }
      const slots = networks.get(network)
      if (slots) slots.add(slot)
      else networks.set(network, new Set([slot]))
      queue.size++
      return slot
    },
    /**
     * Takes the next item that fits. Returns undefined when none fits.
     * @param fits a question that may also remove the item. Default: every item fits
     */
    take(fits: (item: T) => boolean = () => true): T | undefined {
      for (const [network, slots] of networks) {
        for (const slot of slots) {
          const { item } = slot
          if (!item || !fits(item)) continue
          remove(slot)
          // The network is the last one now.
          if (networks.delete(network)) networks.set(network, slots)
          return item
        }
      }
      return undefined
    },
    remove,
  }
  return queue
}
