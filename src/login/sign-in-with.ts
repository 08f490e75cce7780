import type { IncomingMessage } from 'node:http'
import type { FoundAccount } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { AuthError } from '../errors/auth-error.js'
import type { Origin } from '../http/origin.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { type AllowedSignIn, allowSignIn, type BeforeSignIn, type SignInBy } from './before-sign-in.js'
import { type KnownSignIn, knownSignIn } from './known-sign-in.js'
import type { ExtraFields } from './read-credentials.js'
import { createRecheck } from './recheck-account.js'
import type { SecondFactorStep } from './second-factor.js'

/** The dependencies of a sign-in without the login's password check. */
export interface SignInWithParts {
  tokens: TokenIssuer
  findById: FindById
  beforeSignIn: BeforeSignIn<object, IncomingMessage | undefined> | undefined
  /** The step that asks for a second factor. Default: none. */
  secondFactor?: SecondFactorStep | undefined
  /** The time limit for each look-up and for `beforeSignIn`, in milliseconds. */
  timeout: number
}

/** A sign-in without the login's password check: a mailed code, a passkey, or a call of the host. */
export interface SigningIn extends SignInBy {
  /** The members of the body that `extraFields` names. */
  fields: ExtraFields
  /** True when the client sent a member that is neither in `fields` nor read by the route. */
  hasUnnamed: boolean
  /** The client. Undefined for an administrator who acts as the account: `beforeSignIn` is not asked then. */
  origin: Origin | undefined
  /** The time of the sign-in, where it is before the look-up. A later `tokensValidAfter` refuses it. Default: the time of the look-up. */
  since?: Date | undefined
}

/** An authenticated account. */
interface AuthenticatedAccount extends SigningIn {
  /** The account, as `findById` returned it. */
  found: FoundAccount | undefined
  /** The id that was looked up. */
  accountId: string
  /** The time just before the account was looked up. */
  lookedUpAt: Date
}

/**
 * Turns an authenticated account into a sign-in for `finishSignIn`: refuses an account that may not sign in, then asks `beforeSignIn`. Its
 * second check of the account refuses a password or an address that was changed since the look-up.
 * @throws AuthError `invalid_credentials` for an account that is gone or disabled, or has ended its earlier tokens since; `unavailable`;
 * SignInRefusal of the host
 */
export async function signInWith(
  { findById, beforeSignIn, secondFactor, timeout }: SignInWithParts,
  { accountId: id, lookedUpAt, origin, since, ...signIn }: AuthenticatedAccount,
): Promise<KnownSignIn> {
  const found = currentAccount(signIn.found, since ?? lookedUpAt)
  if (typeof found === 'string') throw new AuthError('invalid_credentials', { reason: found, accountId: id })
  const { fields, hasUnnamed } = signIn
  const { passwordHash, email } = found.account
  const { terms, amr, recheckFactor }: AllowedSignIn = origin
    ? await allowSignIn({ ...origin, beforeSignIn, secondFactor, fields, hasUnnamed, timeout }, found, signIn)
    : { terms: undefined, amr: signIn.amr }
  const recheckAccount = createRecheck({
    id,
    lookedUpAt,
    async lookUp() {
      const current = await findAccount(findById, id, timeout)
      // A store may create an account and return it without its address.
      return email == null || current?.account.email === email ? current : undefined
    },
    isKnown: (hash) => hash === passwordHash,
  })
  return knownSignIn(found, { lookedUpAt, recheckAccount, recheckFactor, terms, amr, signedInAt: since })
}

/**
 * Looks an authenticated account up by its id, and signs it in.
 * @throws the errors of `signInWith`
 */
export async function signInById(parts: SignInWithParts, id: string, signIn: SigningIn): Promise<KnownSignIn> {
  const { tokens, findById, timeout } = parts
  const lookedUpAt = new Date(Number(tokens.now()))
  const found = await findAccount(findById, id, timeout)
  return signInWith(parts, { ...signIn, found, accountId: id, lookedUpAt })
}
