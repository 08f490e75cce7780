import { AuthError, type Dependency, isAuthError, type LoginRefusal } from '../shared/errors.js'
import { tell } from '../shared/events.js'
import { callHost, withDeadline } from '../shared/host-call.js'
import type { Source } from '../shared/queues/fair-queue.js'
import { type Account, type AccountStore, type FoundAccount, readAccount } from './account.js'
import type { Passwords, PasswordsSlot } from './passwords/passwords.js'
import { isTooLong } from './throttle/account-key.js'
import type { Spent, Throttle } from './throttle/throttle.js'

export interface Credentials {
  email: string
  password: string
}

interface LoginParts {
  store: AccountStore
  passwords: Passwords
  /** The failed-login limits, if there are any. */
  throttle: Throttle | undefined
  /** The time limit for the wait in the queue, for the look-up and for the password check, each in milliseconds. */
  timeout: number
  /** Default: the process's clock. */
  clock?: { now(): Date }
}

/** The origin of a login, and a callback for failures that do not end the login. */
export interface LoginContext {
  /** The client's address. */
  address: string | undefined
  source: Source
  /** Aborted when the client has disconnected. */
  signal: AbortSignal
  /** Called when a new hash could not be made or stored, and when the throttle continues without its shared store. */
  failed(dependency: Dependency, error: unknown): void
}

/** An account whose password was right, and the time just before the account was looked up. */
export interface LoggedIn extends FoundAccount {
  asOf: Date
}

export type Login = (credentials: Credentials, context: LoginContext) => Promise<LoggedIn>

/** Refusals of a queue slot: the password was not checked. */
const NOT_CHECKED = ['client_closed_request', 'overloaded'] as const

const SYSTEM_CLOCK = { now: () => new Date() }

const THROTTLED = ['too_many_attempts'] as const

/**
 * Creates the login: credentials → account. Its steps, in this order:
 *
 * 1. refuse at once when a failed-login limit is known to be used up
 * 2. wait for a queue slot
 * 3. count the attempt against the limits
 * 4. look the account up, and check the password: one look-up and one check for every request
 * 5. take the attempt back, unless it was a failed login
 * 6. replace an outdated hash
 *
 * Rejects with an `AuthError`: `too_many_attempts`, `overloaded`, `invalid_credentials`, `client_closed_request`, or `unavailable`
 * when the store, the password check or the throttle fails.
 */
export function createLogin({ store, passwords, throttle, timeout, clock = SYSTEM_CLOCK }: LoginParts): Login {
  async function check({ email, password }: Credentials, slot: PasswordsSlot, signal: AbortSignal): Promise<LoggedIn> {
    const asOf = clock.now()
    // No account has an address that is too long or has a zero character, and a database may fail on such an address.
    const lookUp = async () =>
      email.includes('\0') || isTooLong(email) ? undefined : readAccount(await store.findByEmail(email))
    const found = await callHost('accounts', lookUp, { timeout, signal })
    const hash = found?.account.passwordHash
    const matches = await callHost('passwords', () => slot.verify(password, hash), { passThrough: NOT_CHECKED })
    const reason = refusalOf(found?.account, matches)
    if (found && !reason) return { ...found, asOf }
    throw new AuthError('invalid_credentials', {
      ...(reason && { reason }),
      ...(found && { accountId: found.account.id }),
    })
  }

  async function rehash({ id, passwordHash }: Account, password: string, slot: PasswordsSlot): Promise<void> {
    if (!store.replacePasswordHash || passwordHash === null || !passwords.needsRehash?.(passwordHash)) return
    const replacement = await callHost('passwords', () => slot.hash(password))
    await callHost('accounts', () => store.replacePasswordHash?.(id, passwordHash, replacement), { timeout })
  }

  return async function login(credentials, { address, source, signal, failed }) {
    const { email, password } = credentials
    const throttling = { timeout, passThrough: THROTTLED }
    if (signal.aborted) throw new AuthError('client_closed_request')
    const digest =
      throttle?.digestPassword && (await callHost('throttle', () => throttle.digestPassword?.(password), throttling))
    if (throttle?.check) await callHost('throttle', () => throttle.check?.(email, address, digest), throttling)
    const reserve = async () =>
      (await passwords.reserve?.({ source, signal, timeout })) ?? withoutQueue(passwords, timeout)
    const slot = await callHost('passwords', reserve, { timeout, passThrough: NOT_CHECKED, late: leave })
    try {
      const storeFailed = (error: unknown) => failed('throttle', error)
      const spent =
        throttle &&
        (await callHost('throttle', () => throttle.spend(email, address, storeFailed, digest), {
          ...throttling,
          late: giveBack,
        }))
      const loggedIn = await check(credentials, slot, signal).catch(async (error: unknown) => {
        const code = isAuthError(error) ? error.code : undefined
        if (code === 'invalid_credentials') await callHost('throttle', () => spent?.failed?.(), throttling)
        // An unchecked password is not a failed login. Disconnecting again and again still counts against the address.
        else giveBack(spent, code === 'client_closed_request' ? 'address' : undefined)
        throw error
      })
      giveBack(spent)
      await rehash(loggedIn.account, password, slot).catch((error: unknown) => failed(...failureOf(error)))
      return loggedIn
    } finally {
      leave(slot)
    }
  }
}

/** Leaves a slot. A host's own slot may be asynchronous, and fail. */
function leave(slot: PasswordsSlot): void {
  tell(() => slot.leave(), undefined)
}

/** Takes an attempt back. A host's own throttle may do so asynchronously, and fail. */
function giveBack(spent: Spent | undefined, except?: 'address'): void {
  tell(() => spent?.giveBack(except), undefined)
}

/** Returns a slot with the same deadlines for a host's own object that has no queue. */
function withoutQueue(passwords: Passwords, timeout: number): PasswordsSlot {
  return {
    hash: (password) => withDeadline(timeout, () => passwords.hash(password)),
    verify: (password, hash) => withDeadline(timeout, () => passwords.verify(password, hash)),
    leave() {},
  }
}

/** Returns the dependency that failed, and the cause. */
function failureOf(error: unknown): [Dependency, unknown] {
  const dependency = isAuthError(error) && error.dependency
  return dependency ? [dependency, error.cause] : ['passwords', error]
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}
