import type { Account, FoundAccount } from '../../accounts/account.js'
import { callHost } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import type { LoginRefusal } from '../../errors/codes.js'
import { isSignInRefusal } from '../../errors/sign-in-refusal.js'
import type { Attempt } from '../../limits/attempt.js'
import type { PasswordsSlot } from '../../passwords/passwords.js'
import { announceHash } from './announce-hash.js'
import { NOT_CHECKED } from './login-attempt.js'
import type { CheckedTask, LoginTask } from './login-task.js'

/** Waits for a queue slot and for room in the limits: in one act, because a login without room must not keep a slot from others. */
export function waitForSlot(task: LoginTask, attempt?: Attempt): Promise<PasswordsSlot> {
  const { passwords, network, signal, timeout } = task
  return passwords.reserve({ network, signal, timeout, admit: attempt && (() => attempt.begin()) })
}

/**
 * @param isAdmitted false to check no password
 * @throws AuthError `invalid_credentials` with the reason, after the same work for every account and for none
 */
export async function verifyPassword(task: CheckedTask, isAdmitted: boolean): Promise<FoundAccount> {
  const { slot, password, found, about } = task
  const verify = () => slot.verify(password, isAdmitted ? found?.account.passwordHash : undefined)
  const matches = await callHost('passwords', verify, { passThrough: NOT_CHECKED, about })
  const reason = reasonAgainst(found?.account, matches, isAdmitted)
  if (found && !reason) return found
  throw new AuthError('invalid_credentials', { ...(reason && { reason }), ...about })
}

function reasonAgainst(account: Account | undefined, matches: boolean, isAdmitted: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (isAdmitted !== true) return 'limited'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}

/**
 * Replaces the hash when another hasher made it, or it is weaker than a new one. A failure does not end the login.
 * @param account one whose password was right, so it has a hash
 * @returns the new hash, also when the store failed: it may have stored the hash, or store it later
 */
export async function replaceOutdatedHash(task: CheckedTask, account: Account): Promise<string | undefined> {
  const { accounts, passwords, slot, password, timeout, dependencyFailed } = task
  const from = account.passwordHash as string
  if (!accounts.replacePasswordHash) return undefined
  let replacement: string | undefined
  try {
    if (!(await callHost('passwords', () => passwords.needsRehash(from)))) return undefined
    const to = await callHost('passwords', () => slot.hash(password), { passThrough: NOT_CHECKED })
    const announce = () => announceHash(accounts, { accountId: account.id, from, to })
    // Before the hash is stored, because a refresh ends a session whose account has a hash that the session does not know.
    await announce()
    replacement = to
    await callHost('accounts', () => accounts.replacePasswordHash?.(account.id, from, to), { timeout })
    // Also to the sessions that have started meanwhile.
    await announce()
  } catch (error) {
    const { dependency, cause } = error as AuthError
    // Without a dependency, no hashing thread was free before the timeout, or too many logins replace the hash. A later login replaces it.
    // bcrypt refuses a password that it would cut.
    if (dependency && !isSignInRefusal(cause)) dependencyFailed(dependency, cause)
  }
  return replacement
}
