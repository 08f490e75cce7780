import type { IncomingMessage } from 'node:http'
import { type Account, type AccountStore, type FoundAccount, readAccount } from '../accounts/account.js'
import { noteLookUp } from '../accounts/mistakes.js'
import type { PasswordsPort } from '../accounts/passwords/host-passwords.js'
import type { PasswordsSlot } from '../accounts/passwords/passwords.js'
import { LONGEST_EMAIL } from '../accounts/throttle/account-key.js'
import type { Attempt } from '../accounts/throttle/attempt.js'
import type { ThrottlePort } from '../accounts/throttle/host-throttle.js'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { ignoringErrors, isThenable, settled } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { Dependency, LoginRefusal } from '../refusals/codes.js'
import { isSignInRefusal } from '../refusals/sign-in-refusal.js'
import type { Origin } from '../requests/origin.js'
import { callHost } from '../waiting/host-call.js'
import { type AfterPasswordTask, askAfterPassword, type ExtraFields } from './steps/after-password.js'
import { type Confirm, createConfirmation } from './steps/confirmation.js'
import { endAttempt, endRefusedAttempt, NOT_CHECKED } from './steps/end-attempt.js'
import type { SignInTerms } from './steps/sign-in-terms.js'

/** The name and the password of an account. */
export interface Credentials {
  /** The e-mail address, or another name of the account, as the client sent it. The store receives this text. */
  email: string
  /** The password, as the client sent it. */
  password: string
}

/** The option `limitKey`: returns the name of an account for the failed-login limits, for example with its tenant. */
export type LimitKey<R = IncomingMessage | undefined> = (signIn: {
  email: string
  req: R
  fields: ExtraFields
}) => string

/** The dependencies of all logins. */
export interface LoginDependencies {
  accounts: AccountStore
  passwords: PasswordsPort
  throttle: ThrottlePort
  limitKey: LimitKey | undefined
  /** The time limit for the wait in the queue, for the look-up and for the password check, each in milliseconds. */
  timeout: number
  clock: () => number | Date
}

/** One login: its dependencies, its credentials and its origin. */
export interface LoginTask extends LoginDependencies, Credentials, AfterPasswordTask {
  /** Called when a new hash could not be made or stored, and when the throttle continues without its shared store. */
  dependencyFailed(dependency: Dependency, error: unknown): void
}

/** A login that has a queue slot, and whose account was looked up. */
interface CheckedTask extends LoginTask {
  attempt: Attempt
  slot: PasswordsSlot
  found: FoundAccount | undefined
}

/** An account that signs in, and the time just before the account was looked up. */
export interface LoggedIn extends FoundAccount {
  asOf: Date
  confirm: Confirm
  terms: SignInTerms | undefined
}

/**
 * Logs in: credentials → account, with one look-up and one password check for every login.
 * @throws SignInRefusal of the host; AuthError `too_many_attempts`, `overloaded`, `invalid_credentials`, `client_closed_request`, or `unavailable` when the store, the
 * password check or the throttle fails
 */
export async function logIn(task: LoginTask): Promise<LoggedIn> {
  assertConnected(task)
  const attempt = await createAttempt(task)
  let slot: PasswordsSlot | undefined
  let step: Promise<unknown> | undefined
  try {
    slot = await waitForSlot({ ...task, attempt })
    assertBegun(attempt)
    const asOf = new Date(task.clock())
    const found = await lookUpAccount(task)
    assertConnected(task)
    const checked = { ...task, attempt, slot, found }
    await countAttempt(checked)
    const verified = await verifyPassword(checked)
    const terms = await askAfterPassword(task, verified, (promise) => {
      step = promise
    })
    endAttempt(attempt, 'succeeded')
    const replacement = await replaceOutdatedHash(checked)
    return { ...verified, asOf, terms, confirm: confirmationOf(task, verified.account, asOf, replacement) }
  } catch (error) {
    await endRefusedAttempt(task, attempt, error, step)
    throw error
  } finally {
    // After the end of the attempt, which may make room for a login that waits.
    if (slot) leaveSlot(slot)
  }
}

/**
 * Refuses a client whose address is known to have reached its failed-login limit. Call it before the body is read.
 * @returns a promise where the host's own throttle returns one
 * @throws AuthError `too_many_attempts`, or `overloaded` when the client's network has disconnected during too many logins
 */
export function refuseKnownAddress(
  { throttle, timeout }: Pick<LoginDependencies, 'throttle' | 'timeout'>,
  address: string | undefined,
): Promise<unknown> | undefined {
  const checked: unknown = throttle.checkAddress(address)
  const options = { timeout, passThrough: NOT_CHECKED }
  return isThenable(checked) ? callHost('throttle', () => checked, options) : undefined
}

function assertConnected({ signal }: Origin): void {
  if (signal.aborted) throw new AuthError('client_closed_request')
}

/** Creates the attempt, which has not begun, and refuses a login whose limit is known to be reached. */
function createAttempt(task: LoginTask): Promise<Attempt> {
  const { throttle, address, password, timeout, dependencyFailed } = task
  const storeFailed = (error: unknown) => dependencyFailed('throttle', error)
  async function create(): Promise<Attempt> {
    const digest = await throttle.digestPassword?.(password)
    const attempt = throttle.attempt(keyOf(task), address, storeFailed, digest)
    await attempt.check()
    return attempt
  }
  return callHost('throttle', create, { timeout, passThrough: NOT_CHECKED })
}

/** Returns the name of the account for the failed-login limits. */
function keyOf({ limitKey, email, req, fields }: LoginTask): string {
  if (!limitKey) return email
  const key: unknown = settled(limitKey({ email, req, fields }))
  if (typeof key === 'string' && key !== '') return key
  throw misuse(`logIn: limitKey must return a non-empty text, but returned ${describe(key)}`)
}

/** Waits for a queue slot and for room in the limits: in one act, because a login without room must not keep a slot from others. */
function waitForSlot(task: LoginTask & { attempt?: Attempt }): Promise<PasswordsSlot> {
  const { passwords, attempt, source, signal, timeout } = task
  const admit = attempt && (() => attempt.begin())
  const reserve = () => passwords.reserve({ source, signal, timeout, admit })
  return callHost('passwords', reserve, { timeout, passThrough: NOT_CHECKED, late: leaveSlot })
}

/** Refuses a login whose attempt has found no room: a host's own queue may not call `admit`. */
function assertBegun(attempt: Attempt): void {
  if (attempt.begin() !== true) throw new AuthError('overloaded')
}

/** Looks the account up. Not ended when the client disconnects: the look-up keeps its slot while it runs. */
function lookUpAccount({ accounts, email, req, fields, timeout }: LoginTask): Promise<FoundAccount | undefined> {
  // No account has an address that is too long or has a zero character, and a database may fail on such an address.
  const isAddress = email.length <= LONGEST_EMAIL && !email.includes('\0')
  async function lookUp(): Promise<FoundAccount | undefined> {
    if (!isAddress) return undefined
    const found = readAccount(await accounts.findByEmail(email, { req, fields }))
    noteLookUp(accounts, found)
    return found
  }
  return callHost('accounts', lookUp, { timeout })
}

/** Counts the attempt for all processes, when a hashing thread is free: so it counts as under way for a short time. */
async function countAttempt({ slot, attempt, found, timeout }: CheckedTask): Promise<void> {
  await callHost('passwords', () => slot.start(), { passThrough: NOT_CHECKED, about: aboutOf(found) })
  const late = () => endAttempt(attempt, 'not_checked')
  await callHost('throttle', () => attempt.count(), { timeout, passThrough: NOT_CHECKED, late })
}

/** @throws AuthError `invalid_credentials` with the reason, after the same work for every account and for none */
async function verifyPassword({ slot, password, found }: CheckedTask): Promise<FoundAccount> {
  const about = aboutOf(found)
  const verify = () => slot.verify(password, found?.account.passwordHash)
  const matches = await callHost('passwords', verify, { passThrough: NOT_CHECKED, about })
  const reason = refusalOf(found?.account, matches)
  if (found && !reason) return found
  throw new AuthError('invalid_credentials', { ...(reason && { reason }), ...about })
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}

/** The account of an event about a failure. */
const aboutOf = (found: FoundAccount | undefined) => found && { accountId: found.account.id }

/**
 * Replaces the hash when its hasher or its cost is outdated. A failure does not end the login.
 * @returns the new hash, also when the store failed: it may have stored the hash
 */
async function replaceOutdatedHash(task: CheckedTask): Promise<string | undefined> {
  const { accounts, passwords, slot, password, found, timeout, dependencyFailed } = task
  const hash = found?.account.passwordHash
  if (!found || !accounts.replacePasswordHash || typeof hash !== 'string') return undefined
  let replacement: string | undefined
  try {
    if (!(await callHost('passwords', () => passwords.needsRehash(hash)))) return undefined
    const made = await callHost('passwords', () => slot.hash(password), { passThrough: NOT_CHECKED })
    replacement = made
    await callHost('accounts', () => accounts.replacePasswordHash?.(found.account.id, hash, made), { timeout })
  } catch (error) {
    const { dependency, cause } = error as AuthError
    // Without a dependency, no hashing thread was free before the timeout. A later login replaces the hash.
    // bcrypt refuses a password that it would cut.
    if (dependency && !isSignInRefusal(cause)) dependencyFailed(dependency, cause)
  }
  return replacement
}

/** The confirmation keeps the hashes and the password to itself, so that nothing that a host prints or sends has them. */
function confirmationOf(task: LoginTask, { id, passwordHash }: Account, asOf: Date, replacement: string | undefined) {
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

/** A slot of a host's own queue may be asynchronous, and fail. */
function leaveSlot(slot: PasswordsSlot): void {
  ignoringErrors(() => slot.leave())
}
