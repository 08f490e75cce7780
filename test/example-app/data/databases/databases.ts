import { beforeAll, onTestFinished } from 'vitest'
import { openDatabase } from '../../../../example-app/data/databases/database.js'
import type { Database } from '../../../../example-app/data/databases/schema.js'
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../support/services/postgres.js'
import { tempDir } from '../../support.js'

/** A busy machine needs long to set up a database server. */
export const SERVER_START_MS = 60_000

/** Starts PostgreSQL for the surrounding `describe`. Returns a function that creates a database and returns its URL. */
export function usePostgres(): () => Promise<string> {
  let server: TestPostgres
  beforeAll(async () => {
    let stop = async () => {}
    server = await startPostgres((end) => {
      stop = end
    })
    return stop
  }, SERVER_START_MS)
  return () => server.createDatabase()
}

const opened = async (databaseUrl: string | undefined): Promise<Database> => {
  const db = await openDatabase({ dataDir: await tempDir(), databaseUrl }, () => {})
  onTestFinished(() => db.destroy())
  return db
}

const SQLITE = { name: 'SQLite', skip: false, use: () => () => opened(undefined) }

/**
 * The databases of the example: only SQLite for `npm test`. Call `use` in a `describe`: it returns a function that opens an empty
 * database.
 */
export const DATABASES = [
  SQLITE,
  !process.env['TEST_QUICK'] && {
    name: 'PostgreSQL',
    skip: NO_POSTGRES,
    use: () => {
      const createDatabase = usePostgres()
      return async () => opened(await createDatabase())
    },
  },
].filter((database): database is typeof SQLITE => database !== false)
