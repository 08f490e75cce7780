import { callHost, isTimeout } from '../../concurrency/host-call.js'
import { isAuthError } from '../../errors/auth-error.js'
import { isSignInRefusal } from '../../errors/sign-in-refusal.js'
import type { Attempt, AttemptAdmission, AttemptOutcome } from '../../limits/attempt.js'
import { ignoringErrors } from '../../options/values.js'
import type { ExtraFields } from '../body/credentials.js'
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
export async function admitAttempt({ slot, attempt, about, timeout }: CheckedTask): Promise<AttemptAdmission> {
  await callHost('passwords', () => slot.start(), { passThrough: NOT_CHECKED, about })
  return callHost('limits', () => attempt.admit(about?.accountId), { timeout, passThrough: NOT_CHECKED })
}

/** Ends the attempt. A login that has its result does not wait. */
export function endAttempt(attempt: Attempt, outcome: AttemptOutcome): void {
  ignoringErrors(() => attempt.end(outcome))
}

/**
 * Returns whether a refusal counts as a failed login: a wrong password, or a refusal of the host with `countAsFailure`. A late step counts if
 * it got a code of the client, because a host that delays the refusal of a wrong code must not make guesses free.
 */
function isFailedLogin(error: unknown, fields: ExtraFields): boolean {
  if (isSignInRefusal(error)) return error.countAsFailure
  if (!isAuthError(error)) return false
  const { code, option, cause } = error
  if (code === 'invalid_credentials' || option !== 'beforeSignIn') return code === 'invalid_credentials'
  return isTimeout(cause) ? Object.keys(fields).length > 0 : isSignInRefusal(cause) && cause.countAsFailure
}

/** Ends the attempt of a refused login. */
export async function endRefusedAttempt(
  { timeout, fields }: Pick<LoginTask, 'timeout' | 'fields'>,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  if (isFailedLogin(error, fields)) {
    await callHost('limits', () => attempt.end('failed'), { timeout, passThrough: NOT_CHECKED })
  } else {
    const hasLeft = isAuthError(error) && error.code === 'client_closed_request'
    endAttempt(attempt, hasLeft ? 'disconnected' : 'not_checked')
  }
}
