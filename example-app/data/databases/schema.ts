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
  /** Used only without Redis. */
  sessions: {
    id: string
    account_id: string
    /** ISO 8601, as the other times. */
    created_at: string
    expires_at: string
    last_used_at: string
    address: string | null
    user_agent: string | null
    label: string | null
    refresh: string | null
  }
}

export type Database = Kysely<Schema>

const HOUSES = [
  { id: 'north', name: 'Clearing House North' },
  { id: 'south', name: 'Clearing House South' },
]

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
  await db.schema
    .createTable('sessions')
    .ifNotExists()
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text', (column) => column.notNull())
    .addColumn('address', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('label', 'text')
    .addColumn('refresh', 'text')
    .execute()
  await addRefreshColumn(db)
  await db.schema.createIndex('sessions_of_account').ifNotExists().on('sessions').column('account_id').execute()
  // Each sign-in deletes the expired sessions.
  await db.schema.createIndex('sessions_by_expiration').ifNotExists().on('sessions').column('expires_at').execute()
  await db
    .insertInto('houses')
    .values(HOUSES)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Adds the column to a table that an earlier version has created. */
async function addRefreshColumn(db: Database): Promise<void> {
  const isThere = async () => {
    const tables = await db.introspection.getTables()
    return tables.some(
      ({ name, columns }) => name === 'sessions' && columns.some((column) => column.name === 'refresh'),
    )
  }
  if (await isThere()) return
  try {
    await db.schema.alterTable('sessions').addColumn('refresh', 'text').execute()
  } catch (error) {
    // Another process was first.
    if (!(await isThere())) throw error
  }
}
