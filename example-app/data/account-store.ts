import { randomUUID } from 'node:crypto'
import type { Account, AccountStore } from 'express-token-endpoint'
import type { Selectable } from 'kysely'
import type { Database, Schema } from './databases/schema.js'

export interface NewAccount {
  email: string
  passwordHash: string
  scopes: readonly string[]
}

/** What the package asks of a store, and what this app's own commands need on top. */
export interface Accounts extends Required<AccountStore> {
  /** @returns the new account's id; undefined when there is one with this address already */
  add(account: NewAccount): Promise<string | undefined>
  /**
   * Sets a new password, and ends the tokens that were issued before.
   * @returns whether there is such an account
   */
  setPasswordHash(email: string, passwordHash: string): Promise<boolean>
  isEmpty(): Promise<boolean>
}

/** Accounts in a database. */
export function createAccountStore(db: Database): Accounts {
  return {
    async findByEmail(email) {
      if (!storable(email)) return undefined
      const row = await db.selectFrom('accounts').selectAll().where('email', '=', folded(email)).executeTakeFirst()
      return row && accountOf(row)
    },
    async findById(id) {
      const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
      return row && accountOf(row)
    },
    async replacePasswordHash(id, from, to) {
      // One statement: between a read and a write, a password that was just changed would be overwritten.
      const { numUpdatedRows } = await db
        .updateTable('accounts')
        .set({ password_hash: to })
        .where('id', '=', id)
        .where('password_hash', '=', from)
        .executeTakeFirstOrThrow()
      return numUpdatedRows === 1n
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
      const { numUpdatedRows } = await db
        .updateTable('accounts')
        .set({ password_hash: passwordHash, tokens_valid_after: new Date().toISOString() })
        .where('email', '=', folded(email))
        .executeTakeFirstOrThrow()
      return numUpdatedRows === 1n
    },
    async isEmpty() {
      return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) === undefined
    },
  }
}

/** Letter case makes no difference in this store's addresses: they are kept, and looked up, in lower case. */
function folded(email: string): string {
  return email.toLowerCase()
}

/** No database holds half of a surrogate pair, and PostgreSQL no NUL: to ask for such an address would be an error there. */
function storable(email: string): boolean {
  return email.isWellFormed() && !email.includes('\0')
}

function accountOf(row: Selectable<Schema['accounts']>): Account {
  return {
    id: row.id,
    passwordHash: row.password_hash,
    scopes: JSON.parse(row.scopes),
    tokensValidAfter: row.tokens_valid_after === null ? null : new Date(row.tokens_valid_after),
  }
}
