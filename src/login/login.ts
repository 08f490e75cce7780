import { AuthError } from '../errors/auth-error.js'
import type { Origin } from '../http/origin.js'
import type { AttemptAdmission } from '../limits/attempt.js'
import type { PasswordsSlot } from '../passwords/passwords.js'
import { type KnownSignIn, knownSignIn } from './sign-in/known-sign-in.js'
import { askBeforeSignIn } from './steps/before-sign-in.js'
import { replaceOutdatedHash, verifyPassword, waitForSlot } from './steps/check-password.js'
import { admitAttempt, createAttempt, endAttempt, endRefusedAttempt } from './steps/login-attempt.js'
import type { CheckedTask, LoginTask } from './steps/login-task.js'
import { lookUpAccount } from './steps/look-up-account.js'
import { recheckOf } from './steps/recheck-account.js'

/**
 * Logs in: credentials → account, with one password check for every login. Where failures in other processes leave no room in the limits, the
 * login waits once more, and looks the account up again.
 * @throws SignInRefusal of the host; AuthError `too_many_attempts`, `overloaded`, `invalid_credentials`, `client_closed_request`, or
 * `unavailable` when the store, the password check or the limits fail
 */
export async function logIn(task: LoginTask): Promise<KnownSignIn> {
  assertConnected(task)
  const attempt = await createAttempt(task)
  let slot: PasswordsSlot | undefined
  try {
    let checked: CheckedTask
    let lookedUpAt: Date
    let admission: AttemptAdmission
    do {
      slot?.leave()
      slot = await waitForSlot(task, attempt)
      lookedUpAt = new Date(task.clock())
      const found = await lookUpAccount(task)
      assertConnected(task)
      checked = { ...task, attempt, slot, found, about: found && { accountId: found.account.id } }
      admission = await admitAttempt(checked)
    } while (admission === 'waits')
    const verified = await verifyPassword(checked, admission === 'admitted')
    const terms = await askBeforeSignIn(task, verified)
    endAttempt(attempt, 'succeeded')
    const replacement = await replaceOutdatedHash(checked, verified.account)
    return knownSignIn(verified, lookedUpAt, recheckOf(task, verified.account, lookedUpAt, replacement), terms)
  } catch (error) {
    await endRefusedAttempt(task, attempt, error)
    throw error
  } finally {
    // After the end of the attempt, which may make room for a login that waits.
    slot?.leave()
  }
}

function assertConnected({ signal }: Origin): void {
  if (signal.aborted) throw new AuthError('client_closed_request')
}
