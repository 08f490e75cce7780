import { availableParallelism } from 'node:os'
import { MOST_TIMEOUTS, withDeadline } from '../concurrency/host-call.js'
import { createQueue, type Leave, type SlotRequest } from '../concurrency/queue.js'
import { bare, own } from '../options/values.js'

/** The load of the password checks, for metrics. */
export interface HashQueueLoad {
  /** Passwords that are being hashed. */
  active: number
  /** Logins that wait. */
  waiting: number
}

/** Returns one less than libuv's threads, so that one thread is free for files and DNS. Returns at most the number of cores. */
export function defaultConcurrency(): number {
  const threads = Number(process.env['UV_THREADPOOL_SIZE']) || 4
  return Math.max(1, Math.min(threads - 1, availableParallelism()))
}

/** Logins for each hashing thread that may look up their account while others hash. Keeps threads busy with a slow store. */
const SLOTS_PER_THREAD = 32

/** Limits how many passwords are hashed at a time and how many logins wait, and shares the wait between client networks. */
export function createHashQueue(concurrency: number, queue: number) {
  const most = Math.min(concurrency * SLOTS_PER_THREAD, concurrency + queue)
  /** A login may wait for others of its account while slots are free, so the room depends on the slots that are held. */
  const limits = {
    get total() {
      return concurrency + queue - slots.active
    },
    get perNetwork() {
      return Math.ceil(limits.total / 2)
    },
  }
  const slots: ReturnType<typeof createQueue> = createQueue(most, limits)
  const threads = createQueue(concurrency, { total: most, perNetwork: most })

  /**
   * Waits for a slot, which a login holds from before the look-up until its work is done.
   * @throws AuthError `overloaded` when the queue is full or the wait is too long, `client_closed_request`; what `admit` throws
   */
  async function acquire(given: SlotRequest = {}) {
    const { network, signal, timeout } = bare(given)
    const since = performance.now()
    const leaveSlot = await slots.enter(given)
    /** The login, and tasks that have not ended after their time limit. */
    let users = 1
    /** The hashing threads that wait for their task. */
    const threadsHeld: Leave[] = []
    let hasLeft = false

    function release(): void {
      users--
      // The login may end before its task, which makes room for others of its account.
      if (users === 0) leaveSlot()
      else slots.serve()
    }

    /**
     * Waits for a hashing thread, for the next `run`.
     * @param limits default: those of the request, with the rest of its time
     * @throws AuthError `client_closed_request`, or `overloaded` after the timeout
     */
    async function start(
      limits: SlotRequest = { signal, timeout: timeout && Math.ceil(since + timeout - performance.now()) },
    ): Promise<void> {
      if (threadsHeld.length > 0) return
      const leaveThread = await threads.enter({
        network,
        signal: own(limits, 'signal'),
        timeout: own(limits, 'timeout'),
      })
      // The login may have ended meanwhile.
      if (hasLeft) leaveThread()
      else threadsHeld.push(leaveThread)
    }

    /**
     * Runs a task on the thread of `start`. The thread is free when the task has ended, which may be after the time limit, and at the
     * latest after 12 time limits.
     * @param external true when another service does the work, so that it needs no thread after the time limit
     * @throws Error when the task takes longer than the timeout of the request
     */
    function run<T>(task: () => T | Promise<T>, external = false): Promise<T> {
      const leaveThread = threadsHeld.pop()
      users++
      const done = Promise.resolve().then(task)
      const end = () => {
        leaveThread?.()
        release()
      }
      withDeadline(timeout && timeout * (external ? 1 : MOST_TIMEOUTS), done).then(end, end)
      return withDeadline(timeout, done)
    }

    function leave(): void {
      if (hasLeft) return
      hasLeft = true
      for (const leaveThread of threadsHeld.splice(0)) leaveThread()
      release()
    }

    return { start, run, leave }
  }

  const load = (): HashQueueLoad => ({ active: threads.active, waiting: slots.waiting + slots.active - threads.active })

  return { acquire, load }
}
