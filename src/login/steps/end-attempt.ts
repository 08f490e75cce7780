import type { Attempt, AttemptOutcome } from '../../accounts/throttle/attempt.js'
import { ignoringErrors } from '../../options/values.js'
import { isAuthError } from '../../refusals/auth-error.js'
import { isSignInRefusal } from '../../refusals/sign-in-refusal.js'
import { callHost, withDeadline } from '../../waiting/host-call.js'

/** Refusals of a queue slot and of the failed-login limits: the password was not checked. */
export const NOT_CHECKED = ['client_closed_request', 'overloaded', 'too_many_attempts'] as const

/** Ends the attempt. Errors of a host's own throttle are ignored: the login has its result. */
export function endAttempt(attempt: Attempt, outcome: AttemptOutcome): void {
  ignoringErrors(() => attempt.end(outcome))
}

/** Only a wrong password is a failed login, and what the host says is one. */
const isFailedLogin = (error: unknown) =>
  isSignInRefusal(error) ? error.countAsFailure : isAuthError(error) && error.code === 'invalid_credentials'

/** The time limits after which a step of the host that has not ended counts as one that does not end. */
const MOST_TIMEOUTS = 12

/**
 * Ends the attempt of a refused login.
 * @param step the promise of `afterPassword`. The attempt stays under way until it settles: a host that delays the refusal of a wrong code beyond the time
 * limit must not make guesses free
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
