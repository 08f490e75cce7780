import { availableParallelism } from 'node:os'
import { AuthError } from '../errors.js'

/** How busy a gate is; for metrics. */
export interface GateLoad {
  /** Tasks that run. */
  active: number
  /** Tasks that wait for their turn. */
  waiting: number
}

/** When a task is not worth its turn any more. */
export interface TaskSignals {
  /** The client has gone. A task that runs goes on, and keeps its turn: else a client could make as many run as it likes. */
  gone?: AbortSignal | undefined
  /** The task has been given up. One that runs, and may never end, gives its turn to the next. */
  expired?: AbortSignal | undefined
}

/** A place in a gate, held from before the first look-up until the work is done. */
export interface GatePlace {
  /**
   * Runs a task when its turn comes.
   * @throws AuthError `client_closed_request` when it was not worth its turn any more
   */
  run<T>(task: () => T | Promise<T>, signals?: TaskSignals): Promise<T>
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

  function turn(signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        done()
        active++
        resolve()
      }
      const giveUp = () => {
        done()
        reject(new AuthError('client_closed_request'))
      }
      const done = () => {
        waiting.delete(start)
        for (const signal of signals) signal.removeEventListener('abort', giveUp)
      }
      if (signals.some(({ aborted }) => aborted)) return giveUp()
      if (active < concurrency) return start()
      waiting.add(start)
      for (const signal of signals) signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  async function run<T>(task: () => T | Promise<T>, { gone, expired }: TaskSignals = {}): Promise<T> {
    await turn([gone, expired].filter((signal) => signal !== undefined))
    let over = false
    const next = () => {
      if (over) return
      over = true
      active--
      const [first] = waiting
      first?.()
    }
    expired?.addEventListener('abort', next, { once: true })
    try {
      return await task()
    } finally {
      expired?.removeEventListener('abort', next)
      next()
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
