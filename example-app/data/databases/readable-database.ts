import { existsSync } from 'node:fs'
import type { Config } from '../../config.js'
import { OperatorError } from '../../errors.js'
import { openDatabase } from './database.js'
import type { Database } from './schema.js'
import { openFile, sqliteFile } from './sqlite.js'

/**
 * Opens the clearing houses' database to read it.
 * @throws OperatorError when the SQLite file does not exist yet
 */
export async function openReadableDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: (line: string) => void,
): Promise<Database> {
  if (config.databaseUrl) return openDatabase(config, log)
  const file = sqliteFile(config.dataDir)
  // SQLite would create the file.
  if (!existsSync(file)) {
    throw new OperatorError(`${file} does not exist. Start the clearing-house API first: npm start clearing-house`)
  }
  try {
    // The driver's `readonly` option has no effect.
    return openFile(file, ['query_only = ON'])
  } catch (error) {
    throw new OperatorError(`${file}: ${(error as Error).message}`)
  }
}
