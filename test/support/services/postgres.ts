import { onTestFinished } from 'vitest'
import { HAS_POSTGRES, HOW_TO_GET_POSTGRES, type PostgresServer, postgresServer } from './servers/postgres-server.mjs'

export { PASSWORD } from './servers/postgres-server.mjs'

if (!HAS_POSTGRES) {
  const message = `PostgreSQL's server is not there. To get it: ${HOW_TO_GET_POSTGRES}`
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  process.stdout.write(`Tests with PostgreSQL are skipped: ${message}\n`)
}

/** True for `describe.skipIf` when PostgreSQL is not installed. */
export const NO_POSTGRES = !HAS_POSTGRES

export type TestPostgres = PostgresServer

/**
 * Starts a temporary PostgreSQL on a free port.
 * @param atEnd Called with a function that stops PostgreSQL. By default, it stops when the test ends
 */
export async function startPostgres(
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<TestPostgres> {
  const postgres = await postgresServer()
  atEnd(() => postgres.remove())
  await postgres.start()
  return postgres
}
