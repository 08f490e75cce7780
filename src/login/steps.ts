import type { IncomingMessage } from 'node:http'
import { type Account, type AccountStore, type FoundAccount, readAccount } from '../accounts/account.js'
import { noteLookUp } from '../accounts/mistakes.js'
import { callHost, isTimeout } from '../concurrency/host-call.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import type { Dependency, LoginRefusal } from '../errors/codes.js'
import { isSignInRefusal } from '../errors/sign-in-refusal.js'
import { LONGEST_EMAIL } from '../limits/account-key.js'
import type { Attempt, AttemptAdmission, AttemptOutcome, LimitsPort } from '../limits/attempt.js'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { ignoreRejection, ignoringErrors } from '../options/values.js'
import type { PasswordsSlot, QueuedPasswords } from '../passwords/passwords.js'
import type { HashChange } from '../sessions/refresh/password-tags.js'
import type { RefreshSteps } from '../sessions/refresh/refresh-steps.js'
import type { BeforeSignInTask } from './before-sign-in.js'
import type { Credentials, ExtraFields } from './read-credentials.js'

/** The dependencies of all logins. */
export interface LoginDependencies {
  accounts: AccountStore
  passwords: QueuedPasswords
  limits: LimitsPort
  /** The time limit for the wait in the queue, for the look-up and for the password check, each in milliseconds. */
  timeout: number
  clock: () => number | Date
}

/** One login: its dependencies, its credentials and its origin. */
export interface LoginTask extends LoginDependencies, Credentials, BeforeSignInTask {
  tenant: string | undefined
  /** Looks up an account that is known without its address. Default: the look-up is by the address. */
  findKnown?: (() => Promise<FoundAccount | undefined>) | undefined
  /** Called when a new hash could not be made or stored, and when the limits continue without their shared store. */
  dependencyFailed(dependency: Dependency, error: unknown): void
}

/** A login that has a queue slot, and whose account was looked up. */
export interface CheckedTask extends LoginTask {
  attempt: Attempt
  slot: PasswordsSlot
  found: FoundAccount | undefined
  /** The account of an event about a failure. */
  about: { accountId: string } | undefined
}

/** Refusals of a queue slot and of the failed-login limits: the password was not checked. */
export const NOT_CHECKED = ['client_closed_request', 'overloaded', 'too_many_attempts'] as const

/** Refusals of a new hash, after which the old one stays. */
const NOT_MADE = [...NOT_CHECKED, 'weak_password'] as const

/** The option `tenant`: returns the tenant of a sign-in, for example by the host name. */
export type TenantOf<R = IncomingMessage | undefined> = (signIn: { req: R; fields: ExtraFields }) => string

/**
 * Asks the host for the tenant of a sign-in.
 * @throws AuthError `unavailable` when the function fails, because the limits of another tenant must not count the login
 */
export function tenantIn(
  tenantOf: TenantOf | undefined,
  req: IncomingMessage | undefined,
  fields: ExtraFields,
): string | undefined {
  if (!tenantOf) return undefined
  try {
    const tenant: unknown = ignoreRejection(tenantOf({ req, fields }))
    if (typeof tenant === 'string' && tenant !== '') return tenant
    throw misuse(`logIn: option "tenant" must return a non-empty string, but returned ${describe(tenant)}`)
  } catch (cause) {
    throw new AuthError('unavailable', { dependency: 'hook', option: 'tenant', cause })
  }
}

/** Creates the attempt, which has not begun, and refuses a login whose limit is known to be reached. */
export function createAttempt(task: LoginTask): Promise<Attempt> {
  const { limits, timeout, dependencyFailed, email, address, tenant, findKnown } = task
  const storeFailed = (error: unknown) => dependencyFailed('limits', error)
  async function create(): Promise<Attempt> {
    const attempt = limits.attempt({ email, address, tenant, isKnown: findKnown !== undefined }, storeFailed)
    await attempt.check()
    return attempt
  }
  return callHost('limits', create, { timeout, passThrough: NOT_CHECKED })
}

/** Waits for a queue slot and for room in the limits: in one act, because a login without room must not keep a slot from others. */
export function waitForSlot(task: LoginTask, attempt?: Attempt): Promise<PasswordsSlot> {
  const { passwords, network, signal, timeout } = task
  return passwords.reserve({ network, signal, timeout, admit: attempt && (() => attempt.begin()) })
}

type LookUpTask = Pick<LoginTask, 'accounts' | 'email' | 'req' | 'fields' | 'tenant' | 'timeout' | 'findKnown'>

/** Looks the account up. Not ended when the client disconnects: the look-up keeps its slot while it runs. */
export function lookUpAccount({
  accounts,
  email,
  req,
  fields,
  tenant,
  timeout,
  findKnown,
}: LookUpTask): Promise<FoundAccount | undefined> {
  if (findKnown) return findKnown()
  // No account has an address that is too long or has a zero character, and a database may fail on such an address.
  const isAddress = email.length <= LONGEST_EMAIL && !email.includes('\0')
  async function lookUp(): Promise<FoundAccount | undefined> {
    if (!isAddress) return undefined
    const found = readAccount(await accounts.findByEmail(email, { req, fields, tenant }))
    noteLookUp(accounts, found)
    return found
  }
  return callHost('accounts', lookUp, { timeout })
}

/**
 * Reads what other processes have counted, when a hashing thread is free: so they count few failures before the check. Returns whether the
 * password may be checked.
 */
export async function admitAttempt({ slot, attempt, about, timeout }: CheckedTask): Promise<AttemptAdmission> {
  await callHost('passwords', () => slot.start(), { passThrough: NOT_CHECKED, about })
  return callHost('limits', () => attempt.admit(about?.accountId), { timeout, passThrough: NOT_CHECKED })
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

/** Ends the attempt. A login that has its result does not wait. */
export function endAttempt(attempt: Attempt, outcome: AttemptOutcome): void {
  ignoringErrors(() => attempt.end(outcome))
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
    const to = await callHost('passwords', () => slot.hash(password), { passThrough: NOT_MADE })
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
    // Or bcrypt refuses a password that it would cut.
    if (dependency) dependencyFailed(dependency, cause)
  }
  return replacement
}

/** The sessions of each account store, because several apps and logins may share the accounts. */
const sessionsOf = new WeakMap<object, Set<RefreshSteps>>()

/** Notes that sessions can be refreshed whose accounts are those of a store. */
export function noteSessionsOf(accounts: object, refreshSteps: RefreshSteps): void {
  const known = sessionsOf.get(accounts)
  if (known) known.add(refreshSteps)
  else sessionsOf.set(accounts, new Set([refreshSteps]))
}

/**
 * Announces a better hash of the same password to all sessions of the account store.
 * @throws AuthError `unavailable` or `overloaded`. Then the hash must not be stored
 */
async function announceHash(accounts: object, change: HashChange): Promise<void> {
  await Promise.all([...(sessionsOf.get(accounts) ?? [])].map((refreshSteps) => refreshSteps.announceHash(change)))
}

/**
 * Returns whether a refusal counts as a failed login: a wrong password, or a refusal of the host with `countAsFailure`. A late step counts if
 * it got a code of the client, because a host that delays the refusal of a wrong code must not make guesses free.
 */
export function isFailedLogin(error: unknown, fields: ExtraFields): boolean {
  if (isSignInRefusal(error)) return error.countAsFailure
  if (!isAuthError(error)) return false
  const { code, option, cause } = error
  if (code === 'invalid_credentials' || option !== 'beforeSignIn') return code === 'invalid_credentials'
  return isTimeout(cause) ? Object.keys(fields).length > 0 : isSignInRefusal(cause) && cause.countAsFailure
}

/** Ends the attempt of a refused login. */
export async function endRefusedAttempt(
  { timeout, fields }: Pick<LoginTask, 'timeout' | 'fields'>,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  if (isFailedLogin(error, fields)) {
    await callHost('limits', () => attempt.end('failed'), { timeout, passThrough: NOT_CHECKED })
  } else {
    const hasLeft = isAuthError(error) && error.code === 'client_closed_request'
    endAttempt(attempt, hasLeft ? 'disconnected' : 'not_checked')
  }
}
