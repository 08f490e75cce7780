import { inspect } from 'node:util'
import { createPasswords } from 'express-token-endpoint'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectCodeStore } from '../../support/code-store.js'
import { rejectionOf } from '../../support/failures.js'
import { mariadb, NO_MARIADB } from '../../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { expectSessionStore } from '../../support/session-store.js'

interface Tables {
  users: { id: string; mail: string; pw_hash: string | null; since: Date | null }
}

async function openPostgres() {
  const connectionString = await (await startPostgres()).createDatabase()
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }) })
}

const DATABASES: [name: string, isMissing: boolean, open: () => Promise<Kysely<Tables>>][] = [
  ['PostgreSQL', NO_POSTGRES, openPostgres],
  [
    'MariaDB',
    NO_MARIADB,
    async () => {
      const pool = createPool({ host: '127.0.0.1', user: 'root', database: 'app', ...(await mariadb()) })
      return new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })
    },
  ],
]

describe.each(DATABASES)('stores in %s', (name, isMissing, open) => {
  async function opened() {
    const db = await open()
    onTestFinished(() => db.destroy())
    return db
  }

  it.skipIf(isMissing)(
    'fulfil the contract of a session store, in the table that two processes create at once',
    async () => {
      const db = await opened()
      await Promise.all([createTables(db), createTables(db)])
      const dropIndex = async () => {
        const drop = db.schema.dropIndex('sessions_by_end')
        await (name === 'MariaDB' ? drop.on('sessions') : drop).execute()
      }
      await dropIndex()
      await Promise.all([createTables(db), createTables(db)])
      // Fails unless the index is there again.
      await dropIndex()
      await expectSessionStore(kyselyStore(db).sessions, kyselyStore(db).sessions)
    },
  )

  it.skipIf(isMissing)(
    'fulfil the contract of a store of codes, in the table that two processes create at once',
    async () => {
      const db = await opened()
      await Promise.all([createTables(db), createTables(db)])
      await expectCodeStore(kyselyStore(db).codes, kyselyStore(db).codes)
    },
  )

  it.skipIf(isMissing)('fulfil the contract of an account store on the app’s own table', async () => {
    const db = await opened()
    await db.schema
      .createTable('users')
      .addColumn('id', 'varchar(36)', (column) => column.primaryKey())
      .addColumn('mail', 'varchar(254)', (column) => column.notNull().unique())
      .addColumn('pw_hash', 'varchar(255)')
      .addColumn('since', 'timestamp', (column) => column.defaultTo(null))
      .execute()
    const passwordHash = await createPasswords().hash('secret')
    await db
      .insertInto('users')
      .values({ id: 'acc-1', mail: 'alice@example.com', pw_hash: passwordHash, since: null })
      .execute()
    const store = kyselyAccounts(db, {
      table: 'users',
      columns: { email: 'mail', passwordHash: 'pw_hash', tokensValidAfter: 'since' },
    })
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash, scopes: [] }
    for (const { run } of accountStoreContract({ store, existing }))
      await run({ skip: (reason) => expect.fail(reason) })
    const tooLong = 'x'.repeat(256)
    const error = await rejectionOf(store.replacePasswordHash('acc-1', passwordHash, tooLong) as Promise<boolean>)
    expect(inspect(error)).not.toMatch(/\$argon2|xxx/)
  })
})

describe.skipIf(NO_POSTGRES)('createTables in PostgreSQL', () => {
  it('works in a migration, and where another schema has a table of the same name', async () => {
    const db = await openPostgres()
    onTestFinished(() => db.destroy())
    await sql`create schema auth create table sessions (id uuid)`.execute(db)
    for (let runs = 0; runs < 2; runs++) await db.transaction().execute((transaction) => createTables(transaction))
    expect(await kyselyStore(db).sessions.list('acc-1')).toEqual([])
  })

  it('creates the table in another schema, where a store finds it', async () => {
    const db = await openPostgres()
    onTestFinished(() => db.destroy())
    await sql`create schema app`.execute(db)
    for (const [one, tables] of [
      [db.withSchema('app'), {}],
      [db, { sessions: 'app.devices', codes: 'app.links' }],
    ] as const) {
      for (let runs = 0; runs < 2; runs++) await createTables(one, { tables })
      await expectSessionStore(kyselyStore(one, { tables }).sessions)
    }
    const { rows } = await sql`select from pg_indexes where schemaname = 'app'`.execute(db)
    expect(rows).toHaveLength(12)
  })

  it('rejects with the error that has ended the transaction of a migration', async () => {
    const db = await openPostgres()
    onTestFinished(() => db.destroy())
    const migrate = db.transaction().execute(async (transaction) => {
      await sql`set transaction read only`.execute(transaction)
      await createTables(transaction)
    })
    expect(String(await rejectionOf(migrate))).toContain('read-only transaction')
  })
})
