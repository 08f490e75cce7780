import { onTestFinished } from 'vitest'
import { HAS_POSTGRES, HOW_TO_GET_POSTGRES, type PostgresServer, postgresServer } from './servers/postgres-server.mjs'

export { PASSWORD } from './servers/postgres-server.mjs'

if (!HAS_POSTGRES) {
  const message = `PostgreSQL's server is not there. To get it: ${HOW_TO_GET_POSTGRES}`
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  process.stdout.write(`Tests with PostgreSQL are skipped: ${message}\n`)
}

/** For `describe.skipIf`: whether this machine has no PostgreSQL. */
export const NO_POSTGRES = !HAS_POSTGRES

export type TestPostgres = PostgresServer

/**
 * Starts a throw-away PostgreSQL on a free port.
 * @param atEnd is given what stops it; by default it is stopped when the test is over
 */
export async function startPostgres(
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<TestPostgres> {
  const postgres = await postgresServer()
  atEnd(() => postgres.remove())
  await postgres.start()
  return postgres
}
