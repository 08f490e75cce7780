import { type Duration, duration } from '../options/checks.js'
import { PAGE } from '../options/misuse.js'
import { type Check, InvalidOption, named } from '../options/read-options.js'
import { testsOnly } from './tests-only.js'

/** A clock for tests. It follows its source until `set` stops it. */
export interface TestClock {
  /** Returns the time in milliseconds since the epoch. Pass the clock itself as a `clock` option. */
  (): number
  /**
   * Stops the clock at a moment from 1972 to 9998: a `Date`, milliseconds since the epoch, or ISO 8601 text
   * (`'2030-01-01T12:00:00Z'`).
   * @throws TypeError for anything else
   */
  set(moment: Date | number | string): void
  /**
   * Advances the clock by seconds, or by a string like `'1h'`. At most ten years. A running clock continues to run.
   * @throws TypeError for anything else
   */
  advance(time: Duration): void
  /** Follows the source again, like a new clock. Call it in `afterEach`. */
  reset(): void
}

const DAY = 86_400_000

/** The first and the last moment. A year before and after them, the year of an expiration still has four digits. */
const FIRST = Date.UTC(1972, 0)
const LAST = Date.UTC(9999, 0)

/** A day, or a moment with its time zone. Without a time zone, the moment would depend on the machine. */
const ISO_8601 = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/

const moment: Check<number> = (value) => {
  const known =
    value instanceof Date || typeof value === 'number' || (typeof value === 'string' && ISO_8601.test(value))
  const time = known ? new Date(value).getTime() : Number.NaN
  if (time >= FIRST && time < LAST) return time
  throw new InvalidOption(
    "a Date, milliseconds since the epoch or text like '2030-01-01T12:00:00Z', from 1972 to 9998",
    time >= 0 && time < FIRST ? 'Numbers are milliseconds. Did you pass seconds?' : '',
  )
}

const step = duration(0, 3660 * DAY)

export function testClock(source: () => number): TestClock {
  let stopped: number | undefined
  let ahead = 0
  function now(): number {
    // Each verification reads the clock, so an issuer that was created before production began verifies nothing.
    testsOnly('createTestIssuer')
    return stopped ?? source() + ahead
  }
  return Object.assign(now, {
    set(to: Date | number | string) {
      stopped = named('clock.set: the moment', moment, to, PAGE.tests)
    },
    advance(time: Duration) {
      const by = named('clock.advance: the time', step, time, PAGE.tests)
      if (stopped === undefined) ahead += by
      else stopped += by
    },
    reset() {
      stopped = undefined
      ahead = 0
    },
  })
}
