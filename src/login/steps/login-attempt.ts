import { callHost, MOST_TIMEOUTS, withDeadline } from '../../concurrency/host-call.js'
import { isAuthError } from '../../errors/auth-error.js'
import { isSignInRefusal } from '../../errors/sign-in-refusal.js'
import type { Admission, Attempt, AttemptOutcome } from '../../limits/attempt.js'
import { ignoringErrors } from '../../options/values.js'
import type { CheckedTask, LoginTask } from './login-task.js'

/** Refusals of a queue slot and of the failed-login limits: the password was not checked. */
export const NOT_CHECKED = ['client_closed_request', 'overloaded', 'too_many_attempts'] as const

/** Creates the attempt, which has not begun, and refuses a login whose limit is known to be reached. */
export function createAttempt(task: LoginTask): Promise<Attempt> {
  const { limits, timeout, dependencyFailed } = task
  const storeFailed = (error: unknown) => dependencyFailed('limits', error)
  async function create(): Promise<Attempt> {
    const attempt = limits.attempt(task, storeFailed)
    await attempt.check()
    return attempt
  }
  return callHost('limits', create, { timeout, passThrough: NOT_CHECKED })
}

/**
 * Reads what other processes have counted, when a hashing thread is free: so they count few failures before the check. Returns whether the
 * password may be checked.
 */
export async function admitAttempt({ slot, attempt, about, timeout }: CheckedTask): Promise<Admission> {
  await callHost('passwords', () => slot.start(), { passThrough: NOT_CHECKED, about })
  return callHost('limits', () => attempt.admit(about?.accountId), { timeout, passThrough: NOT_CHECKED })
}

/** Ends the attempt. A login that has its result does not wait. */
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
    await callHost('limits', () => attempt.end('failed'), { timeout, passThrough: NOT_CHECKED })
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
