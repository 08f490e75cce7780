import { AuthError } from '../errors/auth-error.js'
import { own } from '../options/values.js'
import { createFairQueue, type QueueLimits, type Source } from './fair-queue.js'

/** The most items that may be inside at the same time. */
interface GateLimits {
  readonly total: number
  /** The most items of one client network. It may have at most as many as are still free. Default: only `total`. */
  readonly perNetwork?: number
  /** The most items of one connection. Default: only `total`. */
  readonly perConnection?: number
}

interface GateOptions {
  /** The queue for items that find no room. Without a queue, they are refused. */
  queue?: QueueLimits
  /** Creates the error of a refused item. Default: an `AuthError` `overloaded`. */
  refusal?: () => Error
}

/**
 * An item that asks to enter.
 * @inline
 */
export interface EnterRequest {
  /** The origin of the item. Default: a common one. */
  source?: Source | undefined
  /** Aborted when the client has disconnected, which ends the wait. */
  signal?: AbortSignal | undefined
  /** The time limit for the wait, in milliseconds. Default: none. */
  timeout?: number | undefined
  /** Called when there is room. With false, the item waits until another one has left. An error ends the wait. Default: it enters. */
  admit?: (() => boolean) | undefined
}

/** Leaves. A second call does nothing. */
export type Leave = () => void

/** An item inside. `refuse` is removed when the item has left, because Node may collect this object much later than the request. */
interface Inside {
  /** Refuses the item, whose task continues. Null when nothing may refuse it any more, undefined after it has left. */
  refuse?: (() => void) | null | undefined
}

interface Waiting {
  source: Source
  admit(): boolean
  enter(leave: Leave): void
  drop(): void
}

/** Returns a request that has all members itself. Faster than a copy without a prototype. */
export function ownRequest(given: EnterRequest): EnterRequest {
  const [source, signal] = [own(given, 'source'), own(given, 'signal')]
  return { source, signal, timeout: own(given, 'timeout'), admit: own(given, 'admit') }
}

export const NOWHERE: Source = { network: 'unknown', connection: undefined }

/**
 * Creates a limit for items that are inside at the same time: in total, of one client network and of one connection.
 *
 * With a queue, an item without room waits, and networks and their connections enter in turn. Without a queue, it is refused. When a
 * connection without a queue exceeds its limit, all its items are refused, because responses leave a connection in order and later ones
 * would stay in memory. Their tasks continue, and still count.
 */
export function createGate(limits: GateLimits, { queue: queueLimits, refusal = overloaded }: GateOptions = {}) {
  const { total, perNetwork = Number.POSITIVE_INFINITY, perConnection = Number.POSITIVE_INFINITY } = limits
  const queue = queueLimits && createFairQueue<Waiting>(queueLimits, (item) => item.drop())
  const networks = new Map<string, number>()
  const connections = new WeakMap<object, Set<Inside>>()
  let inside = 0

  const ofConnection = ({ connection }: Source) => connection && connections.get(connection)

  function hasRoom(source: Source): boolean {
    const most = Math.min(perNetwork, total - inside)
    return (networks.get(source.network) ?? 0) < most && (ofConnection(source)?.size ?? 0) < perConnection
  }

  function admit(source: Source, item: Inside): Leave {
    const { network, connection } = source
    inside++
    if (perNetwork < Number.POSITIVE_INFINITY) networks.set(network, (networks.get(network) ?? 0) + 1)
    if (connection) {
      const items = connections.get(connection)
      if (items) items.add(item)
      else connections.set(connection, new Set([item]))
    }
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      item.refuse = undefined
      inside--
      const others = (networks.get(network) ?? 0) - 1
      if (others > 0) networks.set(network, others)
      else networks.delete(network)
      ofConnection(source)?.delete(item)
      enterWaiting()
    }
  }

  /** Enters at once, or returns undefined. */
  function tryEnter(source: Source = NOWHERE, item: Inside = {}): Leave | undefined {
    const pipelined = queue ? undefined : ofConnection(source)
    if (pipelined && pipelined.size >= perConnection) {
      for (const other of pipelined) {
        other.refuse?.()
        // Each further item of the connection would create an error for every other one again.
        other.refuse &&= undefined
      }
    }
    return hasRoom(source) ? admit(source, item) : undefined
  }

  /** Lets waiting items enter that may enter by now. */
  function enterWaiting(): void {
    while (inside < total) {
      const next = queue?.take((item) => hasRoom(item.source) && item.admit())
      if (!next) break
      next.enter(admit(next.source, {}))
    }
    // Nothing would call them any more.
    while (inside === 0) {
      const next = queue?.take()
      if (!next) break
      next.drop()
    }
  }

  function wait(
    waiters: NonNullable<typeof queue>,
    { source = NOWHERE, signal, timeout, admit: mayEnter }: EnterRequest,
  ): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        if (slot) waiters.remove(slot)
        clearTimeout(timer)
        signal?.removeEventListener('abort', disconnect)
        end()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const drop = () => fail(refusal())
      const disconnect = () => fail(new AuthError('client_closed_request'))
      const admitOrFail = () => {
        try {
          return mayEnter?.() ?? true
        } catch (error) {
          fail(error)
          return false
        }
      }
      const timer = timeout === undefined ? undefined : setTimeout(drop, timeout)
      signal?.addEventListener('abort', disconnect)
      const enter = (leave: Leave) => settle(() => resolve(leave))
      const slot = waiters.add(source, { source, admit: admitOrFail, enter, drop })
      // Without others, nothing would call this item when there is room for it.
      if (!slot || inside === 0) drop()
    })
  }

  return {
    tryEnter,
    /**
     * Enters, or waits in the queue.
     * @throws the error of `refusal` when the queue is full or the wait is too long; AuthError `client_closed_request`; an error of `admit`
     */
    async enter(given: EnterRequest = {}): Promise<Leave> {
      const request = ownRequest(given)
      const { source, signal, timeout = Number.POSITIVE_INFINITY, admit: mayEnter } = request
      if (signal?.aborted) throw new AuthError('client_closed_request')
      // An earlier step may have used up the time, also while there is room.
      if (timeout <= 0) throw refusal()
      const leave = hasRoom(source ?? NOWHERE) && (mayEnter?.() ?? true) ? admit(source ?? NOWHERE, {}) : undefined
      if (leave) return leave
      if (!queue) throw refusal()
      return wait(queue, request)
    },
    /**
     * Runs a task that is inside until it has settled. The task receives a function that returns whether the item still waits for it. From
     * the first call on, the item is not refused any more.
     * @throws the error of `refusal` when there is no room; the rejection of the task
     */
    run<T>(source: Source, task: (isWaiting: () => boolean) => PromiseLike<T> | T): Promise<T> {
      return new Promise((resolve, reject) => {
        const item: Inside = { refuse: () => reject(refusal()) }
        const leave = tryEnter(source, item)
        if (!leave) return reject(refusal())
        const isWaiting = () => {
          item.refuse &&= null
          return item.refuse === null
        }
        const run = async () => task(isWaiting)
        // Leaves first, because the request may enter again for its next task.
        run().finally(leave).then(resolve, reject)
      })
    },
    enterWaiting,
    get inside() {
      return inside
    },
    get waiting() {
      return queue?.size ?? 0
    },
  }
}

export type Gate = ReturnType<typeof createGate>

const overloaded = () => new AuthError('overloaded')
