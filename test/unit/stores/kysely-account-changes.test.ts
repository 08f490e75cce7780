// Tests stores/{kysely-account-changes,kysely-account-table}.ts
import { inspect } from 'node:util'
import { type AccountStore, type NewAccount, SignInRefusal } from 'express-token-endpoint'
import { type KyselyAccountsOptions, kyselyAccounts } from 'express-token-endpoint/kysely'
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectMisuse, rejectionOf } from '../../support/failures.js'

// biome-ignore lint/suspicious/noExplicitAny: each test has its own table
type AnyTables = any

const CONTEXT = { tenant: undefined, req: { headers: {} } }
const ANN = { email: 'ann@example.com', passwordHash: 'hash-1' }
const TABLE = 'id integer primary key autoincrement, email text not null unique, password_hash text'

async function open(columns = TABLE, options: Partial<KyselyAccountsOptions<AnyTables, string>> = {}) {
  const db = new Kysely<AnyTables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  onTestFinished(() => db.destroy())
  await sql`create table users (${sql.raw(columns)})`.execute(db)
  const store = kyselyAccounts(db, { table: 'users', ...options })
  const rows = () => db.selectFrom('users').selectAll().execute()
  const create = (account: NewAccount = ANN) => store.create(account, CONTEXT)
  return { db, store, rows, create }
}

async function expectRejection(promise: Promise<unknown>, message: string): Promise<void> {
  const error = await rejectionOf(promise)
  expectMisuse(() => {
    throw error
  }, message)
  expect(inspect(error)).not.toMatch(/hash-|ann@/)
}

describe('create of kyselyAccounts', () => {
  it('returns the account of the new row, with the id of the table', async () => {
    const { store, create, rows } = await open()
    const account = await create()
    expect(account).toEqual({ id: '1', ...ANN })
    expect(await store.findById('1')).toEqual(account)
    expect(await rows()).toEqual([{ id: 1, email: ANN.email, password_hash: 'hash-1' }])
  })

  it('takes each field for a column of its name, as one value', async () => {
    const { create, rows } = await open(`${TABLE}, name text, tags text, news integer, age integer, nick text`)
    const fields = { name: 'A\0nn\ud800', tags: { toString: 1, id: [2] }, news: true, age: 7, nick: null }
    await create({ ...ANN, ...fields })
    const row = { name: 'Ann\ufffd', tags: '{"toString":1,"id":[2]}', news: 1, age: 7, nick: null }
    expect(await rows()).toMatchObject([row])
  })

  it('lets no field set a column that decides about the account', async () => {
    const columns = { scopes: 'roles', disabled: 'locked' }
    const { create, rows } = await open(`${TABLE}, roles text, locked integer`, { columns })
    for (const name of ['id', 'roles', 'locked', 'password_hash'])
      await expectRejection(create({ ...ANN, [name]: '["admin"]' }), `the field "${name}" of a sign-up is a column`)
    expect(await rows()).toEqual([])
  })

  it('stores the columns that the option "create" returns, and never another address or hash', async () => {
    const seen: unknown[] = []
    const { create, rows } = await open('id text primary key, email text unique, password_hash text, label text', {
      normalizeEmail: (email) => email.toLowerCase(),
      async create(account, context) {
        seen.push(account, context)
        return { id: 'id-1', label: String(account['name']).toUpperCase(), email: 'bob@b', password_hash: 'x' }
      },
    })
    const given = { ...ANN, email: 'Ann@Example.com', name: 'Ann' }
    expect(await create(given)).toEqual({ id: 'id-1', ...ANN })
    expect(await rows()).toEqual([{ id: 'id-1', email: ANN.email, password_hash: 'hash-1', label: 'ANN' }])
    expect(seen).toEqual([given, CONTEXT])
  })

  it('returns undefined for an address that is taken, also when it is taken at this moment', async () => {
    const { db, create, rows } = await open()
    const created = await Promise.all(
      ['hash-1', 'hash-2', 'hash-3'].map((passwordHash) => create({ ...ANN, passwordHash })),
    )
    expect(created.filter(Boolean)).toHaveLength(1)
    expect(await create()).toBeUndefined()
    expect(await rows()).toHaveLength(1)
    const racing = kyselyAccounts(db, {
      table: 'users',
      create: async () => {
        await db.insertInto('users').values({ email: 'eve@example.com', password_hash: 'eve' }).execute()
        return {}
      },
    })
    expect(await racing.create({ ...ANN, email: 'eve@example.com' }, CONTEXT)).toBeUndefined()
    expect(await rows()).toHaveLength(2)
  })

  it('returns undefined where the database ignores letter case, and for a text that no database stores', async () => {
    const { create, rows } = await open(TABLE.replace('text not null', 'text collate nocase'))
    await create()
    for (const email of ['ANN@example.com', 'x\0@example.com', 'x\ud800@example.com'])
      expect(await create({ ...ANN, email })).toBeUndefined()
    expect(await rows()).toHaveLength(1)
  })

  it('names another unique column that refuses the row, without its value', async () => {
    const { create, rows } = await open(`${TABLE}, nick text unique`)
    await create({ ...ANN, nick: 'hash-nick' })
    const second = create({ ...ANN, email: 'bob@example.com', nick: 'hash-nick' })
    await expectRejection(second, 'other than "email" already has the value of a new account (users.nick). Return')
    expect(await rows()).toHaveLength(1)
  })

  it('says what a table needs: a value, a column, an id', async () => {
    const required = await open(`${TABLE}, name text not null`)
    expect(String(await rejectionOf(required.create()))).toContain(
      'needs a value in each new account. Name the column in "fields"',
    )
    expect(String(await rejectionOf(required.create({ ...ANN, surname: 'x' })))).toContain(
      'lacks a column of a new account',
    )
    const withoutId = await open('id text primary key, email text unique, password_hash text')
    await expectRejection(
      withoutId.create(),
      'does not set "id" in new rows. Return it from "create", like { id: randomUUID() }',
    )
    expect(await withoutId.rows()).toEqual([])
  })

  it('leaves no row that no login would find', async () => {
    const { db, create, rows } = await open()
    await sql`create trigger folds after insert on users begin update users set email = lower(email); end`.execute(db)
    expect(await create()).toMatchObject(ANN)
    const email = 'Bob@example.com'
    await expectRejection(
      create({ email, passwordHash: 'hash-2' }),
      'Return the address as the table stores it from "normalizeEmail"',
    )
    expect(await rows()).toHaveLength(1)
  })

  it('rejects with the refusal of the host, whatever its words are', async () => {
    const refusal = new SignInRefusal('invalid_name', { detail: 'NOT NULL constraint failed', status: 422 })
    const { create, rows } = await open(TABLE, { create: () => Promise.reject(refusal) })
    expect(await rejectionOf(create())).toBe(refusal)
    expect(await rows()).toEqual([])
  })
})

describe('a table without a unique index on the address', () => {
  const INDEXES: [index: string, isThere: boolean][] = [
    ['index one on users (email)', false],
    ['unique index one on users (name)', false],
    ['unique index one on users (email)', true],
    ['unique index one on users (lower(email))', true],
    ['unique index one on users (email, name)', true],
    ['unique index one on users (email) where name is null', true],
  ]
  const PLAIN =
    'id integer primary key autoincrement, email text, password_hash text, name text, email_hint text unique'

  it.each(INDEXES)('is refused at the start and by create, replaceEmail: %s is enough: %j', async (index, isThere) => {
    const { db, store, create } = await open(PLAIN)
    await db.insertInto('users').values({ email: 'bob@example.com', password_hash: 'hash-2' }).execute()
    await sql`create ${sql.raw(index)}`.execute(db)
    const calls = [() => store.prepare(), () => store.replaceEmail('1', 'bob@example.com', 'b@example.com'), create]
    for (const call of calls) {
      if (isThere) await call()
      else await expectRejection(call(), 'the table "users" has no unique index on "email"')
    }
    expect((await db.selectFrom('users').selectAll().execute()).length).toBe(isThere ? 2 : 1)
  })

  it('passes as soon as the index is there', async () => {
    const { db, create, store } = await open(PLAIN)
    await rejectionOf(create())
    await sql`create unique index one on users (email)`.execute(db)
    await store.prepare()
    expect(await create()).toMatchObject({ id: '1' })
  })

  it('passes with the names of a plugin', async () => {
    const { db } = await open('user_id integer primary key autoincrement, e_mail text unique, pw_hash text')
    const columns = { id: 'userId', email: 'eMail', passwordHash: 'pwHash' }
    const store = kyselyAccounts(db.withPlugin(new CamelCasePlugin()), { table: 'users', columns })
    expect(await store.create(ANN, CONTEXT)).toEqual({ id: '1', ...ANN })
    expect(await store.replaceEmail('1', ANN.email, 'b@example.com')).toBe(true)
  })

  it('of a name that is not a word is found', async () => {
    const { create } = await open('id integer primary key autoincrement, "e-mail" text unique, password_hash text', {
      columns: { email: 'e-mail' },
    })
    expect(await create()).toMatchObject({ id: '1' })
  })

  it('holds one account at most where the catalogue says nothing, as of a view', async () => {
    const { db, rows } = await open(PLAIN)
    await sql`create view people as select * from users`.execute(db)
    await sql`create trigger adds instead of insert on people begin
      insert into users (email, password_hash) values (new.email, new.password_hash); end`.execute(db)
    await sql`create trigger removes instead of delete on people begin delete from users where id = old.id; end`.execute(
      db,
    )
    await sql`create trigger moves instead of update on people begin
      update users set email = new.email where id = old.id; end`.execute(db)
    const other = (email: string) => db.insertInto('users').values({ email, password_hash: 'other' }).execute()
    const store = kyselyAccounts(db, {
      table: 'people',
      create: async (account) => {
        if (account['isRacing']) await other(account.email)
        return {}
      },
    })
    await store.prepare()
    await expectRejection(store.create({ ...ANN, isRacing: true }, CONTEXT), 'no unique index on "email"')
    expect(await rows()).toMatchObject([{ password_hash: 'other' }])
    const bob = await store.create({ ...ANN, email: 'bob@example.com' }, CONTEXT)
    expect(bob).toMatchObject({ email: 'bob@example.com' })
    expect(await store.create({ ...ANN, email: 'bob@example.com' }, CONTEXT)).toBeUndefined()
  })
})

describe('a table whose indexes are not known', () => {
  it('gives an address back that another account has got at the same moment', async () => {
    const { db } = await open()
    await sql`attach ':memory:' as other`.execute(db)
    await sql`create table other.people (id integer primary key, email text, password_hash text)`.execute(db)
    await sql`create trigger other.races after update on people when new.email = 'new@example.com'
      begin insert into people (email, password_hash) values (new.email, 'other'); end`.execute(db)
    const store = kyselyAccounts(db, { table: 'other.people' })
    expect(await store.create(ANN, CONTEXT)).toEqual({ id: '1', ...ANN })
    await store.create({ ...ANN, email: 'bob@example.com' }, CONTEXT)
    expect(await store.replaceEmail('1', ANN.email, 'bob@example.com')).toBe(false)
    await expectRejection(store.replaceEmail('1', ANN.email, 'new@example.com'), 'no unique index on "email"')
    expect(await store.findById('1')).toMatchObject({ email: ANN.email })
  })

  it('is one whose catalogue the user of the database may not read', async () => {
    const rows: object[] = []
    const query = async (text: string) => {
      if (text.includes('pg_catalog')) throw new Error('permission denied')
      if (text.startsWith('insert')) rows.push({ id: '1', email: ANN.email, password_hash: 'hash-1' })
      return { command: 'SELECT', rows: [...rows] }
    }
    const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
    const store = kyselyAccounts(new Kysely<AnyTables>({ dialect: new PostgresDialect({ pool }) }), { table: 'users' })
    expect(await store.create(ANN, CONTEXT)).toEqual({ id: '1', ...ANN })
  })

  it('is looked for again until it is there, and then no more', async () => {
    const queries: string[] = []
    const db = new Kysely<AnyTables>({
      dialect: new SqliteDialect({ database: new Database(':memory:') as never }),
      log: ({ query }) => void queries.push(query.sql),
    })
    onTestFinished(() => db.destroy())
    const store = kyselyAccounts(db, { table: 'users' })
    await store.prepare()
    await sql`create table users (id integer primary key autoincrement, email text, password_hash text)`.execute(db)
    await expectRejection(store.create(ANN, CONTEXT), 'no unique index on "email"')
    await sql`create unique index one on users (email)`.execute(db)
    for (const name of ['ann', 'bob', 'eve']) await store.create({ ...ANN, email: `${name}@example.com` }, CONTEXT)
    const found = queries.filter((text) => text.includes('pragma_index_list'))
    expect(found).toHaveLength(2)
  })
})

describe('replaceEmail of kyselyAccounts', () => {
  const to = 'new@example.com'

  it('replaces the address that is stored, in the form that is looked up', async () => {
    const { store, create } = await open(TABLE, { normalizeEmail: (email) => email.toLowerCase() })
    await create()
    expect(store.normalizeEmail('NEW@example.com')).toBe(to)
    expect(await store.replaceEmail('1', ANN.email, 'NEW@example.com')).toBe(true)
    expect(await store.findByEmail('New@example.com')).toEqual({ id: '1', ...ANN, email: to })
    expect(await store.findByEmail(ANN.email)).toBeUndefined()
    expect(await store.replaceEmail('1', ANN.email, ANN.email)).toBe(false)
    expect(await store.replaceEmail('1', to, to)).toBe(true)
  })

  it.each([TABLE, TABLE.replace('text not null', 'text collate nocase')])(
    'compares exactly, and changes the letter case of an own address: %s',
    async (table) => {
      const { store, create, rows } = await open(table)
      await create()
      await create({ ...ANN, email: 'bob@example.com' })
      for (const [id, from, next] of [
        ['1', 'ANN@example.com', to],
        ['1', `${ANN.email} `, to],
        ['9', ANN.email, to],
        ['01', ANN.email, to],
        ['1', ANN.email, 'bob@example.com'],
        ['1', ANN.email, 'x\0@example.com'],
      ] as const)
        expect(await store.replaceEmail(id, from, next)).toBe(false)
      expect(await store.replaceEmail('1', ANN.email, 'BOB@example.com')).toBe(!table.includes('nocase'))
      const current = String((await rows())[0]?.['email'])
      expect(await store.replaceEmail('1', current, 'Ann@Example.com')).toBe(true)
      expect(await rows()).toMatchObject([{ email: 'Ann@Example.com' }, { email: 'bob@example.com' }])
    },
  )

  it('lets one of two accounts have an address', async () => {
    const { store, create } = await open()
    await create()
    await create({ ...ANN, email: 'bob@example.com' })
    const moved = await Promise.all([
      store.replaceEmail('1', ANN.email, to),
      store.replaceEmail('2', 'bob@example.com', to),
    ])
    expect(moved.sort()).toEqual([false, true])
  })
})

describe('remove of kyselyAccounts', () => {
  it('removes exactly the account of an id, and rejects nothing when it is gone', async () => {
    const { store, create, rows } = await open()
    await create()
    for (const id of ['01', '1 ', 'x', '%', '1\0']) await store.remove(id)
    expect(await rows()).toHaveLength(1)
    await store.remove('1')
    await store.remove('1')
    expect(await rows()).toEqual([])
    expect(await create()).toMatchObject({ id: '2' })
  })

  it('refuses a table of SQLite that would use the id again', async () => {
    const { store, create, rows, db } = await open(TABLE.replace(' autoincrement', ''))
    await create()
    for (const call of [() => store.prepare(), () => store.remove('1')])
      await expectRejection(call(), 'Declare "id" as integer primary key autoincrement')
    expect(await rows()).toHaveLength(1)
    const own = kyselyAccounts(db, { table: 'users', create: () => ({ id: 7 }) })
    await own.prepare()
    await own.remove('1')
    expect(await rows()).toEqual([])
  })

  it.each([
    'id text primary key',
    'id integer',
    'id text, row integer primary key',
    'id integer, tenant integer, primary key (id, tenant)',
  ])('takes another key for one that is not used again: %s', async (key) => {
    const [first, ...rest] = key.split(', ')
    const { store } = await open([first, 'email text unique, password_hash text', ...rest].join(', '))
    await store.prepare()
  })
})

describe('replacePasswordHash of kyselyAccounts', () => {
  it('sets the first password of an account, and none over another', async () => {
    const { db, store, create } = await open()
    await create()
    expect(await store.replacePasswordHash('1', null, 'hash-2')).toBe(false)
    await db.updateTable('users').set({ password_hash: null }).execute()
    expect(await store.replacePasswordHash('1', 'null', 'hash-2')).toBe(false)
    const both = ['hash-2', 'hash-3'].map((hash) => store.replacePasswordHash('1', null, hash))
    expect((await Promise.all(both)).sort()).toEqual([false, true])
  })
})

it('errors of other databases are known by their codes', async () => {
  const codes = [{ code: '23505' }, { errno: 1062 }, { number: 2627 }]
  for (const members of codes) {
    const failure = Object.assign(new Error("Duplicate entry 'hash-nick' for key 'users.nick'"), members)
    const query = async (text: string) =>
      text.startsWith('select') ? { command: 'SELECT', rows: [] } : Promise.reject(failure)
    const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
    const db = new Kysely<AnyTables>({ dialect: new PostgresDialect({ pool }) })
    const store: AccountStore = kyselyAccounts(db, { table: 'users' })
    await expectRejection(store.create?.(ANN, CONTEXT) as Promise<unknown>, '(users.nick). Return a different value')
  }
})
