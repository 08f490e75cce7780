import { type Account, type AccountStore, checkAccount } from './account.js'

/** An account with the e-mail address that it is found by. */
export type MemoryAccount = Account & {
  /** The address, compared letter for letter. */
  email: string
}

/**
 * An account store for tests and demos. Addresses are compared as they are, letter for letter.
 * @throws TypeError when something is no account, or two accounts share an id or an address
 */
export function memoryAccounts(accounts: Iterable<MemoryAccount>): Required<AccountStore> {
  const byEmail = new Map<string, MemoryAccount>()
  const byId = new Map<string, MemoryAccount>()
  for (const account of accounts) {
    if (typeof account?.email !== 'string') throw new TypeError('memoryAccounts: each account needs an "email"')
    checkAccount(account)
    if (byEmail.has(account.email) || byId.has(account.id)) {
      throw new TypeError('memoryAccounts: two accounts share an id or an e-mail address')
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
