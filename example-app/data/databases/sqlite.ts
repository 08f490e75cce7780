import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'
import { OperatorError } from '../../errors.js'
import { createSchema, type Database, type Schema } from './schema.js'

/** Returns the path of the database in the data folder. */
export const sqliteFile = (dataDir: string) => join(dataDir, 'clearing-house.sqlite')

/** Opens the database in the data folder, and creates the missing folder, file and tables. */
export async function openSqlite(dataDir: string): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = sqliteFile(dataDir)
  // SQLite would create a file that everyone can read, and the file contains password hashes.
  closeSync(openSync(file, 'a', 0o600))
  try {
    const db = openFile(file, ['journal_mode = WAL', 'foreign_keys = ON'])
    // Inside a transaction, SQLite would refuse a second process instead of making it wait.
    await createSchema(db)
    return db
  } catch (error) {
    throw new OperatorError(`${file}: ${(error as Error).message}`)
  }
}

export function openFile(file: string, pragmas: readonly string[]): Database {
  const sqlite = new Sqlite(file)
  // The account command writes while the server runs, so both wait for locks instead of failing at once.
  sqlite.pragma('busy_timeout = 5000')
  for (const pragma of pragmas) sqlite.pragma(pragma)
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) })
}
