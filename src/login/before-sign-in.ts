import type { IncomingMessage } from 'node:http'
import type { Account, FoundAccount } from '../accounts/account.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError, copyOf, isAuthError } from '../errors/auth-error.js'
import { isSignInRefusal, type SignInRefusal } from '../errors/sign-in-refusal.js'
import { warnOnce } from '../events/warnings.js'
import type { Origin } from '../http/origin.js'
import { type Duration, isScopeList, tokenAge } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { describe, named } from '../options/read-options.js'
import { isPlainObject, memberOf, resultOrUndefined } from '../options/values.js'
import type { ExtraFields } from './read-credentials.js'
import { type FactorChecked, OTP, type SecondFactorStep } from './second-factor.js'

/** The way of a sign-in: a password, a mailed code, a passkey, or `'host'` for a call of `auth.signIn`. */
export type SignInMethod = 'password' | 'mail' | 'passkey' | 'host'

/** A sign-in whose account is authenticated: its password was right, for example. */
export interface CheckedSignIn<A = object, R = IncomingMessage> {
  /** The object that your look-up returned as `user`, or the account without its password hash. */
  account: A
  /** `'password'`, `'mail'`, `'passkey'`, or `'host'` for a call of `auth.signIn`. */
  method: SignInMethod
  /** The authentication methods (RFC 8176): `['pwd']` after a password, `['otp']` after a mailed code. Empty where they are not known. */
  amr: readonly string[]
  /** The members of the request body that `extraFields` names, as the client sent them: check them. Empty for a call of `auth.signIn`. */
  fields: ExtraFields
  /** The request. Undefined for a call of `logIn` without a request. */
  req: R
  /** Aborts when the client has disconnected, or after the time limit. */
  signal: AbortSignal
}

/** The terms of one sign-in, which `beforeSignIn` returns. They hold for all its tokens, also after a refresh. */
export interface SignInTerms {
  /** The lifetime of each token, from 1 s. A longer one than the account's or the issuer's has no effect. Default: the account's. */
  lifetime?: Duration | undefined
  /** Private claims, in addition to those of the account. One named `amr` is ignored where the sign-in has its own. Default none. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The scopes of the tokens: some of the account's. Default: all of the account's. */
  scopes?: readonly string[] | undefined
}

/**
 * Decides about every sign-in: by password, by mailed code, by passkey and by `auth.signIn`. Called after the account was authenticated, before
 * a session or a token exists. Not called for an administrator who acts as the account. Throws a `SignInRefusal` to refuse it, or an
 * `AuthError` with the code `invalid_credentials` for the response of a wrong password. An error with `expose: true` and a `status` of 400
 * to 499 goes to your error handler. Any other error, and a call that takes too long, causes a `503`.
 * @returns nothing, or the terms of the sign-in
 */
export type BeforeSignIn<A = object, R = IncomingMessage> = (
  signIn: CheckedSignIn<A, R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement returns void.
) => SignInTerms | undefined | null | void | Promise<SignInTerms | undefined | null | void>

/** The way of a sign-in, and its authentication methods (RFC 8176). */
export interface SignInBy {
  method: SignInMethod
  amr: readonly string[]
}

export const BY_PASSWORD: SignInBy = { method: 'password', amr: Object.freeze(['pwd']) }

export const BY_MAIL: SignInBy = { method: 'mail', amr: Object.freeze(['otp']) }

export const BY_PASSKEY: SignInBy = { method: 'passkey', amr: Object.freeze(['hwk', 'user']) }

/** The ways of a sign-in that need the second factor of the account. A passkey counts as both, and the host decides itself. */
const WITH_SECOND: ReadonlySet<SignInMethod> = new Set(['password', 'mail'])

/** The members of a sign-in that this step reads. */
export interface BeforeSignInTask extends Origin {
  /** The step that asks for the second factor, before the host's step. Default: none. */
  secondFactor?: SecondFactorStep | undefined
  beforeSignIn: BeforeSignIn<object, IncomingMessage | undefined> | undefined
  fields: ExtraFields
  /** True when the client sent a member that is not in `fields`. */
  hasUnnamed: boolean
  /** The time limit, in milliseconds. */
  timeout: number
}

/** A sign-in that may continue: its terms, and all its authentication methods. */
export interface AllowedSignIn {
  terms: SignInTerms | undefined
  amr: readonly string[]
  /** The second check of the factor. Default: none. */
  recheckFactor?: FactorChecked['recheckFactor']
}

/**
 * Asks for the second factor of the account, then the host about the sign-in.
 * @throws SignInRefusal of either, AuthError `invalid_credentials` of the host, or `unavailable`
 */
export async function allowSignIn(task: BeforeSignInTask, found: FoundAccount, by: SignInBy): Promise<AllowedSignIn> {
  const { secondFactor, fields } = task
  if (!secondFactor) return { terms: await askBeforeSignIn(task, found, by), amr: by.amr }
  // The host does not see the code.
  const { [OTP]: _, ...others } = fields
  const checked = WITH_SECOND.has(by.method) && (await secondFactor(found, fields).catch(withAccountOf(found)))
  const { added = [], recheckFactor }: Partial<FactorChecked> = checked || {}
  const amr = Object.freeze([...new Set([...by.amr, ...added])])
  return { terms: await askBeforeSignIn({ ...task, fields: others }, found, { ...by, amr }), amr, recheckFactor }
}

/** Returns a function that throws an error again, with the account where it is a refusal of the sign-in. */
const withAccountOf =
  ({ account }: FoundAccount) =>
  (error: unknown): never => {
    throw isSignInRefusal(error) ? withAccount(error, account.id) : error
  }

/**
 * Asks the host about a sign-in.
 * @throws SignInRefusal of the host, or AuthError `invalid_credentials` of the host or `unavailable`
 */
async function askBeforeSignIn(
  { beforeSignIn, fields, hasUnnamed, req, signal, timeout }: BeforeSignInTask,
  { account, user }: FoundAccount,
  { method, amr }: SignInBy,
): Promise<SignInTerms | undefined> {
  if (!beforeSignIn) return undefined
  const ended = new AbortController()
  const abort = () => ended.abort()
  // Not AbortSignal.any(), which Node 20 keeps in memory for as long as the connection is open.
  signal.addEventListener('abort', abort)
  // The client may have disconnected while its password was checked.
  if (signal.aborted) abort()
  try {
    const signIn = { account: user, method, amr, fields, req, signal: ended.signal }
    const ask = async () => readTerms(await beforeSignIn(signIn), account)
    const about = { accountId: account.id, option: 'beforeSignIn' } as const
    return await callHost('hook', ask, { timeout, mayRefuse: true, passThrough: ['invalid_credentials'], about })
  } catch (error) {
    abort()
    const isHidden = isAuthError(error) && error.code === 'invalid_credentials'
    if (hasUnnamed && (isHidden || isSignInRefusal(error))) warnOnce('unnamedField')
    if (isSignInRefusal(error)) throw withAccount(error, account.id)
    // Another one, because the error of the host may have headers that a wrong password does not have.
    throw isHidden ? new AuthError('invalid_credentials', { accountId: account.id, cause: error }) : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Returns a copy of a refusal, with the account. One that the host has changed so that it cannot be copied cannot be sent either. */
function withAccount(refusal: SignInRefusal, accountId: string): AuthError {
  const copy = resultOrUndefined(() => copyOf(refusal, { accountId }))
  return copy ?? new AuthError('unavailable', { dependency: 'hook', option: 'beforeSignIn', accountId, cause: refusal })
}

const MEMBERS = ['lifetime', 'claims', 'scopes']

/**
 * Reads what `beforeSignIn` returned.
 * @throws TypeError that names the mistake
 */
function readTerms(returned: unknown, account: Account): SignInTerms | undefined {
  if (returned === undefined || returned === null) return undefined
  const wrong = isPlainObject(returned) ? unknownIn(returned) : describe(returned)
  if (wrong) {
    throw misuse(
      `beforeSignIn: must return nothing, or { lifetime, claims, scopes }, but returned ${wrong}. To refuse the sign-in, throw new SignInRefusal('code')`,
    )
  }
  const { lifetime, claims, scopes }: SignInTerms = Object.fromEntries(
    MEMBERS.map((name) => [name, memberOf(returned, name)]),
  )
  if (lifetime !== undefined) named('beforeSignIn: "lifetime"', tokenAge, lifetime)
  if (claims !== undefined && !isPlainObject(claims)) throw misuse('beforeSignIn: "claims" must be an object')
  if (scopes !== undefined && !isScopeList(scopes)) throw misuse('beforeSignIn: "scopes" must be an array of scopes')
  if (scopes?.some((scope) => !account.scopes?.includes(scope))) {
    throw misuse('beforeSignIn: "scopes" contains a scope that the account does not have. Add the scope to the account')
  }
  return { lifetime, claims, scopes }
}

function unknownIn(returned: object): string | undefined {
  const unknown = Object.keys(returned).find((name) => !MEMBERS.includes(name))
  return unknown === undefined ? undefined : `a member "${unknown}"`
}
