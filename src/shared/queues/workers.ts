// Not the global, because an authorization must end also while a host's tests fake the timers.
import { setImmediate } from 'node:timers'
import { createFairQueue, type FairQueue } from './fair-queue.js'

type Task = () => Promise<void>

/** Runs tasks, at most a given number of them at the same time. When tasks wait, the callers take turns. */
export interface Workers {
  /** @returns a function that removes the task while it waits, and returns whether it was waiting */
  run(caller: string, task: Task): () => boolean
}

/** Each caller of `closeWhenEnded` has at most one task for each connection, so the connections limit the queue. */
const NO_LIMITS = { total: Infinity, perNetwork: Infinity, perConnection: Infinity }

/** Creates workers. */
export function createWorkers(most: number): Workers {
  let waiting: FairQueue<{ readonly task: Task }> | undefined
  let running = 0

  function start(task: Task): void {
    // The event loop turns between two tasks, so that many short tasks do not delay the requests.
    task().finally(() => setImmediate(finish))
  }

  function finish(): void {
    const next = waiting?.take()
    if (next) start(next.task)
    else running--
  }

  return {
    run(caller, task) {
      if (running < most) {
        running++
        start(task)
        return () => false
      }
      const queue = waiting ?? createFairQueue(NO_LIMITS, () => {})
      const slot = queue.add({ network: caller, connection: undefined }, { task })
      waiting = queue
      return () => slot !== undefined && queue.remove(slot)
    },
  }
}

/** Workers for the tasks of several owners. A slow owner cannot occupy all of them. */
export interface SharedWorkers {
  /** @returns a function that removes the task while it waits */
  run(owner: object, caller: string, task: Task): () => void
}

/** Creates workers that run at most `total` tasks at the same time, and at most `perOwner` of one owner. */
export function createSharedWorkers({ total, perOwner }: { total: number; perOwner: number }): SharedWorkers {
  const all = createWorkers(total)
  const owners = new WeakMap<object, Workers>()

  return {
    run(owner, caller, task) {
      const own = owners.get(owner) ?? createWorkers(perOwner)
      owners.set(owner, own)
      let leave = () => {}
      const runShared = () =>
        new Promise<void>((resolve) => {
          const remove = all.run(caller, () => task().finally(resolve))
          leave = () => {
            if (remove()) resolve()
          }
        })
      const remove = own.run(caller, runShared)
      return () => {
        remove()
        leave()
      }
    },
  }
}
