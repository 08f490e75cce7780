import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'
import { Failure } from '../../failure.js'
import { createSchema, type Database, type Schema } from './schema.js'

/** The database in the data folder. */
export const sqliteFile = (dataDir: string) => join(dataDir, 'clearing-house.sqlite')

/** Opens the database in the data folder; makes the folder, the file and the tables that are not there yet. */
export async function openSqlite(dataDir: string): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = sqliteFile(dataDir)
  // SQLite would make the file readable for everyone, and it holds password hashes.
  closeSync(openSync(file, 'a', 0o600))
  try {
    const db = openFile(file, ['journal_mode = WAL', 'foreign_keys = ON'])
    // A transaction around the steps would make SQLite refuse a second process instead of having it wait.
    await createSchema(db)
    return db
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}

export function openFile(file: string, pragmas: readonly string[]): Database {
  const sqlite = new Sqlite(file)
  // The account command writes while the server runs: wait for each other's locks instead of failing at once.
  sqlite.pragma('busy_timeout = 5000')
  for (const pragma of pragmas) sqlite.pragma(pragma)
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) })
}
