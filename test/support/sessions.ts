import type { AuthObserver, CodeStore, Duration, RefreshTimes, SessionStore } from 'express-token-endpoint'
import { createCodes as codesWith } from '../../src/codes/codes.js'
import { timeoutOption } from '../../src/concurrency/host-call.js'
import { emitter } from '../../src/events/emitter.js'
import { readOptions } from '../../src/options/read-options.js'
import { refreshTimes, refreshTimesSchema } from '../../src/sessions/refresh/refresh-options.js'
import { createSessions as sessionsWith } from '../../src/sessions/sessions.js'
import { ISSUER, SECRET } from './fixtures.js'

export { memoryCodes } from '../../src/codes/memory-codes.js'
export { memoryFactors } from '../../src/factors/memory-factors.js'
export { memorySessions } from '../../src/sessions/memory-sessions.js'

/** The settings of sessions that a test changes. Times in milliseconds. */
export interface SessionsOptions {
  maxPerAccount?: number
  timeout?: Duration | undefined
  onEvent?: AuthObserver
  issuers?: readonly string[]
  /** The times of refresh tokens. Default: sessions without refresh. */
  refresh?: RefreshTimes & { secrets?: readonly Uint8Array[] }
  /** Returns the password hash of an account, for `endOthers`. Default: null. */
  hashOf?: (accountId: string) => Promise<string | null | undefined>
  clock?: (() => number) | undefined
}

/** Creates sessions and the steps of their refresh, as `createAuth` does. */
export function sessionsAndSteps(store: SessionStore, options: SessionsOptions = {}) {
  const { maxPerAccount = 100, onEvent, issuers = [ISSUER], clock = () => Date.now() } = options
  const { secrets = [Buffer.from(SECRET)], ...times } = options.refresh ?? {}
  const caller = 'createAuth: option "refresh"'
  const read = readOptions<RefreshTimes, typeof refreshTimesSchema>(caller, times, refreshTimesSchema)
  const hashOf = options.hashOf ?? (async () => null)
  const refresh = options.refresh && { secrets, ...refreshTimes(caller, read), hashOf }
  const timeout = timeoutOption(options.timeout)
  return sessionsWith({ store, issuers, maxPerAccount, timeout, emit: emitter(onEvent), now: clock, refresh })
}

/** Creates sessions as `createAuth` does. */
export const createSessions = (store: SessionStore, options?: SessionsOptions) =>
  sessionsAndSteps(store, options).sessions

/** Creates codes as `createAuth` does. */
export const createCodes = (store: CodeStore, options: Pick<SessionsOptions, 'clock' | 'timeout'> = {}) =>
  codesWith({ store, timeout: timeoutOption(options.timeout), now: options.clock ?? (() => Date.now()) })
