import { ask } from '../dependency.js'
import { AuthError, type LoginRefusal } from '../errors.js'
import { type Account, type AccountStore, checkAccount } from './account.js'
import type { Passwords } from './passwords.js'

export interface Credentials {
  email: string
  password: string
}

interface LoginParts {
  store: AccountStore
  passwords: Passwords
  /** How long each part may take, in milliseconds. */
  timeout: number
}

/** Told when a new hash could not be made or stored; the login itself went well. */
type RehashFailed = (error: unknown) => void

/**
 * Credentials → account, by one look-up and one password verification, whoever asks.
 * @throws AuthError `invalid_credentials`, or `unavailable` when the store or the password check fails
 */
export type Login = (credentials: Credentials, rehashFailed: RehashFailed) => Promise<Account>

export function createLogin({ store, passwords, timeout }: LoginParts): Login {
  const find = async (email: string) => {
    // No address holds a NUL, and a database may choke on one: nobody's fault but the client's, so no 503.
    return email.includes('\0') ? undefined : checkAccount(await store.findByEmail(email))
  }

  async function rehash({ id, passwordHash }: Account, password: string): Promise<void> {
    if (!store.replacePasswordHash || passwordHash === null || !passwords.needsRehash?.(passwordHash)) return
    const renewed = await ask('passwords', timeout, () => passwords.hash(password))
    await ask('accounts', timeout, () => store.replacePasswordHash?.(id, passwordHash, renewed))
  }

  return async function login({ email, password }, rehashFailed) {
    const account = await ask('accounts', timeout, () => find(email))
    const matches = await ask('passwords', timeout, () => passwords.verify(password, account?.passwordHash))
    const reason = refusalOf(account, matches)
    if (!account || reason) {
      throw new AuthError('invalid_credentials', {
        ...(reason && { reason }),
        ...(account && { accountId: account.id }),
      })
    }
    await rehash(account, password).catch(rehashFailed)
    return account
  }
}

function refusalOf(account: Account | undefined, matches: boolean): LoginRefusal | undefined {
  if (!account) return 'unknown_account'
  if (account.passwordHash === null) return 'no_password'
  if (matches !== true) return 'wrong_password'
  return account.disabled ? 'account_disabled' : undefined
}
