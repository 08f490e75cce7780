import type { Config } from '../../config.js'
import type { Database } from './schema.js'

/** Opens PostgreSQL if it is configured, else SQLite in the data folder. Loads only the driver it needs. */
export async function openDatabase(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (line: string) => void,
): Promise<Database> {
  if (databaseUrl) return (await import('./postgres.js')).openPostgres(databaseUrl, log)
  return (await import('./sqlite.js')).openSqlite(dataDir)
}
