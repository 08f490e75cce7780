import { createTables } from 'express-token-endpoint/kysely'
import type { Kysely } from 'kysely'

export interface Schema {
  accounts: {
    id: string
    email: string
    password_hash: string | null
    /** JSON array of strings. */
    scopes: string
    /** ISO 8601. */
    tokens_valid_after: string | null
  }
  houses: { id: string; name: string }
  statements: {
    id: string
    house_id: string
    account_id: string
    /** ISO 8601 date. */
    day: string
    description: string
    amount_cents: number
  }
}

export type Database = Kysely<Schema>

/** The tables of the store, which is used only without Redis. */
export const TABLES = { tables: { sessions: 'device_sessions', codes: 'login_codes', factors: 'login_factors' } }

const HOUSES = [
  { id: 'north', name: 'Clearing House North' },
  { id: 'south', name: 'Clearing House South' },
]

/** Returns the columns that the sessions of an earlier version do not have. */
async function missingColumns(db: Database): Promise<string[]> {
  const tables = await db.introspection.getTables()
  const columns = tables.find(({ name }) => name === TABLES.tables.sessions)?.columns.map(({ name }) => name)
  return columns ? ['terms', 'data'].filter((column) => !columns.includes(column)) : []
}

async function addColumns(db: Database): Promise<void> {
  for (const column of await missingColumns(db)) {
    const add = db.schema.alterTable(TABLES.tables.sessions).addColumn(column, 'text').execute()
    await add.catch(async (error) => {
      // Another process may have added it at the same time.
      if ((await missingColumns(db)).includes(column)) throw error
    })
  }
}

/** Creates the missing tables. It uses only types that SQLite and PostgreSQL share. */
export async function createSchema(db: Database): Promise<void> {
  await db.schema
    .createTable('accounts')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('password_hash', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('tokens_valid_after', 'text')
    .execute()
  await db.schema
    .createTable('houses')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('statements')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('house_id', 'text', (column) => column.notNull().references('houses.id'))
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('amount_cents', 'integer', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('statements_of_account')
    .ifNotExists()
    .on('statements')
    .columns(['account_id', 'house_id'])
    .execute()
  await addColumns(db)
  await createTables(db, TABLES)
  // The sessions of an earlier version, which nothing else deletes.
  await db.schema.dropTable('sessions').ifExists().execute()
  await db
    .insertInto('houses')
    .values(HOUSES)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
