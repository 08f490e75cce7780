import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'
import { Failure } from './failure.js'
import { createSchema, type Database, type Schema } from './schema.js'

/** Opens the database in the data folder; makes the folder, the file and the tables that are not there yet. */
export async function openSqlite(dataDir: string): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'clearing-house.sqlite')
  // SQLite would make the file readable for everyone, and it holds password hashes.
  closeSync(openSync(file, 'a', 0o600))
  try {
    const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: openFile(file) }) })
    // A transaction around the steps would make SQLite refuse a second process instead of having it wait.
    await createSchema(db)
    return db
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}

function openFile(file: string): Sqlite.Database {
  const sqlite = new Sqlite(file)
  // The account command writes while the server runs: wait for each other's locks instead of failing at once.
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma('journal_mode = WAL')
  sqlite.pragma('foreign_keys = ON')
  return sqlite
}
