import type { Database } from './databases/schema.js'

export interface Statement {
  id: string
  day: string
  description: string
  amountCents: number
}

export interface House {
  id: string
  name: string
}

export interface Statements {
  findHouse(id: string): Promise<House | undefined>
  /** Returns an account's statements in one house, oldest first. */
  list(houseId: string, accountId: string): Promise<Statement[]>
}

export function createStatements(db: Database): Statements {
  return {
    async findHouse(id) {
      // A URL can contain NUL, which makes a query fail in PostgreSQL.
      if (!/^[\w-]+$/.test(id)) return undefined
      return db.selectFrom('houses').selectAll().where('id', '=', id).executeTakeFirst()
    },
    list: (houseId, accountId) =>
      db
        .selectFrom('statements')
        .select(['id', 'day', 'description', 'amount_cents as amountCents'])
        .where('house_id', '=', houseId)
        .where('account_id', '=', accountId)
        .orderBy('day')
        .orderBy('id')
        .execute(),
  }
}
