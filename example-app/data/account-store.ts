import { randomUUID } from 'node:crypto'
import type { AccountStore } from 'express-token-endpoint'
import { kyselyAccounts } from 'express-token-endpoint/kysely'
import type { Database } from './databases/schema.js'

export interface NewAccount {
  email: string
  passwordHash: string
  scopes: readonly string[]
}

/** The scopes of a user who signs up. */
const SCOPES_OF_NEW = ['statements:read', 'reports:read']

/** The package's account store, with three functions that the app's commands need. */
export interface Accounts extends Required<AccountStore> {
  /** Adds an account. Returns its id, or undefined when the address is taken. */
  add(account: NewAccount): Promise<string | undefined>
  /**
   * Sets a new password and revokes the account's tokens.
   * @returns false when no account has this address
   */
  setPasswordHash(email: string, passwordHash: string): Promise<boolean>
  isEmpty(): Promise<boolean>
}

/** Creates the account store of a database. */
export function createAccountStore(db: Database): Accounts {
  const accounts = kyselyAccounts(db, {
    table: 'accounts',
    columns: { scopes: 'scopes', tokensValidAfter: 'tokens_valid_after' },
    normalizeEmail: folded,
    create: () => ({ id: randomUUID(), scopes: JSON.stringify(SCOPES_OF_NEW) }),
  })
  return {
    ...accounts,
    async remove(id) {
      await db.deleteFrom('statements').where('account_id', '=', id).execute()
      await accounts.remove(id)
    },
    async add({ email, passwordHash, scopes }) {
      const id = randomUUID()
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('accounts')
        .values({ id, email: folded(email), password_hash: passwordHash, scopes: JSON.stringify(scopes) })
        .onConflict((conflict) => conflict.column('email').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n ? id : undefined
    },
    async setPasswordHash(email, passwordHash) {
      const endTokens = () => ({ tokens_valid_after: new Date().toISOString() })
      const account = db.updateTable('accounts').where('email', '=', folded(email))
      await account.set({ password_hash: passwordHash, ...endTokens() }).execute()
      // Again, because a login may have read the old hash before the database stored the new one.
      const { numUpdatedRows } = await account.set(endTokens()).executeTakeFirstOrThrow()
      return numUpdatedRows === 1n
    },
    async isEmpty() {
      return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) === undefined
    },
  }
}

/** Returns an address in lower case, because this store ignores letter case. */
function folded(email: string): string {
  return email.toLowerCase()
}
