// Not the global, because a model replaces it.
import { setImmediate } from 'node:timers'
import { vi } from 'vitest'

/** The clock of a run when it starts. Later than that of the machine, by which databases drop sessions that have expired. */
const START = Date.parse('2126-03-01T12:00:00.000Z')

/** The time of one run. It jumps from one event to the next. */
export type Time<C> = ReturnType<typeof startTime<C>>

interface Event<C> {
  readonly at: number
  readonly cause: C | undefined
  readonly run: () => void
}

/** Replaces the timers of this process. */
export function startTime<C>() {
  const events = new Set<Event<C>>()
  let now = START
  let cause: C | undefined
  let outside = 0

  function after(ms: number, run: () => void) {
    const event = { at: now + ms, cause, run }
    events.add(event)
    return event
  }

  /** Waits until all promises have settled. */
  async function settle(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve))
    while (outside > 0)
  }

  vi.stubGlobal('setTimeout', (run: () => void, ms = 0) => after(ms, run))
  vi.stubGlobal('clearTimeout', events.delete.bind(events))

  return {
    now: () => now,
    /** Returns what has caused the event that runs now. Everything that settles after an event has its cause. */
    cause: () => cause,
    /** Calls a function as an effect of a cause. */
    because<T>(of: C, run: () => T): T {
      const before = cause
      cause = of
      try {
        return run()
      } finally {
        cause = before
      }
    },
    /** Calls a function after a time, in milliseconds. */
    after,
    settle,
    /** Waits for a result from outside of the run, without letting time pass. */
    async outside<T>(result: T | PromiseLike<T>): Promise<T> {
      outside++
      try {
        return await result
      } finally {
        outside--
      }
    },
    /** Lets time pass, event by event. After each of them, all promises settle. */
    async pass(ms: number): Promise<void> {
      const end = now + ms
      for (;;) {
        let next: Event<C> | undefined
        for (const event of events) if (event.at <= end && !(next && next.at <= event.at)) next = event
        now = next?.at ?? end
        if (!next) return
        events.delete(next)
        cause = next.cause
        next.run()
        await settle()
        cause = undefined
      }
    },
    end: () => vi.unstubAllGlobals(),
  }
}

/** The decisions of one run, from a list of numbers below 65,536. When the list is used up, each decision is the first possibility. */
export type Choices = ReturnType<typeof createChoices>

export function createChoices(numbers: readonly number[]) {
  let used = 0
  const next = () => numbers[used++] ?? 0
  return {
    isUsedUp: () => used >= numbers.length,
    /** Returns a whole number below `count`. */
    below: (count: number) => next() % count,
    /** Returns true in `count` of 1,000 cases. */
    isOneOf: (count: number) => next() % 1000 > 999 - count,
    pick: <T>(values: readonly [T, ...T[]]): T => values[next() % values.length] as T,
    /** Returns a value with a probability that is proportional to its weight. */
    weigh<T>(values: readonly (readonly [weight: number, value: T])[]): T {
      let left = next() % values.reduce((sum, [weight]) => sum + weight, 0)
      return (
        values.find(([weight]) => {
          left -= weight
          return left < 0
        }) as readonly [number, T]
      )[1]
    },
  }
}
