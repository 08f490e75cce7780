import { type Account, type AccountStore, type FoundAccount, readAccount } from '../accounts/account.js'
import type { SlotRequest } from '../accounts/passwords/hash-queue.js'
import type { Passwords, PasswordsSlot } from '../accounts/passwords/passwords.js'
import { LONGEST_EMAIL } from '../accounts/throttle/account-key.js'
import type { Attempt, Spent } from '../accounts/throttle/attempt.js'
import type { Throttle } from '../accounts/throttle/throttle.js'
import { isThenable } from '../options/values.js'
import { AuthError, isAuthError } from '../refusals/auth-error.js'
import type { Dependency, LoginRefusal } from '../refusals/codes.js'
import { tell } from '../refusals/events.js'
import type { Source } from '../waiting/fair-queue.js'
import { callHost, withDeadline } from '../waiting/host-call.js'
import { createConfirmation } from './confirmation.js'

/** The name and the password of an account. */
export interface Credentials {
  /** The e-mail address, or another name of the account, as the client sent it. The store receives this text. */
  email: string
  /** The password, as the client sent it. */
  password: string
}

interface LoginParts {
  store: AccountStore
  passwords: Passwords
  throttle: Throttle | undefined
  /** The time limit for the wait in the queue, for the look-up and for the password check, each in milliseconds. */
  timeout: number
  clock: () => number | Date
}

/** The origin of a login, and a callback for failures that do not end the login. */
export interface LoginContext {
  address: string | undefined
  source: Source
  /** Aborted when the client has disconnected. */
  signal: AbortSignal
  /** Called when a new hash could not be made or stored, and when the throttle continues without its shared store. */
  dependencyFailed(dependency: Dependency, error: unknown): void
}

/** An account that signs in, and the time just before the account was looked up. */
export interface LoggedIn extends FoundAccount {
  asOf: Date
  /** Confirms the sign-in after its session has started, see `createConfirmation`. */
  confirm(): Promise<void>
}

/** A login whose password was right, and the hashes of this password: the stored one, and the one that replaces it. */
interface Checked extends FoundAccount {
  asOf: Date
  hashes: Set<string | null>
}

/** Refusals of a queue slot and of the failed-login limits: the password was not checked. */
const NOT_CHECKED = ['client_closed_request', 'overloaded', 'too_many_attempts'] as const

/**
 * Creates the authentication: credentials → account, with one look-up and one password check for every request. `src/README.md` lists its seven
 * steps. Rejects with an `AuthError`: `too_many_attempts`, `overloaded`, `invalid_credentials`, `client_closed_request`, or `unavailable`
 * when the store, the password check or the throttle fails.
 */
export function createAuthentication({ store, passwords, throttle, timeout, clock }: LoginParts) {
  const limited = { timeout, passThrough: NOT_CHECKED }

  function findByEmail(email: string): Promise<FoundAccount | undefined> {
    // No account has an address that is too long or has a zero character, and a database may fail on such an address.
    const isAddress = email.length <= LONGEST_EMAIL && !email.includes('\0')
    const lookUp = async () => (isAddress ? readAccount(await store.findByEmail(email)) : undefined)
    return callHost('accounts', lookUp, { timeout })
  }

  async function check(
    { email, password }: Credentials,
    slot: PasswordsSlot,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<Checked> {
    const asOf = new Date(clock())
    // Not ended when the client disconnects: the look-up keeps its slot while it runs.
    const found = await findByEmail(email)
    if (signal.aborted) throw new AuthError('client_closed_request')
    const about = found && { accountId: found.account.id }
    const checking = { passThrough: NOT_CHECKED, about }
    if (attempt.count) {
      await callHost('passwords', () => slot.start?.(), checking)
      await callHost('throttle', () => attempt.count?.(), { ...limited, late: () => tell(giveBack, attempt) })
    }
    const matches = await callHost('passwords', () => slot.verify(password, found?.account.passwordHash), checking)
    const reason = refusalOf(found?.account, matches)
    if (found && !reason) return { ...found, asOf, hashes: new Set([found.account.passwordHash]) }
    throw new AuthError('invalid_credentials', { ...(reason && { reason }), ...about })
  }

  async function rehash({ account, hashes }: Checked, password: string, slot: PasswordsSlot): Promise<void> {
    const { id, passwordHash } = account
    if (!store.replacePasswordHash || passwordHash === null) return
    if (!(await callHost('passwords', () => passwords.needsRehash?.(passwordHash)))) return
    const replacement = await callHost('passwords', () => slot.hash(password), { passThrough: NOT_CHECKED })
    // Before the call, because a store that fails may have stored it.
    hashes.add(replacement)
    await callHost('accounts', () => store.replacePasswordHash?.(id, passwordHash, replacement), { timeout })
  }

  const reserve = (request: SlotRequest): Promise<PasswordsSlot> =>
    callHost(
      'passwords',
      async () => (await passwords.reserve?.({ ...request, timeout })) ?? withoutQueue(passwords, timeout),
      { ...limited, late: (held) => tell(leave, held) },
    )

  /** Verifies a hash that was stored meanwhile. Another login may have stored a new hash of the same password. */
  async function verifyLater(password: string, hash: string | null, { source, signal }: LoginContext) {
    const slot = await reserve({ source, signal })
    try {
      return await callHost('passwords', () => slot.verify(password, hash), { passThrough: NOT_CHECKED })
    } finally {
      tell(leave, slot)
    }
  }

  async function createAttempt(
    limits: Throttle,
    { email, password }: Credentials,
    { address, dependencyFailed }: LoginContext,
  ): Promise<Attempt> {
    const digest = await limits.digestPassword?.(password)
    const login = [email, address, (error: unknown) => dependencyFailed('throttle', error), digest] as const
    const attempt = limits.attempt?.(...login) ?? attemptOf(limits, login)
    await attempt.check()
    return attempt
  }

  /** The confirmation keeps the hashes and the password to itself, so that nothing that a host prints or sends has them. */
  function loggedIn({ hashes, ...found }: Checked, { email, password }: Credentials, context: LoginContext): LoggedIn {
    const confirm = createConfirmation({
      id: found.account.id,
      asOf: found.asOf,
      // By the address, because guards call `findById` on every request and a host may cache it.
      lookUp: () => findByEmail(email),
      isKnown: (hash) => hashes.has(hash) || verifyLater(password, hash, context),
    })
    return { ...found, confirm }
  }

  async function logIn(credentials: Credentials, context: LoginContext): Promise<LoggedIn> {
    const { source, signal, dependencyFailed } = context
    if (signal.aborted) throw new AuthError('client_closed_request')
    const attempt = throttle
      ? await callHost('throttle', () => createAttempt(throttle, credentials, context), limited)
      : UNLIMITED
    let begun = false
    const admit = () => {
      begun ||= attempt.begin() === true
      return begun
    }
    let slot: PasswordsSlot | undefined
    try {
      slot = await reserve({ source, signal, admit })
      // A host's own queue may not call `admit`.
      if (!admit()) throw new AuthError('overloaded')
      const checked = await check(credentials, slot, attempt, signal)
      tell(giveBack, attempt)
      await rehash(checked, credentials.password, slot).catch(({ dependency, cause }: AuthError) => {
        // Without a dependency, no hashing thread was free before the timeout. A later login replaces the hash.
        if (dependency) dependencyFailed(dependency, cause)
      })
      return loggedIn(checked, credentials, context)
    } catch (error) {
      const code = isAuthError(error) ? error.code : undefined
      if (code === 'invalid_credentials') await callHost('throttle', () => attempt.failed?.(), limited)
      // An unchecked password is not a failed login.
      else tell(code === 'client_closed_request' ? giveBackDisconnected : giveBack, attempt)
      throw error
    } finally {
      tell(leave, slot)
    }
  }

  /**
   * Refuses a client whose address is known to have reached its failed-login limit. Call it before the body is read.
   * @returns a promise where the host's own throttle returns one
   * @throws AuthError `too_many_attempts`, or `overloaded` when the client's network has disconnected during too many logins
   */
  function checkAddress(address: string | undefined): Promise<unknown> | undefined {
    const checked: unknown = throttle?.checkAddress?.(address)
    return isThenable(checked) ? callHost('throttle', () => checked, limited) : undefined
  }

  return Object.assign(logIn, { checkAddress })
}

/** Creates the attempt of a host's own throttle, which counts it before the password is checked. */
function attemptOf(limits: Throttle, login: Readonly<Parameters<Throttle['spend']>>): Attempt {
  const [email, address, , digest] = login
  let spent: Spent | undefined
  return {
    check: () => limits.check?.(email, address, digest),
    begin: () => true,
    async count() {
      spent = await limits.spend(...login)
    },
    giveBack: (reason) => spent?.giveBack(reason),
    failed: () => spent?.failed?.(),
  }
}

const UNLIMITED: Attempt = { check() {}, begin: () => true, giveBack() {} }

// A slot, a throttle and an attempt of the host may be asynchronous, and fail.
const leave = (slot: PasswordsSlot | undefined) => slot?.leave()
const giveBack = (attempt: Attempt) => attempt.giveBack()
const giveBackDisconnected = (attempt: Attempt) => attempt.giveBack('disconnected')

/** Returns a slot with the same deadlines for a host's own object that has no queue. */
function withoutQueue(passwords: Passwords, timeout: number): PasswordsSlot {
  return {
    hash: async (password) => withDeadline(timeout, passwords.hash(password)),
    verify: async (password, hash) => withDeadline(timeout, passwords.verify(password, hash)),
    leave() {},
  }
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}
