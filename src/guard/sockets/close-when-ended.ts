import { findByIdOption } from '../../accounts/find-account.js'
import { timeoutOption } from '../../concurrency/host-call.js'
import { steadyClock } from '../../concurrency/steady-clock.js'
import { throwLater } from '../../concurrency/throw-later.js'
import { AuthError } from '../../errors/auth-error.js'
import { type Clock, clockOption, type Duration, duration, func } from '../../options/checks.js'
import { misuse, PAGE } from '../../options/misuse.js'
import { optional, readOptions } from '../../options/read-options.js'
import { memberOf } from '../../options/values.js'
import { sessionsOption } from '../../sessions/sessions-option.js'
import { invalidToken, isVerifiedToken, type VerifiedToken } from '../../tokens/verified-token.js'
import { askHost, type RevocationCheck } from '../ask-host.js'
import type { RequireBearerOptions } from '../require-bearer-options.js'
import { runCheck } from './check-slots.js'
import { everySecond } from './every-second.js'

/** The options of `closeWhenEnded`. */
export interface CloseWhenEndedOptions {
  /** Called at regular intervals. Returns whether the token was revoked. Default: no check. */
  isRevoked?: RevocationCheck | undefined
  /** The sessions of the app, to look the token's session up at regular intervals, as the guard does. Default: no look-up. */
  sessions?: RequireBearerOptions['sessions']
  /** A store with `findById`, to look the account up at regular intervals, as the guard does. Default: no look-up. */
  accounts?: RequireBearerOptions['accounts']
  /** The time between two checks of `isRevoked`, `sessions` and `accounts`. Default 30 s. 1 s to 1 h. */
  every?: Duration | undefined
  /** The time for which a connection stays open after a check was due, until a check is successful. Default 5 min. 1 s to 1 day. */
  keepFor?: Duration | undefined
  /** Time limit for each call of `isRevoked`, `sessions` and `accounts`. Default 5 s. 1 ms to 1 min. */
  timeout?: Duration | undefined
  /** Returns the current time, for tests. Default `Date.now`. */
  clock?: Clock | undefined
}

const schema = {
  isRevoked: optional(func<RevocationCheck>('a function (auth) => boolean')),
  sessions: optional(sessionsOption),
  accounts: optional(findByIdOption),
  every: optional(duration(1000, 3_600_000), 30_000),
  keepFor: optional(duration(1000, 86_400_000), 300_000),
  timeout: timeoutOption,
  clock: clockOption,
}

/**
 * Closes a connection when its token ends: for WebSockets, server-sent events and other connections that outlive a request.
 *
 * Calls `close` once, at most one second after the token has expired. With `isRevoked`, `sessions` or `accounts`, also after the next
 * check when the token was revoked, its session has ended, or its account is disabled, deleted or has a later `tokensValidAfter`. When
 * no check is successful for `keepFor`, calls `close` too, and when `clock` returns an invalid time. All connections share one timer,
 * and at most 250 of them close in one turn of the event loop. At most 64 checks run at the same time, and at most 32 of one account
 * store, one object of sessions or one `isRevoked` function.
 * Other checks wait in the order in which they became due.
 * @param auth the verified token
 * @param close receives the reason: an `AuthError` `invalid_token` with a `reason`, or `unavailable`. An error that `close` throws is
 * an uncaught exception
 * @returns a function that cancels, for a connection that has closed
 * @throws TypeError naming the argument or the option that is not valid, also when `clock` returns an invalid time
 */
export function closeWhenEnded(
  auth: VerifiedToken,
  close: (error: AuthError) => void,
  options?: CloseWhenEndedOptions,
): () => void {
  if (!isVerifiedToken(auth)) {
    throw misuse('closeWhenEnded: the first argument must be a verified token. Pass req.auth', PAGE.sockets)
  }
  if (typeof close !== 'function')
    throw misuse(
      'closeWhenEnded: the second argument must be a function. Pass one that closes the connection',
      PAGE.sockets,
    )
  const settings = readOptions<CloseWhenEndedOptions, typeof schema>('closeWhenEnded', options, schema)
  const { isRevoked, sessions, accounts, every, keepFor } = settings
  /** The host's own object. Checks of a slow store must not delay the checks of another store. */
  const owner = accounts && options ? (memberOf(options, 'accounts') as object) : (sessions ?? isRevoked)
  const expiresAt = auth.expiresAt.getTime()
  // A clock that is set back must neither delay a check nor prolong the token.
  const now = steadyClock(settings.clock)
  let checkAt = now() + every
  /** The time at which the first check was due after the last successful check. */
  let uncheckedSince = Number.POSITIVE_INFINITY
  let lastFailure: AuthError | undefined
  let isChecking = false
  let hasEnded = false
  let cancelCheck = () => {}

  function cancel(): void {
    hasEnded = true
    stopLooking()
    cancelCheck()
  }

  function end(error: AuthError): void {
    cancel()
    try {
      close(error)
    } catch (thrown) {
      throwLater(thrown)
    }
  }

  async function check(): Promise<void> {
    try {
      await askHost({ ...settings, allow: undefined }, auth, undefined)
      lastFailure = undefined
      uncheckedSince = Number.POSITIVE_INFINITY
    } catch (thrown) {
      lastFailure = thrown as AuthError
      if (lastFailure.code === 'invalid_token' && !hasEnded) end(lastFailure)
    }
    isChecking = false
  }

  function lookAt(time: number): void {
    if (time >= expiresAt) end(invalidToken('expired', auth))
    else if (time - uncheckedSince >= keepFor) end(lastFailure ?? new AuthError('unavailable'))
    else if (owner && time >= checkAt && !isChecking) {
      isChecking = true
      checkAt = time + every
      uncheckedSince = Math.min(uncheckedSince, time)
      cancelCheck = runCheck(owner, check)
    }
  }

  const stopLooking = everySecond(() => {
    try {
      lookAt(now())
    } catch (cause) {
      end(new AuthError('unavailable', { dependency: 'internal', cause }))
    }
  })
  return cancel
}
