import type { Grant } from './grant.js'
import { startStopwatch } from './stopwatch.js'

/** A held token with its times. */
export interface Session {
  readonly grant: Grant
  /** True until it is known whether this token works in place of one that an API refused. */
  isReplacement: boolean
  /** True when an API wants another token: this one is invalid, or its sign-in is too old for a route. */
  isRefused: boolean
  /** True when the token is invalid. */
  isInvalid: boolean
  /** Returns whether calls still use this token without waiting. */
  isUsable(): boolean
  /** Returns whether to sign in again in the background. */
  isOld(): boolean
  /** Returns the milliseconds since this client got the token. */
  age(): number
  /** Returns the milliseconds until the expiration. */
  left(): number
}

/** The last share of the lifetime in which the client renews in the background: a random share, so that clients spread out. */
const OLD = 0.03
const OLD_RANDOM = 0.02

/** The last share of the lifetime in which calls wait for a new token. */
const LAST = 0.02
const LAST_AT_MOST = 30_000

export function openSession(grant: Grant, isReplacement: boolean, interactive: boolean): Session {
  const { lifetime, receivedAt } = grant
  const sinceOpened = startStopwatch()
  // A token of another tab is some time old.
  const before = Math.max(0, Date.now() - receivedAt)
  const left = () => lifetime - before - sinceOpened()
  // A person is not asked while the token works.
  const share = interactive ? 0 : lifetime
  const old = share * (OLD + Math.random() * OLD_RANDOM)
  const last = Math.min(share * LAST, LAST_AT_MOST)
  const session: Session = {
    grant,
    isReplacement,
    isRefused: false,
    isInvalid: false,
    age: sinceOpened,
    left,
    // Written so that a time that is not a number counts as old.
    isOld: () => session.isInvalid || !(left() > old),
    isUsable: () => !session.isInvalid && left() > last,
  }
  return session
}
