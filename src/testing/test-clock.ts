import { type Check, type Duration, duration, InvalidOption, named } from '../shared/options.js'

/** A clock for tests. It runs with its source until it is set; then it stands still. */
export interface TestClock {
  /** The time in milliseconds since the epoch: the clock itself fits wherever there is a `clock` option. */
  (): number
  /**
   * Stops at a moment: a `Date`, milliseconds since the epoch, or ISO 8601 text (`'2030-01-01T12:00:00Z'`). From 1972 to 9998.
   * @throws TypeError for anything else
   */
  set(moment: Date | number | string): void
  /**
   * Goes ahead by a time: seconds, or a string like `'1h'`; ten years at most. Runs on where it was running.
   * @throws TypeError for anything else
   */
  advance(time: Duration): void
  /** Runs with its source again, as if it had never been touched: for `afterEach`. */
  reset(): void
}

const DAY = 86_400_000

/** A token's lifetime fits before the first (a year) and behind the last, whose year still has four digits. */
const FIRST = Date.UTC(1972, 0)
const LAST = Date.UTC(9999, 0)

/** A day, or a moment of one with its time zone: without one it would be another moment on each machine. */
const ISO_8601 = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/

const moment: Check<number> = (value) => {
  const known =
    value instanceof Date || typeof value === 'number' || (typeof value === 'string' && ISO_8601.test(value))
  const time = known ? new Date(value).getTime() : Number.NaN
  if (time >= FIRST && time < LAST) return time
  throw new InvalidOption(
    "a Date, milliseconds since the epoch or text like '2030-01-01T12:00:00Z', from 1972 to 9998",
    time >= 0 && time < FIRST ? 'Numbers are milliseconds: did you give seconds?' : '',
  )
}

const step = duration(0, 3660 * DAY)

export function testClock(source: () => number): TestClock {
  let stopped: number | undefined
  let ahead = 0
  return Object.assign(() => stopped ?? source() + ahead, {
    set(to: Date | number | string) {
      stopped = named('clock.set: the moment', moment, to)
    },
    advance(time: Duration) {
      const by = named('clock.advance: the time', step, time)
      if (stopped === undefined) ahead += by
      else stopped += by
    },
    reset() {
      stopped = undefined
      ahead = 0
    },
  })
}
