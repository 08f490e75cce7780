import type { Account, FoundAccount } from '../../accounts/account.js'
import { currentAccount } from '../../accounts/find-account.js'
import { callHost } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import { brandOf, brandWith } from '../../options/brand.js'
import { memberOf } from '../../options/values.js'
import type { ConfirmedHash } from '../../sessions/refresh/refreshing.js'
import type { TokenSubject } from '../../tokens/jwt/issue-token.js'
import { leaveSlot, waitForSlot } from './check-password.js'
import { NOT_CHECKED } from './login-attempt.js'
import type { LoginTask } from './login-task.js'
import { lookUpAccount } from './look-up-account.js'
import type { AccountSubject, SignInTerms } from './sign-in-terms.js'

/** Confirms a sign-in after its session has started. Returns the hash that the account has now. */
export type Confirm = () => Promise<ConfirmedHash>

/** The facts that a sign-in knows of its account when it starts a session. */
interface Confirmed {
  id: string
  /** The time just before the account was looked up. */
  asOf: Date
  /** Looks the account up as the sign-in did. */
  lookUp(): Promise<FoundAccount | undefined>
  /** Returns whether a stored hash is one of the password that was right. */
  isKnown(hash: string | null): boolean | Promise<boolean>
  /** The hash that the sign-in has replaced by another one of the same password. Default: none. */
  replaced?: string | undefined
}

/**
 * Creates the confirmation of a sign-in, which runs after its session has started and before its token is sent. The host stores a new
 * password before it ends the sessions of the account. So either the confirmation finds the new password, or the host ends the session.
 *
 * It rejects with an `AuthError`: `invalid_credentials`, or `unavailable` when a dependency fails. It counts as no failed login.
 */
export function createConfirmation({ id, asOf, lookUp, isKnown, replaced }: Confirmed): Confirm {
  return async function confirm() {
    const found = await lookUp()
    const account = currentAccount(found?.account.id === id ? found : undefined, asOf)
    if (typeof account === 'string') throw new AuthError('invalid_credentials', { reason: account, accountId: id })
    const current = account.account.passwordHash
    if ((await isKnown(current)) === true) return { current, replaced }
    throw new AuthError('invalid_credentials', { reason: 'superseded', accountId: id })
  }
}

/**
 * Creates the confirmation of a login. It keeps the hashes and the password to itself, so that nothing that a host prints or sends has
 * them.
 */
export function confirmationOf(
  task: LoginTask,
  { id, passwordHash }: Account,
  asOf: Date,
  replacement: string | undefined,
) {
  const known = new Set([passwordHash, replacement ?? passwordHash])
  return createConfirmation({
    id,
    asOf,
    // By the address, because guards call `findById` on every request and a host may cache it.
    lookUp: () => lookUpAccount(task),
    isKnown: (hash) => known.has(hash) || verifyLater(task, hash),
    replaced: replacement === undefined ? undefined : (passwordHash ?? undefined),
  })
}

/** Verifies a hash that was stored meanwhile. Another login may have stored a new hash of the same password. */
async function verifyLater(task: LoginTask, hash: string | null): Promise<boolean> {
  const slot = await waitForSlot(task)
  try {
    return await callHost('passwords', () => slot.verify(task.password, hash), { passThrough: NOT_CHECKED })
  } finally {
    leaveSlot(slot)
  }
}

/** The facts that a login has about its subject. */
export interface LookUp {
  confirm: Confirm
  /** The subject of the account as it was looked up. The subject of the sign-in may have other scopes, claims or another lifetime. */
  subject: AccountSubject
  /** The terms that `beforeSignIn` returned. Default: none. */
  terms?: SignInTerms | undefined
}

/**
 * Returns the time of a look-up with the facts of the login. The time carries it, because a function of the host copies the members
 * of a subject, and a subject needs its time anyway. It is neither printed nor copied.
 */
export const withLookUp = (asOf: Date, lookUp: LookUp): Date => brandWith('LookUpTime', asOf, lookUp)

/** Returns the facts of a login about its subject, or undefined for a subject that no login of this package returned. */
export const lookUpOf = (subject: TokenSubject) =>
  brandOf('LookUpTime', Object(memberOf(subject, 'issuedAt'))) as LookUp | undefined
