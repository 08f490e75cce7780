import { existsSync } from 'node:fs'
import type { Config } from '../../config.js'
import { Failure } from '../../failure.js'
import { openDatabase } from './database.js'
import type { Database } from './schema.js'
import { openFile, sqliteFile } from './sqlite.js'

/**
 * The clearing houses' database, for who only reads.
 * @throws Failure when there is no such file yet
 */
export async function openReadableDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (line: string) => void,
): Promise<Database> {
  if (config.databaseUrl) return openDatabase(config, log)
  const file = sqliteFile(config.dataDir)
  // SQLite would make one.
  if (!existsSync(file)) {
    throw new Failure(`${file} is not there. The clearing-house API makes it: npm run start:clearing-house`)
  }
  try {
    // The driver's own option for this does nothing.
    return openFile(file, ['query_only = ON'])
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`)
  }
}
