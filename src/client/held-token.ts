import { startCountdown } from './countdown.js'
import type { Grant } from './grant.js'

/** The last share of the lifetime in which the client renews in the background: a random share, so that clients spread out. */
const OLD = 0.03
const OLD_RANDOM = 0.02

/** The last share of the lifetime in which calls wait for a new token. */
const LAST = 0.02
const LAST_AT_MOST = 30_000

export type HeldToken = ReturnType<typeof holdToken>

/**
 * Returns a held token with its times.
 * @param isAsked whether a person types for the next token
 */
export function holdToken(grant: Grant, isReplacement: boolean, isAsked: boolean) {
  const { lifetime, receivedAt } = grant
  // Some time may have passed while the refresh token was saved.
  const most = lifetime - Math.max(0, Date.now() - receivedAt)
  const rest = startCountdown(most)
  // A person is not asked while the token works.
  const share = isAsked ? 0 : lifetime
  const old = share * (OLD + Math.random() * OLD_RANDOM)
  const last = Math.min(share * LAST, LAST_AT_MOST)
  return {
    grant,
    /** The expiration by this machine's clock. */
    expiresAt: receivedAt + lifetime,
    /** True until it is known whether this token works in place of one that an API refused. */
    isReplacement,
    /** True when an API wants another token: this one is invalid, or its sign-in is too old for a route. */
    isRefused: false,
    /** True when the token is invalid. */
    isInvalid: false,
    /** The decisions of the owner about step-ups, by their challenge. Calls with the same challenge ask once. */
    stepUps: new Map<string | null, Promise<boolean>>(),
    /** Returns the milliseconds since this client got the token. */
    age: () => most - rest(),
    /** Returns the milliseconds until the expiration, and 0 for an invalid token. */
    left() {
      return this.isInvalid ? 0 : rest()
    },
    /** Returns whether to sign in again in the background. */
    isOld() {
      return this.left() <= old
    },
    /** Returns whether calls still use this token without waiting. */
    isUsable() {
      return this.left() > last
    },
  }
}
