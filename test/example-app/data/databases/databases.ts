import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createPasswords } from 'express-token-endpoint'
import { sql } from 'kysely'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { createAccountStore } from '../../../../example-app/data/account-store.js'
import { openDatabase } from '../../../../example-app/data/databases/database.js'
import type { Database } from '../../../../example-app/data/databases/schema.js'
import { addDemoData } from '../../../../example-app/data/demo.js'
import { openSharedState } from '../../../../example-app/data/shared-state.js'
import { OperatorError } from '../../../../example-app/errors.js'
import { newSession } from '../../../../src/sessions/session.js'
import { rejectionOf } from '../../../support/failures.js'
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../support/services/postgres.js'
import { expectSessionStore } from '../../../support/session-store.js'
import { tempDir } from '../../support.js'

/** Starts PostgreSQL for the surrounding `describe`. Returns a function that creates a database and returns its URL. */
export function usePostgres(): () => Promise<string> {
  let server: TestPostgres
  beforeAll(async () => {
    let stop = async () => {}
    server = await startPostgres((end) => {
      stop = end
    })
    return stop
  })
  return () => server.createDatabase()
}

const opened = async (databaseUrl?: string): Promise<Database> => {
  const db = await openDatabase({ dataDir: await tempDir(), databaseUrl }, () => {})
  onTestFinished(() => db.destroy())
  return db
}

/** Opens a database of SQLite with the demo data. Returns it with the parts of the app that use it. */
export async function openDemo() {
  const db = await opened()
  const passwords = createPasswords()
  await addDemoData(db, passwords)
  const { store } = await openSharedState(undefined, db, () => {})
  return { db, passwords, accounts: createAccountStore(db), store }
}

/** Adds the table of sessions of an earlier version, opens the database three times at once, and expects a working store of new sessions. */
export async function expectNewSessions(db: Database, open: () => Promise<Database>): Promise<void> {
  await sql`create table sessions (id text primary key, account_id text not null, expires_at text not null)`.execute(db)
  await sql`create index sessions_of_account on sessions (account_id)`.execute(db)
  await sql`insert into sessions values ('old', 'acc-1', '2099-01-01T00:00:00.000Z')`.execute(db)
  for (const table of ['device_sessions', 'login_codes']) await db.schema.dropTable(table).execute()
  const [again] = await Promise.all([open(), open(), open()] as const)
  const names = (await again.introspection.getTables()).map(({ name }) => name)
  expect(names.sort()).toEqual(['accounts', 'device_sessions', 'houses', 'login_codes', 'login_factors', 'statements'])
  const { store } = await openSharedState(undefined, again, () => {})
  expect(await store.sessions.find('old')).toBeUndefined()
  await expectSessionStore(store.sessions)
}

/** Removes the columns that an earlier version did not have, opens the database three times at once, and expects its session with them. */
export async function expectNewColumns(db: Database, open: () => Promise<Database>): Promise<void> {
  const { sessions } = (await openSharedState(undefined, db, () => {})).store
  const session = newSession({ id: 'session-1', accountId: 'acc-1', expiresAt: new Date(8.64e14) }, Date.now())
  await sessions.add(session)
  for (const column of ['terms', 'data']) await db.schema.alterTable('device_sessions').dropColumn(column).execute()
  const [again] = await Promise.all([open(), open(), open()] as const)
  const { store } = await openSharedState(undefined, again, () => {})
  expect(await store.sessions.find('session-1')).toMatchObject({ accountId: 'acc-1', terms: null, data: null })
  await expectSessionStore(store.sessions)
}

const SQLITE = { name: 'SQLite', skip: false, use: () => () => opened() }

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

/** Expects that a database does not open, with one line for the operator that contains no password. */
export async function expectClosed(opening: Promise<unknown>, says: RegExp, hides: readonly string[]): Promise<void> {
  const error = (await rejectionOf(opening)) as OperatorError
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message).toMatch(says)
  expect(error.message).toMatch(/^(DATABASE|REDIS)_URL: .+$/)
  for (const secret of hides) expect(error.message).not.toContain(secret)
}

/** Starts a server that never responds. Returns its port. */
export async function silentPort(): Promise<number> {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
