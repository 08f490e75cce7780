import type { Account, FoundAccount } from '../accounts/account.js'
import { brandOf, brandWith } from '../options/brand.js'
import { memberOf } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { LoginRefusal } from '../refusals/codes.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'

/** Confirms a sign-in after its session has started. */
export type Confirm = () => Promise<void>

/** The facts that a sign-in knows of its account when it starts a session. */
interface Confirmed {
  id: string
  /** The time just before the account was looked up. */
  asOf: Date
  /** Looks the account up as the sign-in did. */
  lookUp(): Promise<FoundAccount | undefined>
  /** Returns whether a stored hash is one of the password that was right. */
  isKnown(hash: string | null): boolean | Promise<boolean>
}

/**
 * Creates the confirmation of a sign-in, which runs after its session has started and before its token is sent. The host stores a new
 * password before it ends the sessions of the account. So either the confirmation finds the new password, or the host ends the session.
 *
 * It rejects with an `AuthError`: `invalid_credentials`, or `unavailable` when a dependency fails. It counts as no failed login.
 */
export function createConfirmation({ id, asOf, lookUp, isKnown }: Confirmed): Confirm {
  async function reasonAgainst(account: Account | undefined): Promise<LoginRefusal | undefined> {
    if (account?.id !== id) return 'unknown_account'
    const { passwordHash, disabled, tokensValidAfter } = account
    if (disabled) return 'account_disabled'
    // Not `<`: a time that is not a number must not pass.
    if (tokensValidAfter && !(asOf >= tokensValidAfter)) return 'superseded'
    return (await isKnown(passwordHash)) === true ? undefined : 'superseded'
  }

  return async function confirm() {
    const reason = await reasonAgainst((await lookUp())?.account)
    if (reason) throw new AuthError('invalid_credentials', { reason, accountId: id })
  }
}

/**
 * Returns the time of a look-up with the confirmation of its sign-in. The time carries it, because a function of the host copies the members
 * of a subject, and a subject needs its time anyway. The confirmation is neither printed nor copied.
 */
export const withConfirmation = (asOf: Date, confirm: Confirm): Date => brandWith('LookUpTime', asOf, confirm)

/** Returns the confirmation of a sign-in, or undefined for a subject that no login of this package returned. */
export const confirmationOf = (subject: TokenSubject) =>
  brandOf('LookUpTime', Object(memberOf(subject, 'issuedAt'))) as Confirm | undefined
