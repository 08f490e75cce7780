import type { Account, FoundAccount } from '../accounts/account.js'
import { currentAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import type { ConfirmedHash } from '../sessions/refresh/refresh-steps.js'
import { type LoginTask, lookUpAccount, NOT_CHECKED, waitForSlot } from './steps.js'

/** Looks the account of a sign-in up again after its session has started. Returns the hash that the account has now. */
export type RecheckAccount = () => Promise<ConfirmedHash>

/** The facts that a sign-in knows of its account when it starts a session. */
interface KnownAccount {
  id: string
  /** The time just before the account was looked up. */
  lookedUpAt: Date
  /** Looks the account up as the sign-in did. */
  lookUp(): Promise<FoundAccount | undefined>
  /** Returns whether a stored hash is one of the password that was right. */
  isKnown(hash: string | null): boolean | Promise<boolean>
  /** The better hash of the same password that the sign-in has announced to the sessions. Default: none. */
  announced?: string | undefined
}

/**
 * Creates the second check of an account, which runs after the session has started and before the token is sent. The host stores a new
 * password before it ends the sessions of the account. So either the check finds the new password, or the host ends the session.
 *
 * It rejects with an `AuthError`: `invalid_credentials`, or `unavailable` when a dependency fails. It counts as no failed login.
 */
export function createRecheck({ id, lookedUpAt, lookUp, isKnown, announced }: KnownAccount): RecheckAccount {
  return async function recheckAccount() {
    const found = await lookUp()
    const account = currentAccount(found?.account.id === id ? found : undefined, lookedUpAt)
    if (typeof account === 'string') throw new AuthError('invalid_credentials', { reason: account, accountId: id })
    const current = account.account.passwordHash
    if ((await isKnown(current)) === true) return { current, announced }
    throw new AuthError('invalid_credentials', { reason: 'superseded', accountId: id })
  }
}

/**
 * Creates the second check of a login's account. It keeps the hashes and the password to itself, so that nothing that a host prints or
 * sends has them.
 */
export function recheckOf(
  task: LoginTask,
  { id, passwordHash }: Account,
  lookedUpAt: Date,
  replacement: string | undefined,
) {
  const known = new Set([passwordHash, replacement ?? passwordHash])
  return createRecheck({
    id,
    lookedUpAt,
    // By the address, because guards call `findById` on every request and a host may cache it.
    lookUp: () => lookUpAccount(task),
    isKnown: (hash) => known.has(hash) || verifyLater(task, hash),
    announced: replacement,
  })
}

/** Verifies a hash that was stored meanwhile. Another login may have stored a new hash of the same password. */
async function verifyLater(task: LoginTask, hash: string | null): Promise<boolean> {
  const slot = await waitForSlot(task)
  try {
    return await callHost('passwords', () => slot.verify(task.password, hash), { passThrough: NOT_CHECKED })
  } finally {
    slot.leave()
  }
}
