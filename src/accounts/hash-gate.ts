import { availableParallelism } from 'node:os'
import { AuthError } from '../errors.js'

/** How busy a gate is; for metrics. */
export interface GateLoad {
  /** Tasks that run. */
  active: number
  /** Tasks that wait for their turn. */
  waiting: number
}

/** A place in a gate, held from before the first look-up until the work is done. */
export interface GatePlace {
  /** Runs a task when its turn comes. Rejects, without running it, when the signal says that the client has gone. */
  run<T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T>
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

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        waiting.delete(start)
        signal?.removeEventListener('abort', giveUp)
        active++
        resolve()
      }
      const giveUp = () => {
        waiting.delete(start)
        reject(new AuthError('client_closed_request'))
      }
      if (signal?.aborted) return giveUp()
      if (active < concurrency) return start()
      waiting.add(start)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  async function run<T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    await turn(signal)
    try {
      return await task()
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
