import { misuse, PAGE } from '../shared/misuse.js'
import { type Account, type AccountStore, readAccount } from './account.js'

/** An account with its e-mail address. */
export type MemoryAccount = Account & {
  /** The e-mail address, compared exactly. */
  email: string
}

/**
 * Creates an account store for tests and demos. It compares addresses exactly, including letter case.
 * @throws TypeError when an account is invalid, or when two accounts share an id or an address
 */
export function memoryAccounts(accounts: Iterable<MemoryAccount>): Required<AccountStore> {
  const byEmail = new Map<string, MemoryAccount>()
  const byId = new Map<string, MemoryAccount>()
  for (const account of accounts) {
    if (typeof account?.email !== 'string') throw misuse('memoryAccounts: each account needs an "email"', PAGE.accounts)
    readAccount(account)
    if (byEmail.has(account.email) || byId.has(account.id)) {
      throw misuse('memoryAccounts: two accounts share an id or an e-mail address', PAGE.accounts)
    }
    byEmail.set(account.email, account)
    byId.set(account.id, account)
  }
  return {
    findByEmail: (email) => byEmail.get(email),
    findById: (id) => byId.get(id),
    async replacePasswordHash(id, from, to) {
      const account = byId.get(id)
      if (account?.passwordHash !== from) return false
      const replaced = { ...account, passwordHash: to }
      byId.set(id, replaced)
      byEmail.set(account.email, replaced)
      return true
    },
  }
}
