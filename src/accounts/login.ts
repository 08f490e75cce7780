import { AuthError, type Dependency, isAuthError, type LoginRefusal } from '../shared/errors.js'
import { tell } from '../shared/events.js'
import type { Source } from '../shared/fair-queue.js'
import { ask, blame, within } from '../shared/host-call.js'
import { type Account, type AccountStore, checkAccount } from './account.js'
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
  now?: () => Date
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

/** An account whose password was right, and the moment just before it was looked up. */
export interface LoggedIn {
  account: Account
  asOf: Date
}

export type Login = (credentials: Credentials, context: LoginContext) => Promise<LoggedIn>

/**
 * Creates the login: credentials → account. Its steps, in this order:
 *
 * 1. refuse at once when a failed-login limit is known to be used up
 * 2. wait for a queue slot
 * 3. count the attempt against the limits
 * 4. look the account up, and check the password: one look-up and one check, whoever asks
 * 5. take the attempt back, unless it was a failed login
 * 6. renew an outdated hash
 *
 * Rejects with an `AuthError`: `too_many_attempts`, `overloaded`, `invalid_credentials`, `client_closed_request`, or `unavailable`
 * when the store, the password check or the throttle fails.
 */
export function createLogin({ store, passwords, throttle, timeout, now = () => new Date() }: LoginParts): Login {
  async function find(email: string): Promise<Account | undefined> {
    // No account has such an address, and a database may fail on it.
    return email.includes('\0') || isTooLong(email) ? undefined : checkAccount(await store.findByEmail(email))
  }

  async function check({ email, password }: Credentials, place: PasswordsSlot, signal: AbortSignal): Promise<LoggedIn> {
    const asOf = now()
    const account = await unlessGone(
      signal,
      ask('accounts', timeout, () => find(email)),
    )
    const matches = await blame('passwords', () => place.verify(password, account?.passwordHash), NOT_CHECKED)
    const reason = refusalOf(account, matches)
    if (!account || reason) {
      throw new AuthError('invalid_credentials', {
        ...(reason && { reason }),
        ...(account && { accountId: account.id }),
      })
    }
    return { account, asOf }
  }

  async function rehash({ id, passwordHash }: Account, password: string, place: PasswordsSlot): Promise<void> {
    if (!store.replacePasswordHash || passwordHash === null || !passwords.needsRehash?.(passwordHash)) return
    const renewed = await blame('passwords', () => place.hash(password))
    await ask('accounts', timeout, () => store.replacePasswordHash?.(id, passwordHash, renewed))
  }

  return async function login(credentials, { address, source, signal, failed }) {
    const { email, password } = credentials
    if (signal.aborted) throw new AuthError('client_closed_request')
    if (throttle?.check) await ask('throttle', timeout, () => throttle.check?.(email, address), THROTTLED)
    const reserve = async () =>
      (await passwords.reserve?.({ source, signal, timeout })) ?? withoutQueue(passwords, timeout)
    const place = await ask('passwords', timeout, reserve, NOT_CHECKED)
    try {
      const spent =
        throttle &&
        (await ask('throttle', timeout, () => throttle.spend(email, address, (e) => failed('throttle', e)), THROTTLED))
      const found = await check(credentials, place, signal).catch((error: unknown) => {
        const code = isAuthError(error) ? error.code : undefined
        // An unchecked password is not a failed login. Disconnecting again and again still counts against the address.
        if (code !== 'invalid_credentials') giveBack(spent, code === 'client_closed_request' ? 'address' : undefined)
        throw error
      })
      giveBack(spent)
      await rehash(found.account, password, place).catch((error: unknown) => failed(...partOf(error)))
      return found
    } finally {
      // A host's own place may be asynchronous, and fail.
      tell(() => place.leave(), undefined)
    }
  }
}

/** Takes an attempt back. A host's own throttle may do so asynchronously, and fail. */
function giveBack(spent: Spent | undefined, but?: 'address'): void {
  tell(() => spent?.giveBack(but), undefined)
}

/** How a slot ends a password check that did not take place. */
const NOT_CHECKED = ['client_closed_request', 'overloaded'] as const

const THROTTLED = ['too_many_attempts'] as const

/** Stands in for the slot of a host's own object that has no queue: the same deadlines. */
function withoutQueue(passwords: Passwords, timeout: number): PasswordsSlot {
  return {
    hash: (password) => within(timeout, () => passwords.hash(password)),
    verify: (password, hash) => within(timeout, () => passwords.verify(password, hash)),
    leave() {},
  }
}

/** Stops waiting when the client disconnects, so that the slot is free for somebody else. */
function unlessGone<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(new AuthError('client_closed_request'))
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AuthError('client_closed_request'))
    signal.addEventListener('abort', giveUp, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** Which part failed, and why. */
function partOf(error: unknown): [Dependency, unknown] {
  const known = isAuthError(error) && error.dependency
  return known ? [known, error.cause] : ['passwords', error]
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}
