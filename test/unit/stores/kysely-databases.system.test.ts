import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { createPasswords, type NewAccount } from 'express-token-endpoint'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectCodeStore } from '../../support/code-store.js'
import { expectFactorStore } from '../../support/factor-store.js'
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

  it.skipIf(isMissing)(
    'fulfil the contract of a store of factors, in the table that two processes create at once',
    async () => {
      const db = await opened()
      await Promise.all([createTables(db), createTables(db)])
      await expectFactorStore(kyselyStore(db).factors, kyselyStore(db).factors)
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
      create: () => ({ id: randomUUID() }),
    })
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash, scopes: [] }
    for (const { run } of accountStoreContract({ store, existing, otherStore: { ...store } }))
      await run({ skip: (reason) => expect.fail(reason) })
    const tooLong = 'x'.repeat(256)
    const error = await rejectionOf(store.replacePasswordHash('acc-1', passwordHash, tooLong) as Promise<boolean>)
    expect(inspect(error)).not.toMatch(/\$argon2|xxx/)
  })
})

const CONTEXT = { tenant: undefined, req: { headers: {} } }
const ANN = { email: 'Ann@example.com', passwordHash: 'hash-1' }
/** The parts of a table in SQL that differ, without a unique index on the address. */
const DIALECTS: Record<string, { id: string; uuid: string; anyCase: string }> = {
  PostgreSQL: {
    id: 'id bigserial primary key',
    uuid: 'id uuid primary key default gen_random_uuid()',
    anyCase: 'mail citext',
  },
  MariaDB: {
    id: 'id bigint auto_increment primary key',
    uuid: 'id uuid primary key default uuid()',
    anyCase: 'mail varchar(254)',
  },
}

describe.each(DATABASES)('accounts that sign up in %s', (name, isMissing, open) => {
  const { id, uuid, anyCase } = DIALECTS[name] as { id: string; uuid: string; anyCase: string }

  async function opened(columns: string, options: { create?: () => object } = {}) {
    const db = await open()
    onTestFinished(async () => {
      await sql`drop table if exists people`.execute(db)
      await db.destroy()
    })
    if (name === 'PostgreSQL') await sql`create extension if not exists citext`.execute(db)
    await sql`create table people (${sql.raw(columns)}, pw_hash varchar(255))`.execute(db)
    // biome-ignore lint/suspicious/noExplicitAny: each test has its own columns
    const people: Kysely<any> = db
    const columnNames = { email: 'mail', passwordHash: 'pw_hash' }
    const store = kyselyAccounts(people, { table: 'people', columns: columnNames, ...options })
    return { db: people, store, create: (account: NewAccount) => store.create(account, CONTEXT) }
  }
  const messageOf = async (rejecting: Promise<unknown>) => inspect(await rejectionOf(rejecting))

  it.skipIf(isMissing)('fulfil the contract with numbers that the table makes, and a required column', async () => {
    const { store, create } = await opened(`${id}, mail varchar(254) not null unique, nick varchar(20) not null`)
    const existing = (await create({ ...ANN, nick: 'Ann' })) as { id: string }
    expect(existing).toEqual({ id: '1', ...ANN })
    expect(await store.findById('1')).toEqual(existing)
    const options = { store, existing: { ...ANN, id: '1' }, unknownId: '999999', fields: { nick: 'Bob' } }
    for (const { run } of accountStoreContract(options)) await run({ skip: (reason) => expect.fail(reason) })
    expect(await messageOf(create({ email: 'x@example.com', passwordHash: 'hash-2' }))).toContain('needs a value')
  })

  it.skipIf(isMissing)('are refused while the address has no unique index', async () => {
    const { db, store, create } = await opened(`${id}, mail varchar(254)`)
    const fault = 'the table "people" has no unique index on "mail"'
    const calls = [store.prepare(), create(ANN), store.replaceEmail('1', 'a', 'b')]
    for (const message of await Promise.all(calls.map(messageOf))) expect(message).toContain(fault)
    expect(await db.selectFrom('people').selectAll().execute()).toEqual([])
    await sql`create unique index people_by_mail on people (mail)`.execute(db)
    await store.prepare()
    const created = await Promise.all(Array.from({ length: 8 }, () => create(ANN)))
    expect(created.filter(Boolean)).toHaveLength(1)
  })

  it.skipIf(isMissing)('are one for each address where the database ignores letter case', async () => {
    const { db, store, create } = await opened(`${id}, ${anyCase} unique`)
    await create(ANN)
    expect(await create({ ...ANN, email: 'ann@EXAMPLE.com' })).toBeUndefined()
    const bob = await create({ email: 'bob@example.com', passwordHash: 'hash-2' })
    const bobsId = String(bob?.id)
    expect(await store.replaceEmail(bobsId, 'bob@example.com', 'ANN@example.com')).toBe(false)
    expect(await store.replaceEmail(bobsId, 'BOB@example.com', 'eve@example.com')).toBe(false)
    expect(await store.replaceEmail(bobsId, 'bob@example.com', 'Bob@Example.com')).toBe(true)
    expect(await store.findByEmail('BOB@example.com')).toMatchObject({ id: bobsId, email: 'Bob@Example.com' })
    expect(await db.selectFrom('people').select('mail').orderBy('id').execute()).toEqual([
      { mail: 'Ann@example.com' },
      { mail: 'Bob@Example.com' },
    ])
  })

  it.skipIf(isMissing)('have a password for the first time, once', async () => {
    const { db, store, create } = await opened(`${id}, mail varchar(254) unique`)
    await create(ANN)
    await db.updateTable('people').set({ pw_hash: null }).execute()
    const both = ['hash-2', 'hash-3'].map((hash) => store.replacePasswordHash('1', null, hash))
    expect((await Promise.all(both)).sort()).toEqual([false, true])
  })

  it.skipIf(isMissing)('name another unique column that refuses them, without its value', async () => {
    const { create } = await opened(`${id}, mail varchar(254) unique, nick varchar(20) unique`)
    await create({ ...ANN, nick: 'secret-nick' })
    const message = await messageOf(create({ ...ANN, email: 'bob@example.com', nick: 'secret-nick' }))
    expect(message).toMatch(/other than "mail" already has the value of a new account \(.*nick.*\)/)
    expect(message).not.toContain('secret-nick')
  })

  it.skipIf(isMissing)('store an object of a client as one text', async () => {
    const { db, create } = await opened(`${id}, mail varchar(254) unique, nick varchar(200), tags varchar(200)`)
    await create({ ...ANN, nick: { pw_hash: 'x' }, tags: ['a', 'b'] })
    const [row] = await db.selectFrom('people').select(['nick', 'tags', 'pw_hash']).execute()
    expect(row).toEqual({ nick: '{"pw_hash":"x"}', tags: '["a","b"]', pw_hash: 'hash-1' })
  })

  it.skipIf(isMissing)('have a uuid that the table makes', async () => {
    const { store, create } = await opened(`${uuid}, mail varchar(254) unique`)
    const created = await create(ANN)
    expect(created?.id).toMatch(/^[\da-f-]{36}$/)
    expect(await store.findById(String(created?.id))).toEqual(created)
    await store.remove(String(created?.id))
    expect(await store.findByEmail(ANN.email)).toBeUndefined()
  })
})

it.skipIf(NO_POSTGRES)('accounts in another schema of PostgreSQL are refused too without a unique index', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the table has no types
  const db = (await openPostgres()) as Kysely<any>
  onTestFinished(() => db.destroy())
  await sql`create schema app create table people (id bigserial primary key, email text, password_hash text)`.execute(
    db,
  )
  const stores = [
    kyselyAccounts(db.withSchema('app'), { table: 'people' }),
    kyselyAccounts(db, { table: 'app.people' }),
  ]
  for (const store of stores) expect(String(await rejectionOf(store.prepare()))).toContain('no unique index on "email"')
  await sql`create unique index people_by_email on app.people (lower(email))`.execute(db)
  for (const store of stores) await store.prepare()
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
      [db, { sessions: 'app.devices', codes: 'app.links', factors: 'app.keys' }],
    ] as const) {
      for (let runs = 0; runs < 2; runs++) await createTables(one, { tables })
      await expectSessionStore(kyselyStore(one, { tables }).sessions)
    }
    const { rows } = await sql`select from pg_indexes where schemaname = 'app'`.execute(db)
    expect(rows).toHaveLength(18)
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
