import { type Duration, duration } from '../../options/checks.js'
import { type Message, misuse } from '../../options/misuse.js'
import { type Checked, optional } from '../../options/read-options.js'

/** The times of the option `refresh` of `createAuth`. */
export interface RefreshTimes {
  /** Maximum time between refreshes before a session ends, from 1 s to 366 days. Default: `'14d'`. */
  idle?: Duration | undefined
  /** Replacement for `idle` after sign-ins with `remember: false`, from 1 s to `idle`. Default: same as `idle`. */
  unremembered?: Duration | undefined
  /** Maximum session length, from `idle` to 3,660 days. Default: `'90d'`, or `idle` if that is longer. */
  longest?: Duration | undefined
  /**
   * Time during which clients can exchange a replaced refresh token for the current one, up to 1 min. This time must exceed the clock
   * difference between your processes. If `grace` is `0`, a lost response or a reused token ends the session. Default: `'10s'`.
   *
   * For tabs, retries and lost responses. A thief who always refreshes within this time of the owner is not noticed, so keep it short.
   */
  grace?: Duration | undefined
}

/** The times of refresh in milliseconds. */
export interface RefreshTimesSettings {
  idle: number
  unremembered: number
  longest: number
  grace: number
}

/** The settings of refresh. */
export interface RefreshSettings extends RefreshTimesSettings {
  /** The first one signs the refresh tokens, all of them verify. */
  secrets: readonly Uint8Array[]
}

const MINUTE = 60_000
const DAY = 86_400_000

export const refreshTimesSchema = {
  idle: optional(duration(1000, 366 * DAY), 14 * DAY),
  unremembered: optional(duration(1000, 366 * DAY)),
  longest: optional(duration(1000, 3660 * DAY)),
  grace: optional(duration(0, MINUTE), 10_000),
}

/**
 * Returns the times with those that depend on `idle`.
 * @throws TypeError for times that contradict each other
 */
export function refreshTimes(caller: Message, read: Checked<typeof refreshTimesSchema>): RefreshTimesSettings {
  const { idle, unremembered = idle, longest = Math.max(90 * DAY, idle), grace } = read
  if (longest < idle) throw misuse(`${caller}: option "longest" must not be shorter than "idle"`)
  if (unremembered > idle) throw misuse(`${caller}: option "unremembered" must not be longer than "idle"`)
  return { idle, unremembered, longest, grace }
}
