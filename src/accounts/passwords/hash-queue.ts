import { availableParallelism } from 'node:os'
import { AuthError } from '../../refusals/auth-error.js'
import { createFairQueue, type QueueLimits, type Source } from '../../waiting/fair-queue.js'
import { withDeadline } from '../../waiting/host-call.js'

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
  /**
   * Called when a slot is free. With false, the login waits until another login has left. An error ends the wait. Default: every
   * login gets the slot.
   */
  admit?: (() => boolean) | undefined
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

/** A thread is free after that many time limits, because a host's own hasher may never end. */
const MOST_TIMEOUTS = 12

const NOWHERE: Source = { network: 'unknown', connection: undefined }

/** Limits how many passwords are hashed at a time and how many logins wait, and shares the wait between client networks. */
export function createHashQueue(concurrency: number, queue: number) {
  const most = Math.min(concurrency * SLOTS_PER_THREAD, concurrency + queue)
  /** A login may wait for others of its account while slots are free, so the room depends on the slots that are held. */
  const limits = {
    get total() {
      return concurrency + queue - slots.held
    },
    get perNetwork() {
      return Math.ceil(limits.total / 2)
    },
    perConnection: PER_CONNECTION,
  }
  const slots: Gate = createGate(most, limits)
  const threads = createGate(concurrency, { total: most, perNetwork: most, perConnection: most })

  /**
   * Waits for a slot, which a login holds from before the look-up until its work is done.
   * @throws AuthError `overloaded` when the queue is full or the wait is too long, `client_closed_request`; what `admit` throws
   */
  async function acquire(request: SlotRequest = {}) {
    const { source, signal, timeout } = request
    const since = performance.now()
    await slots.enter(request)
    /** The login, and tasks that have not ended after their time limit. */
    let users = 1
    let hasThread = false
    let hasLeft = false

    function release(): void {
      users--
      // The login may end before its task, which makes room for others of its account.
      slots.leave(users === 0 ? 1 : 0)
    }

    /**
     * Waits for a hashing thread, for the next `run`.
     * @param limits default: those of the request, with the rest of its time
     * @throws AuthError `client_closed_request`, or `overloaded` after the timeout
     */
    async function start(
      limits: SlotRequest = { signal, timeout: timeout && Math.ceil(since + timeout - performance.now()) },
    ): Promise<void> {
      if (hasThread) return
      await threads.enter({ source, ...limits })
      hasThread = true
    }

    /**
     * Runs a task on the thread of `start`. The thread is free when the task has ended, which may be after the time limit, and at the
     * latest after 12 time limits.
     * @param external true when another service does the work, so that it needs no thread after the time limit
     * @throws Error when the task takes longer than the timeout of the request
     */
    function run<T>(task: () => T | Promise<T>, external = false): Promise<T> {
      hasThread = false
      users++
      const done = Promise.resolve().then(task)
      const end = () => {
        threads.leave()
        release()
      }
      withDeadline(timeout && timeout * (external ? 1 : MOST_TIMEOUTS), done).then(end, end)
      return withDeadline(timeout, done)
    }

    function leave(): void {
      if (hasLeft) return
      hasLeft = true
      if (hasThread) threads.leave()
      release()
    }

    return { start, run, leave }
  }

  const load = (): HashQueueLoad => ({ active: threads.held, waiting: slots.waiting + slots.held - threads.held })

  return { acquire, load }
}

type Gate = ReturnType<typeof createGate>

/** Creates room for some logins at a time. The others wait in a fair queue. */
function createGate(most: number, limits: QueueLimits) {
  const queue = createFairQueue<{ admit(): boolean; start(): void; drop(): void }>(limits, ({ drop }) => drop())
  let held = 0

  function wait({ source = NOWHERE, signal, timeout, admit }: SlotRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        if (slot) queue.remove(slot)
        clearTimeout(timer)
        signal?.removeEventListener('abort', disconnect)
        end()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const overloaded = () => fail(new AuthError('overloaded'))
      const disconnect = () => fail(new AuthError('client_closed_request'))
      const admitOrFail = () => {
        try {
          return admit?.() ?? true
        } catch (error) {
          fail(error)
          return false
        }
      }
      const timer = timeout === undefined ? undefined : setTimeout(overloaded, timeout)
      signal?.addEventListener('abort', disconnect)
      const slot = queue.add(source, { admit: admitOrFail, start: () => settle(resolve), drop: overloaded })
      // Without others, nobody would call this login when there is room for it.
      if (!slot || held === 0) overloaded()
    })
  }

  return {
    async enter(request: SlotRequest): Promise<void> {
      const { signal, timeout = Number.POSITIVE_INFINITY, admit } = request
      if (signal?.aborted) throw new AuthError('client_closed_request')
      // A slow look-up may have used up the time, also while there is room.
      if (timeout <= 0) throw new AuthError('overloaded')
      if (held < most && (admit?.() ?? true)) held++
      else await wait(request)
    },
    /** Frees some places, or none, and lets waiting logins enter that may enter by now. */
    leave(places = 1): void {
      held -= places
      while (held < most && queue.size > 0) {
        const next = queue.take((waiter) => waiter.admit())
        if (!next) return
        held++
        next.start()
      }
    },
    get held() {
      return held
    },
    get waiting() {
      return queue.size
    },
  }
}
