import type { Config } from './config.js'
import { openPostgres } from './postgres.js'
import type { Database } from './schema.js'
import { openSqlite } from './sqlite.js'

/** PostgreSQL where it is configured; else a file in the data folder. */
export function openDatabase(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (line: string) => void,
): Promise<Database> {
  return databaseUrl ? openPostgres(databaseUrl, log) : openSqlite(dataDir)
}
