import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'
import { Failure } from './failure.js'

export interface Schema {
  accounts: {
    id: string
    email: string
    password_hash: string | null
    /** JSON: an array of strings. */
    scopes: string
    /** ISO 8601. */
    tokens_valid_after: string | null
  }
  houses: { id: string; name: string }
  statements: {
    id: string
    house_id: string
    account_id: string
    /** ISO 8601, the date alone. */
    day: string
    description: string
    amount_cents: number
  }
}

export type Database = Kysely<Schema>

/** Opens the database in the data folder; makes the folder, the file and the tables that are not there yet. */
export async function openDatabase(dataDir: string): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'clearing-house.sqlite')
  // SQLite would make the file readable for everyone, and it holds password hashes.
  closeSync(openSync(file, 'a', 0o600))
  try {
    const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: openSqlite(file) }) })
    await createSchema(db)
    return db
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}

function openSqlite(file: string): Sqlite.Database {
  const sqlite = new Sqlite(file)
  // The account command writes while the server runs: wait for each other's locks instead of failing at once.
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma('journal_mode = WAL')
  sqlite.pragma('foreign_keys = ON')
  return sqlite
}

const HOUSES = [
  { id: 'north', name: 'Clearing House North' },
  { id: 'south', name: 'Clearing House South' },
]

/**
 * Only types that SQLite and PostgreSQL both have. Each step can be run again, and by several processes at once; a
 * transaction around them would make SQLite refuse the second process instead of having it wait.
 */
async function createSchema(db: Database): Promise<void> {
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
  await db
    .insertInto('houses')
    .values(HOUSES)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
