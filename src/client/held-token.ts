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
export function holdToken({ token, lifetime, expiresAt }: Grant, replaces: boolean, isAsked: boolean) {
  // Some time may have passed while the refresh token was saved.
  const most = Math.min(lifetime, expiresAt - Date.now())
  const left = startCountdown(most)
  // A person is not asked while the token works.
  const share = isAsked ? 0 : lifetime
  const held = {
    token,
    /** The expiration by this machine's clock. */
    expiresAt,
    /** True until it is known whether this token works in place of one that an API refused. */
    replaces,
    /** True when an API has refused this token as invalid. */
    refused: false,
    /** The step-ups of the owner, by their challenge. Calls with the same challenge ask once. */
    stepUps: new Map<string | null, Promise<boolean>>(),
    /** Returns the milliseconds since this client got the token. */
    age: () => most - left(),
    /** Returns the milliseconds until the expiration. Replaced when the token is invalid. */
    left,
    /** The client signs in again in the background when less time is left. */
    old: share * (OLD + Math.random() * OLD_RANDOM),
    /** Returns whether calls still use this token without waiting. */
    works: () => held.left() > Math.min(share * LAST, LAST_AT_MOST),
  }
  return held
}
