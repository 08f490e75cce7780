import { AuthError } from '../errors/auth-error.js'
import type { EventSubject } from '../events/emitter.js'
import { LOGIN, tracePromise } from '../events/tracing.js'
import type { Origin } from '../http/origin.js'
import type { AttemptAdmission } from '../limits/attempt.js'
import type { PasswordsSlot } from '../passwords/passwords.js'
import { allowSignIn, BY_PASSWORD } from './before-sign-in.js'
import { type KnownSignIn, knownSignIn } from './known-sign-in.js'
import type { LoginSettings } from './login-options.js'
import type { SentCredentials } from './read-credentials.js'
import { recheckOf } from './recheck-account.js'
import { assertCodeText } from './second-factor.js'
import {
  admitAttempt,
  type CheckedTask,
  createAttempt,
  endAttempt,
  endRefusedAttempt,
  type LoginTask,
  lookUpAccount,
  replaceOutdatedHash,
  tenantIn,
  verifyPassword,
  waitForSlot,
} from './steps.js'

/** A login with credentials that were read. Reports only failures that do not end the login, and adds what it learns to the subject of events. */
export type LogInWith = (
  credentials: SentCredentials & Pick<LoginTask, 'findKnown'>,
  origin: Origin,
  subject: EventSubject,
) => Promise<KnownSignIn>

/** Creates the login of an app: asks for the tenant, then logs in. */
export function createLogin({ emit, emailInEvents, tenant: tenantOf, ...dependencies }: LoginSettings): LogInWith {
  return function logInWith(credentials, origin, subject) {
    // The client of a known account has sent no address.
    if (emailInEvents && !credentials.findKnown) subject.email = credentials.email
    const dependencyFailed: LoginTask['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    async function run(): Promise<KnownSignIn> {
      // Before the account is known, so that the response is the same for every account and password.
      if (dependencies.secondFactor) assertCodeText(credentials.fields)
      const tenant = tenantIn(tenantOf, origin.req, credentials.fields)
      if (tenant !== undefined) subject.tenant = tenant
      return logIn({ ...dependencies, ...credentials, ...origin, tenant, dependencyFailed })
    }
    return tracePromise(LOGIN, run, {}, (result) => ({ accountId: result.subject.accountId }))
  }
}

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
    const { terms, amr, recheckFactor } = await allowSignIn(task, verified, BY_PASSWORD)
    endAttempt(attempt, 'succeeded')
    const replacement = await replaceOutdatedHash(checked, verified.account)
    const recheckAccount = recheckOf(task, verified.account, lookedUpAt, replacement)
    return knownSignIn(verified, { lookedUpAt, recheckAccount, recheckFactor, terms, amr })
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
