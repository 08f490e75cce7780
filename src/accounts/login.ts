import { ask, blame, within } from '../dependency.js'
import { AuthError, type Dependency, type LoginRefusal } from '../errors.js'
import { type Account, type AccountStore, checkAccount } from './account.js'
import type { Passwords, PasswordsPlace } from './passwords.js'
import type { Throttle } from './throttle.js'

export interface Credentials {
  email: string
  password: string
}

interface LoginParts {
  store: AccountStore
  passwords: Passwords
  /** Failed-login budgets, if there are any. */
  throttle: Throttle | undefined
  /** How long the store and the password check may each take, in milliseconds. */
  timeout: number
}

/** Who asks, and whom to tell of what does not end the login. */
export interface LoginContext {
  /** The client's address. */
  address: string | undefined
  /** Aborted when the client has gone. */
  signal: AbortSignal
  /** Told when a new hash could not be made or stored, and when the throttle goes on without its shared store. */
  failed(dependency: Dependency, error: unknown): void
}

/**
 * Credentials → account, by one look-up and one password verification, whoever asks.
 * @throws AuthError `too_many_attempts` and `overloaded` before anything is looked up; `invalid_credentials`; `unavailable`
 *   when the store or the password check fails; `client_closed_request` when nobody waits any more
 */
export type Login = (credentials: Credentials, context: LoginContext) => Promise<Account>

export function createLogin({ store, passwords, throttle, timeout }: LoginParts): Login {
  async function find(email: string): Promise<Account | undefined> {
    // No address holds a NUL, and a database may choke on one: nobody's fault but the client's, so no 503.
    return email.includes('\0') ? undefined : checkAccount(await store.findByEmail(email))
  }

  async function check({ email, password }: Credentials, place: PasswordsPlace, signal: AbortSignal): Promise<Account> {
    const account = await unlessGone(
      signal,
      ask('accounts', timeout, () => find(email)),
    )
    const matches = await blame('passwords', () => place.verify(password, account?.passwordHash), OUT_OF_TURN)
    const reason = refusalOf(account, matches)
    if (!account || reason) {
      throw new AuthError('invalid_credentials', {
        ...(reason && { reason }),
        ...(account && { accountId: account.id }),
      })
    }
    return account
  }

  async function rehash({ id, passwordHash }: Account, password: string, place: PasswordsPlace): Promise<void> {
    if (!store.replacePasswordHash || passwordHash === null || !passwords.needsRehash?.(passwordHash)) return
    const renewed = await blame('passwords', () => place.hash(password))
    await ask('accounts', timeout, () => store.replacePasswordHash?.(id, passwordHash, renewed))
  }

  async function inPlace(credentials: Credentials, { signal, failed }: LoginContext): Promise<Account> {
    const place = passwords.reserve?.({ gone: signal, patience: timeout }) ?? withoutPlaces(passwords, timeout)
    try {
      const account = await check(credentials, place, signal)
      await rehash(account, credentials.password, place).catch((error: unknown) => failed(...partOf(error)))
      return account
    } finally {
      place.leave()
    }
  }

  return async function login(credentials, context) {
    const { address, signal, failed } = context
    if (signal.aborted) throw new AuthError('client_closed_request')
    const spent = await throttle?.spend(credentials.email, address, (error) => failed('throttle', error))
    try {
      const account = await inPlace(credentials, context)
      spent?.giveBack()
      return account
    } catch (error) {
      const code = error instanceof AuthError ? error.code : undefined
      // Who could not be checked has learnt nothing; but to hang up again and again is not free for its address.
      if (code !== 'invalid_credentials') spent?.giveBack(code === 'client_closed_request' ? 'address' : undefined)
      throw error
    }
  }
}

/** How a place ends a password check whose turn came too late, or never. */
const OUT_OF_TURN = ['client_closed_request', 'overloaded'] as const

/** For a host's own object that has no places: no queue, but the same deadline. */
function withoutPlaces(passwords: Passwords, timeout: number): PasswordsPlace {
  return {
    hash: (password) => within(timeout, () => passwords.hash(password)),
    verify: (password, hash) => within(timeout, () => passwords.verify(password, hash)),
    leave() {},
  }
}

/** An answer that is not waited for any longer than the client waits for us: the place is somebody else's then. */
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
  const known = error instanceof AuthError && error.dependency
  return known ? [known, error.cause] : ['passwords', error]
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}
