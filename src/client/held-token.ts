import { startCountdown } from './countdown.js'
import type { Grant } from './grant.js'

/** A held token with its times. */
export interface HeldToken {
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

export function holdToken(grant: Grant, isReplacement: boolean, interactive: boolean): HeldToken {
  const { lifetime, receivedAt } = grant
  // A token of another tab is some time old.
  const most = lifetime - Math.max(0, Date.now() - receivedAt)
  const left = startCountdown(most)
  // A person is not asked while the token works.
  const share = interactive ? 0 : lifetime
  const old = share * (OLD + Math.random() * OLD_RANDOM)
  const last = Math.min(share * LAST, LAST_AT_MOST)
  const held: HeldToken = {
    grant,
    isReplacement,
    isRefused: false,
    isInvalid: false,
    age: () => most - left(),
    left,
    // Written so that a time that is not a number counts as old.
    isOld: () => held.isInvalid || !(left() > old),
    isUsable: () => !held.isInvalid && left() > last,
  }
  return held
}
