import { onTestFinished } from 'vitest'
import { isMissing } from './missing.js'
import { HAS_POSTGRES, HOW_TO_GET_POSTGRES, postgresServer } from './servers/postgres-server.mjs'

export { PASSWORD } from './servers/postgres-server.mjs'

/** True for `describe.skipIf` when PostgreSQL is not installed. */
export const NO_POSTGRES = isMissing(HAS_POSTGRES, 'PostgreSQL', HOW_TO_GET_POSTGRES)

export type TestPostgres = Awaited<ReturnType<typeof postgresServer>>

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
