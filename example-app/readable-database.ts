import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'
import type { Config } from './config.js'
import { openDatabase } from './database.js'
import { Failure } from './failure.js'
import type { Database, Schema } from './schema.js'

/**
 * The clearing houses' database, for who only reads.
 * @throws Failure when there is no such file yet
 */
export async function openReadableDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (line: string) => void,
): Promise<Database> {
  if (config.databaseUrl) return openDatabase(config, log)
  const file = join(config.dataDir, 'clearing-house.sqlite')
  // SQLite would make one.
  if (!existsSync(file)) {
    throw new Failure(`${file} is not there. The clearing-house API makes it: npm run start:clearing-house`)
  }
  try {
    return new Kysely<Schema>({ dialect: new SqliteDialect({ database: openFile(file) }) })
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}

function openFile(file: string): Sqlite.Database {
  const sqlite = new Sqlite(file)
  sqlite.pragma('busy_timeout = 5000')
  // The driver's own option for this does nothing.
  sqlite.pragma('query_only = ON')
  return sqlite
}
