import type { FoundAccount } from '../../accounts/account.js'
import type { TokenSubject } from '../../tokens/jwt/issue-token.js'
import type { RecheckAccount } from '../steps/recheck-account.js'
import { type AccountSubject, type SignInTerms, subjectOf, withTerms } from '../steps/sign-in-terms.js'

/** A sign-in whose account is known. */
export interface KnownSignIn {
  /** The host's own object of the account, without its password hash. */
  user: object
  /** The subject of the token. */
  subject: TokenSubject
  /** The subject of the account as it was looked up. The one of the token may have other scopes, claims or another lifetime. */
  ofAccount: AccountSubject
  /** The terms that `beforeSignIn` returned. Default: none. */
  terms?: SignInTerms | undefined
  recheckAccount: RecheckAccount
}

/** The sign-ins of the subjects that the host's code has received. */
const signIns = new WeakMap<object, KnownSignIn>()

/** Returns the sign-in of an account. */
export function knownSignIn(
  { account, user }: FoundAccount,
  lookedUpAt: Date,
  recheckAccount: RecheckAccount,
  terms?: SignInTerms,
): KnownSignIn {
  const ofAccount = subjectOf(account, lookedUpAt)
  const signIn = { user, subject: withTerms({ ...ofAccount }, terms), ofAccount, terms, recheckAccount }
  signIns.set(signIn.subject, signIn)
  return signIn
}

/** Returns the sign-in whose subject the host passes, or undefined for any other value. */
export const knownSignInOf = (subject: unknown) => signIns.get(subject as object)
