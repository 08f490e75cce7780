import { availableParallelism } from 'node:os'
import { within } from '../dependency.js'
import { AuthError } from '../errors.js'

/** How busy a gate is; for metrics. */
export interface GateLoad {
  /** Tasks that run. */
  active: number
  /** Tasks that wait for their turn. */
  waiting: number
}

/**
 * For how long, and for whom, a task is worth its turn.
 * @inline
 */
export interface TaskLimits {
  /** The client has gone. A task that runs goes on, and keeps its turn: else a client could make as many run as it likes. */
  gone?: AbortSignal | undefined
  /** How long it may wait for its turn, and how long it may then take, each; milliseconds. Default: forever. */
  patience?: number | undefined
}

/** A place in a gate, held from before the first look-up until the work is done. */
export interface GatePlace {
  /**
   * Runs a task when its turn comes. One that takes too long passes its turn on, though it may never end.
   * @throws AuthError `client_closed_request` or `overloaded` when its turn came too late; Error when it takes too long
   */
  run<T>(task: () => T | Promise<T>, limits?: TaskLimits): Promise<T>
  leave(): void
}

export interface Gate {
  /** @throws AuthError `overloaded` when all places are taken */
  enter(): GatePlace
  load(): GateLoad
}

/**
 * One less than libuv's threads, so that files and DNS find one free, and one less than the cores, so that the event loop
 * has one to itself while passwords are hashed.
 */
export function defaultConcurrency(): number {
  const threads = Number(process.env['UV_THREADPOOL_SIZE']) || 4
  return Math.max(1, Math.min(threads, availableParallelism()) - 1)
}

/** Bounds how much hashing goes on at a time, and how much may wait. */
export function createGate(concurrency: number, queue: number): Gate {
  let places = 0
  let active = 0
  const waiting = new Set<() => void>()

  function turn({ gone, patience }: TaskLimits): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        waiting.delete(start)
        gone?.removeEventListener('abort', giveUp)
        clearTimeout(timer)
        end()
      }
      const start = () => {
        active++
        settle(resolve)
      }
      const giveUp = () => settle(() => reject(new AuthError('client_closed_request')))
      const tooLate = () => settle(() => reject(new AuthError('overloaded')))
      const timer = patience === undefined ? undefined : setTimeout(tooLate, patience)
      if (gone?.aborted) return giveUp()
      if (active < concurrency) return start()
      waiting.add(start)
      gone?.addEventListener('abort', giveUp, { once: true })
    })
  }

  async function run<T>(task: () => T | Promise<T>, limits: TaskLimits = {}): Promise<T> {
    await turn(limits)
    try {
      return await within(limits.patience, task)
    } finally {
      active--
      const [next] = waiting
      next?.()
    }
  }

  return {
    enter() {
      if (places >= concurrency + queue) throw new AuthError('overloaded')
      places++
      let left = false
      return {
        run,
        leave() {
          if (!left) places--
          left = true
        },
      }
    },
    load: () => ({ active, waiting: waiting.size }),
  }
}
