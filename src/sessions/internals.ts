import type { RefreshSteps } from './refresh/refresh-steps.js'

/** The members of sessions that only this package uses. */
interface Internals {
  /** The steps of a refresh, for sessions that have the option. */
  readonly refreshSteps: RefreshSteps | undefined
  useFor(issuers: readonly string[], caller: string): void
}

const internals = new WeakMap<object, Internals>()

export function withInternals<T extends object>(sessions: T, members: Internals): T {
  internals.set(sessions, members)
  return sessions
}

/** Returns whether `createSessions` has made an object. A copy of sessions could not tell which issuers its tokens may have. */
export const isSessions = (value: unknown): boolean => internals.has(value as object)

/** Returns the steps of a refresh of sessions that have the option. */
export const refreshStepsOf = (sessions: object): RefreshSteps | undefined => internals.get(sessions)?.refreshSteps

/**
 * Requires that tokens of these issuers may have sessions. Without the option `issuers`, the first call names the issuer of the app.
 * @param caller the name for the error
 * @throws TypeError naming the first issuer that is not one of the app, because its tokens could name a session of the host
 */
export const useSessionsFor = (sessions: object, issuers: readonly string[], caller: string): void =>
  internals.get(sessions)?.useFor(issuers, caller)
