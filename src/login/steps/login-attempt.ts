import { callHost, MOST_TIMEOUTS, withDeadline } from '../../concurrency/host-call.js'
import { AuthError, isAuthError } from '../../errors/auth-error.js'
import { isSignInRefusal } from '../../errors/sign-in-refusal.js'
import type { Attempt, AttemptOutcome } from '../../limits/attempt.js'
import { misuse } from '../../options/misuse.js'
import { describe } from '../../options/read-options.js'
import { ignoringErrors, isThenable, settled } from '../../options/values.js'
import type { CheckedTask, LoginDependencies, LoginTask } from './login-task.js'

/** Refusals of a queue slot and of the failed-login limits: the password was not checked. */
export const NOT_CHECKED = ['client_closed_request', 'overloaded', 'too_many_attempts'] as const

/**
 * Refuses a client whose address is known to have reached its failed-login limit. Call it before the body is read.
 * @returns a promise where the host's own throttle returns one
 * @throws AuthError `too_many_attempts`, or `overloaded` when the client's network has disconnected during too many logins
 */
export function refuseKnownAddress(
  { throttle, timeout }: Pick<LoginDependencies, 'throttle' | 'timeout'>,
  address: string | undefined,
): Promise<unknown> | undefined {
  const checked: unknown = throttle.checkAddress(address)
  const options = { timeout, passThrough: NOT_CHECKED }
  return isThenable(checked) ? callHost('throttle', () => checked, options) : undefined
}

/** Creates the attempt, which has not begun, and refuses a login whose limit is known to be reached. */
export function createAttempt(task: LoginTask): Promise<Attempt> {
  const { throttle, address, password, timeout, dependencyFailed } = task
  const storeFailed = (error: unknown) => dependencyFailed('throttle', error)
  async function create(): Promise<Attempt> {
    const digest = await throttle.digestPassword?.(password)
    const attempt = throttle.attempt(limitKeyOf(task), address, storeFailed, digest)
    await attempt.check()
    return attempt
  }
  return callHost('throttle', create, { timeout, passThrough: NOT_CHECKED })
}

/** Returns the name of the account for the failed-login limits. */
function limitKeyOf({ limitKey, email, req, fields }: LoginTask): string {
  if (!limitKey) return email
  const key: unknown = settled(limitKey({ email, req, fields }))
  if (typeof key === 'string' && key !== '') return key
  throw misuse(`logIn: limitKey must return a non-empty text, but returned ${describe(key)}`)
}

/** Refuses a login whose attempt has found no room: a host's own queue may not call `admit`. */
export function assertBegun(attempt: Attempt): void {
  if (attempt.begin() !== true) throw new AuthError('overloaded')
}

/** Counts the attempt for all processes, when a hashing thread is free: so it counts as under way for a short time. */
export async function countAttempt({ slot, attempt, about, timeout }: CheckedTask): Promise<void> {
  await callHost('passwords', () => slot.start(), { passThrough: NOT_CHECKED, about })
  const late = () => endAttempt(attempt, 'not_checked')
  await callHost('throttle', () => attempt.count(), { timeout, passThrough: NOT_CHECKED, late })
}

/** Ends the attempt. Errors of a host's own throttle are ignored: the login has its result. */
export function endAttempt(attempt: Attempt, outcome: AttemptOutcome): void {
  ignoringErrors(() => attempt.end(outcome))
}

/** Returns whether a refusal counts as a failed login: a wrong password, or a refusal of the host with `countAsFailure`. */
const isFailedLogin = (error: unknown) =>
  isSignInRefusal(error) ? error.countAsFailure : isAuthError(error) && error.code === 'invalid_credentials'

/**
 * Ends the attempt of a refused login.
 * @param step the promise of `beforeSignIn`. The attempt stays under way until it settles: a host that delays the refusal of a wrong code
 * beyond the time limit must not make guesses free
 */
export async function endRefusedAttempt(
  { timeout }: { timeout: number },
  attempt: Attempt,
  error: unknown,
  step: Promise<unknown> | undefined,
): Promise<void> {
  const code = isAuthError(error) ? error.code : undefined
  if (isFailedLogin(error)) {
    await callHost('throttle', () => attempt.end('failed'), { timeout, passThrough: NOT_CHECKED })
  } else if (step) {
    const ended = withDeadline(timeout * MOST_TIMEOUTS, step).then(
      () => attempt.end('not_checked'),
      (late: unknown) => attempt.end(isFailedLogin(late) ? 'failed' : 'not_checked'),
    )
    ignoringErrors(() => ended)
  } else {
    endAttempt(attempt, code === 'client_closed_request' ? 'disconnected' : 'not_checked')
  }
}
