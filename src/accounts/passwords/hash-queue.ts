import { availableParallelism } from 'node:os'
import { AuthError } from '../../shared/errors.js'
import { withDeadline } from '../../shared/host-call.js'
import { createFairQueue, type FairQueue, type QueueSlot, type Source } from '../../shared/queues/fair-queue.js'

/** The load of the password checks, for metrics. */
export interface HashQueueLoad {
  /** Passwords that are being hashed. */
  active: number
  /** Logins that wait. */
  waiting: number
}

/**
 * The options for one queue slot.
 * @inline
 */
export interface SlotRequest {
  /** The origin of the request. The queue alternates between networks and their connections. Default: a common source. */
  source?: Source | undefined
  /** Aborted when the client has disconnected. A hash that has begun is finished, and keeps its slot until then. */
  signal?: AbortSignal | undefined
  /** The time limit for the wait until the hash begins, and again for the hash, in milliseconds. Default: none. */
  timeout?: number | undefined
}

/**
 * The limits of one hash.
 * @inline
 */
export interface RunRequest extends SlotRequest {
  /** Time limit for the wait for a hashing thread, in milliseconds. Default: the timeout. */
  waitTimeout?: number | undefined
}

/** A login's slot, held from before the look-up until the work is done. */
export interface HashSlot {
  /** The time of the call of `acquire`, by `performance.now()`. */
  readonly since: number
  leave(): void
}

export interface HashQueue {
  /**
   * Waits for a slot.
   * @throws AuthError `overloaded` when the queue is full or the wait is too long, `client_closed_request`
   */
  acquire(request?: SlotRequest): Promise<HashSlot>
  /**
   * Runs a task of a login that holds a slot as soon as fewer than `concurrency` others run. A task that takes too long makes room for
   * the next one, although it may never end.
   * @throws AuthError `client_closed_request`, or `overloaded` when it would start too late; Error when the task takes too long
   */
  run<T>(task: () => T | Promise<T>, request?: RunRequest): Promise<T>
  load(): HashQueueLoad
}

/** Returns one less than libuv's threads, so that one thread is free for files and DNS. Returns at most the number of cores. */
export function defaultConcurrency(): number {
  const threads = Number(process.env['UV_THREADPOOL_SIZE']) || 4
  return Math.max(1, Math.min(threads - 1, availableParallelism()))
}

/** Logins for each hashing thread that may look up their account while others hash. Keeps threads busy with a slow store. */
const SLOTS_PER_THREAD = 32

/** The most waiting logins of one connection. Only a client that pipelines requests has more than one. */
const PER_CONNECTION = 64

const NOWHERE: Source = { network: 'unknown', connection: undefined }

/** A waiting login. The queue calls `start` when a slot is free, or `drop` to enforce its limits. */
interface Waiter {
  start(): void
  drop(): void
}

/** Limits how many passwords are hashed at a time and how many logins wait, and shares the wait between client networks. */
export function createHashQueue(concurrency: number, queue: number): HashQueue {
  const slots = Math.min(concurrency * SLOTS_PER_THREAD, concurrency + queue)
  const total = concurrency + queue - slots
  const perNetwork = Math.ceil(total / 2)
  const waiting = createFairQueue<Waiter>({ total, perNetwork, perConnection: PER_CONNECTION }, ({ drop }) => drop())
  const ready = createFairQueue<Waiter>({ total: slots, perNetwork: slots, perConnection: slots }, ({ drop }) => drop())
  let held = 0
  let active = 0

  async function acquire({ source = NOWHERE, signal, timeout }: SlotRequest = {}): Promise<HashSlot> {
    const since = performance.now()
    if (held < slots) held++
    else await wait(waiting, source, { signal, timeout })
    let left = false
    return {
      since,
      leave() {
        if (left) return
        left = true
        // The next login inherits the slot.
        if (waiting.size > 0) waiting.take()?.start()
        else held--
      },
    }
  }

  async function run<T>(
    task: () => T | Promise<T>,
    { source = NOWHERE, signal, timeout, waitTimeout = timeout }: RunRequest = {},
  ): Promise<T> {
    if (signal?.aborted) throw new AuthError('client_closed_request')
    // A slow look-up may have used up the time, also while a thread is free.
    if (waitTimeout !== undefined && waitTimeout <= 0) throw new AuthError('overloaded')
    if (active < concurrency) active++
    else await wait(ready, source, { signal, timeout: waitTimeout })
    try {
      return await withDeadline(timeout, task)
    } finally {
      if (ready.size > 0) ready.take()?.start()
      else active--
    }
  }

  return {
    acquire,
    run,
    load: () => ({ active, waiting: waiting.size + held - active }),
  }
}

/** Waits in a queue until `start` is called. */
function wait(
  queue: FairQueue<Waiter>,
  source: Source,
  { signal, timeout }: Pick<SlotRequest, 'signal' | 'timeout'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let slot: QueueSlot<Waiter> | undefined
    const settle = (end: () => void) => {
      if (slot) queue.remove(slot)
      clearTimeout(timer)
      signal?.removeEventListener('abort', disconnect)
      end()
    }
    const overloaded = () => settle(() => reject(new AuthError('overloaded')))
    const disconnect = () => settle(() => reject(new AuthError('client_closed_request')))
    const waiter: Waiter = { start: () => settle(resolve), drop: overloaded }
    const timer = timeout === undefined ? undefined : setTimeout(overloaded, timeout)
    signal?.addEventListener('abort', disconnect)
    if (signal?.aborted) return disconnect()
    slot = queue.add(source, waiter)
    if (!slot) overloaded()
  })
}
