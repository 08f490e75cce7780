// Not the globals, because an authorization must end also while a host's tests fake the timers.
import { clearInterval, setImmediate, setInterval } from 'node:timers'

/** Calls functions at given times, with one timer for all of them. */
export interface Schedule {
  /**
   * Calls a function once, at most one tick after the time.
   * @returns a function that cancels the call
   */
  at(ms: number, run: () => void): () => void
}

/** Starts a timer that does not keep the process alive. Returns a function that stops the timer. */
export type StartTicking = (tick: () => void) => () => void

const everySecond: StartTicking = (tick) => {
  const timer = setInterval(tick, 1000).unref()
  return () => clearInterval(timer)
}

/** A clock that never goes back. */
export interface SteadyClock {
  /** Returns the current time in milliseconds. */
  now(): number
  /** Returns when a time of the original clock comes, by this clock. */
  timeOf(ms: number): number
}

/** Creates a clock that stops when the given clock is set back, and continues from the next reading. */
export function steadyClock(clock: () => number): SteadyClock {
  let last = Number.NEGATIVE_INFINITY
  let lost = 0

  function now(): number {
    const read = clock()
    // Whole seconds, because a token expires at a whole second.
    lost += Math.max(0, Math.ceil((last - read) / 1000)) * 1000
    last = read
    return read + lost
  }

  return {
    now,
    timeOf(ms) {
      now()
      return ms + lost
    },
  }
}

/** Creates a schedule. It looks at its clock every second, so a clock that jumps changes only the moment of the call. */
export function createSchedule(clock: () => number, startTicking = everySecond): Schedule {
  /** The calls, by the second in which they are due. */
  const seconds = new Map<number, Set<() => void>>()
  let stop: (() => void) | undefined

  function tick(): void {
    const now = clock() / 1000
    for (const [second, calls] of seconds) {
      if (second > now) continue
      seconds.delete(second)
      for (const call of calls) runAlone(call)
    }
    stopWhenEmpty()
  }

  function stopWhenEmpty(): void {
    if (seconds.size > 0) return
    stop?.()
    stop = undefined
  }

  return {
    at(ms, run) {
      const second = Math.ceil(ms / 1000)
      // One function may be scheduled twice.
      const call = () => run()
      const calls = seconds.get(second) ?? new Set()
      seconds.set(second, calls.add(call))
      stop ??= startTicking(tick)
      return () => {
        if (!calls.delete(call) || calls.size > 0 || seconds.get(second) !== calls) return
        seconds.delete(second)
        stopWhenEmpty()
      }
    },
  }
}

/** Runs a call whose error must not keep the other calls from running. The error becomes an uncaught exception. */
export function runAlone(call: () => void): void {
  try {
    call()
  } catch (error) {
    setImmediate(() => {
      throw error
    })
  }
}
