import { AuthError } from '../../shared/errors.js'
import { timeoutOption } from '../../shared/host-call.js'
import { misuse, PAGE } from '../../shared/misuse.js'
import {
  type Clock,
  clock,
  clockFunction,
  type Duration,
  duration,
  func,
  optional,
  readOptions,
} from '../../shared/options.js'
import { createSchedule, runAlone, type Schedule, type SteadyClock, steadyClock } from '../../shared/queues/schedule.js'
import { createSharedWorkers } from '../../shared/queues/workers.js'
import { memberOf } from '../../shared/values.js'
import { isVerifiedToken, type VerifiedToken } from '../../tokens/verified-token.js'
import { askHost, invalidToken, type RevocationCheck } from './account-check.js'
import { type RequireBearerOptions, storeWithIds } from './options.js'

/** The options of `closeWhenEnded`. */
export interface CloseWhenEndedOptions {
  /** Called at regular intervals. Returns whether the token was revoked. Default: no check. */
  isRevoked?: RevocationCheck | undefined
  /** A store with `findById`, to look the account up at regular intervals, as the guard does. Default: no look-up. */
  accounts?: RequireBearerOptions['accounts']
  /** The time between two checks of `isRevoked` and `accounts`. Default 30 s. 1 s to 1 h. */
  every?: Duration | undefined
  /** The time for which a connection stays open after its first failed check, until a check is successful. Default 5 min. 1 s to 1 day. */
  keepFor?: Duration | undefined
  /** Time limit for each call of `isRevoked` and `accounts`. Default 5 s. 1 ms to 1 min. */
  timeout?: Duration | undefined
  /** Returns the current time, for tests. Default `Date.now`. */
  clock?: Clock | undefined
}

const schema = {
  isRevoked: optional(func<RevocationCheck>('a function (auth) => boolean')),
  accounts: optional(storeWithIds),
  every: optional(duration(1000, 3_600_000), 30_000),
  keepFor: optional(duration(1000, 86_400_000), 300_000),
  timeout: timeoutOption,
  clock: optional(clockFunction),
}

/** The most checks that run at the same time: in total, and for one account store or revocation check. */
const CHECKS_AT_ONCE = { total: 64, perOwner: 32 }

const workers = createSharedWorkers(CHECKS_AT_ONCE)

const now: Clock = () => Date.now()

/** One schedule for each clock. Tests have their own clocks. */
const schedules = new WeakMap<Clock, { readonly schedule: Schedule; readonly time: SteadyClock }>()

function scheduleOf(given: Clock) {
  const known = schedules.get(given)
  if (known) return known
  // When the clock is set back, checks must not wait for the old time.
  const time = steadyClock(clock(given))
  const made = { time, schedule: createSchedule(time.now) }
  schedules.set(given, made)
  return made
}

/**
 * Closes a connection when its token ends: for WebSockets, server-sent events and other connections that outlive a request.
 *
 * Calls `close` once, at most one second after the token has expired. With `isRevoked` or `accounts`, also after the next check when
 * the token was revoked or its account is disabled, deleted or has a later `tokensValidAfter`. When checks fail for
 * longer than `keepFor`, calls `close` too. All connections share one timer. At most 64 checks run at the same time, and
 * at most 32 of one account store or one `isRevoked` function. When checks wait, the accounts take turns.
 * @param auth the verified token
 * @param close receives the reason: an `AuthError` `invalid_token` with a `reason`, or `unavailable`. An error that `close` throws is
 * an uncaught exception
 * @returns a function that cancels, for a connection that has closed
 * @throws TypeError naming the argument or the option that is not valid
 */
export function closeWhenEnded(
  auth: VerifiedToken,
  close: (error: AuthError) => void,
  options?: CloseWhenEndedOptions,
): () => void {
  if (!isVerifiedToken(auth)) {
    throw misuse('closeWhenEnded: the first argument must be a verified token, as req.auth is', PAGE.sockets)
  }
  if (typeof close !== 'function') throw misuse('closeWhenEnded: the second argument must be a function', PAGE.sockets)
  const settings = readOptions<CloseWhenEndedOptions, typeof schema>('closeWhenEnded', options, schema)
  const { isRevoked, accounts, every, keepFor } = settings
  const { schedule, time } = scheduleOf(settings.clock ?? now)
  const expiresAt = time.timeOf(auth.expiresAt.getTime())
  /** The host's own object. Checks of a slow store must not delay the checks of another store. */
  const owner = accounts && options ? (memberOf(options, 'accounts') as object) : isRevoked
  let lastFailure: AuthError | undefined
  let isOverdue = false
  let hasEnded = false
  let cancelEnd = () => {}
  let cancelCheck = () => {}

  function cancel(): void {
    hasEnded = true
    cancelEnd()
    cancelCheck()
  }

  function end(error: AuthError): void {
    if (hasEnded) return
    cancel()
    close(error)
  }

  async function check(): Promise<void> {
    if (hasEnded) return
    try {
      await askHost(settings, auth)
      lastFailure = undefined
      isOverdue = false
      if (!hasEnded) endBy(time.now() + every + keepFor)
    } catch (thrown) {
      const error = thrown as AuthError
      if (error.code === 'invalid_token') return runAlone(() => end(error))
      lastFailure = error
    }
    if (!hasEnded) cancelCheck = schedule.at(time.now() + every, startCheck)
  }

  function startCheck(): void {
    if (owner) cancelCheck = workers.run(owner, auth.accountId, check)
  }

  /** Sets the end: when the token expires, or when no check was successful for too long. */
  function endBy(latest: number): void {
    cancelEnd()
    cancelEnd =
      expiresAt <= latest
        ? schedule.at(expiresAt, () => end(invalidToken('expired', auth)))
        : schedule.at(latest, giveUp)
  }

  function giveUp(): void {
    if (time.now() >= expiresAt) end(invalidToken('expired', auth))
    else if (lastFailure || isOverdue) end(lastFailure ?? new AuthError('unavailable'))
    else {
      // No check has failed, but none has ended: the machine was asleep.
      isOverdue = true
      cancelCheck()
      startCheck()
      endBy(time.now() + keepFor)
    }
  }

  if (owner) {
    endBy(time.now() + every + keepFor)
    cancelCheck = schedule.at(time.now() + every, startCheck)
  } else {
    endBy(Number.POSITIVE_INFINITY)
  }
  return cancel
}
