// Tests stores/{kysely-accounts,kysely-codes,kysely-factors,kysely-table,kysely-option,kysely-store}.ts
import { inspect } from 'node:util'
import { type CodeStore, createPasswords, type FactorStore, type StoredFactor } from 'express-token-endpoint'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'
import { expectCodeStore } from '../../support/code-store.js'
import { expectFactorStore } from '../../support/factor-store.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { expectSessionStore } from '../../support/session-store.js'

interface Users {
  users: { user_id: number; mail: string; pw_hash: string | null; locked: number; roles: string; since: string | null }
}

function openDatabase<DB>(): Kysely<DB> {
  const db = new Kysely<DB>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  onTestFinished(() => db.destroy())
  return db
}

/** Opens a PostgreSQL that finds the same rows for every query, as one does that takes other texts for equal. */
function openInexact(...rows: object[]) {
  const statements: string[] = []
  const query = async (text: string) => {
    statements.push(text.split(' ')[0] as string)
    return { command: 'SELECT', rows }
  }
  const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
  // biome-ignore lint/suspicious/noExplicitAny: no table has types
  return { db: new Kysely<any>({ dialect: new PostgresDialect({ pool }) }), statements }
}

describe('the sessions of kyselyStore', () => {
  it('compares ids, accounts and refresh tokens exactly, also where the database does not', async () => {
    const times = { created_at: 0, expires_at: 0, last_used_at: 0, terms: null, data: null }
    const { db, statements } = openInexact({ id: 'A', account_id: 'ACC-1', refresh: 'R1', device: '[]', ...times })
    const store = kyselyStore(db).sessions
    const change = { refresh: 'r2', expiresAt: new Date(), lastUsedAt: new Date() }
    expect(await store.find('a')).toBeUndefined()
    expect(await store.list('acc-1')).toEqual([])
    expect(await store.remove('A', 'acc-1')).toBe(false)
    expect(await store.removeAll('acc-1')).toBe(false)
    expect(await store.replace('A', 'r1', change)).toBe(false)
    expect(new Set(statements)).toEqual(new Set(['select']))
  })

  it.each(['{secret-value', '{}', 'null', '5'])(
    'names a device that it has not written, %s, without a part of it',
    async (device) => {
      const times = { created_at: 0, expires_at: 0, last_used_at: 0, refresh: null, terms: null, data: null }
      const { db } = openInexact({ id: 'a', account_id: 'acc-1', device, ...times })
      const error = await rejectionOf(kyselyStore(db).sessions.list('acc-1') as Promise<unknown>)
      expectMisuse(() => {
        throw error
      }, 'kyselyStore: "device" must be the string that the store wrote')
      expect(inspect(error)).not.toContain('secret-value')
    },
  )

  it('fulfils the contract of a session store', async () => {
    const db = openDatabase()
    await createTables(db)
    await expectSessionStore(kyselyStore(db).sessions, kyselyStore(db).sessions)
  })

  it('fulfils the contract with the plugins of a host', async () => {
    const plain = openDatabase()
    const db = plain.withPlugin(new CamelCasePlugin()).withPlugin(new ParseJSONResultsPlugin())
    await createTables(db)
    await expectSessionStore(kyselyStore(db).sessions, kyselyStore(plain).sessions)
  })

  it('has its own table, and drops expired sessions at the next sign-in', async () => {
    const db = openDatabase()
    await createTables(db)
    await createTables(db, { tables: { sessions: 'devices' } })
    const { rows } = await sql<{
      name: string
    }>`select name from sqlite_master where type = 'index' and sql is not null`.execute(db)
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['devices_of_account', 'devices_by_end']))
    const store = kyselyStore(db, { tables: { sessions: 'devices' } }).sessions
    await store.add(newSession({ id: 'old', accountId: 'acc-1', expiresAt: new Date(1000) }, 0))
    const expiresAt = new Date(Date.now() + 60_000)
    await store.add(newSession({ id: 'new', accountId: 'acc-1', expiresAt }, Date.now()))
    expect(await store.list('acc-1')).toMatchObject([{ id: 'new' }])
  })

  it('has its table and indexes also when a process ended before it had created them all', async () => {
    const db = openDatabase()
    const indexes = () => sql<{ name: string }>`select name from sqlite_master where name like 'sessions_%'`.execute(db)
    await createTables(db)
    await kyselyStore(db).sessions.add(newSession({ id: 'a', accountId: 'acc-1', expiresAt: new Date(8.64e15) }, 0))
    await sql`drop index sessions_by_end`.execute(db)
    await Promise.all([createTables(db), createTables(db)])
    expect((await indexes()).rows).toEqual([{ name: 'sessions_of_account' }, { name: 'sessions_by_end' }])
    expect(await kyselyStore(db).sessions.list('acc-1')).toHaveLength(1)
  })

  it('rejects with the error of the database for a table that cannot be created', async () => {
    expect(
      String(await rejectionOf(createTables(openDatabase(), { tables: { sessions: 'sqlite_sessions' } }))),
    ).toContain('reserved')
  })

  it('refuses another object than a Kysely, and an invalid option', async () => {
    expectMisuse(() => kyselyStore({} as never), 'kyselyStore: the database must be a Kysely')
    expect(String(await rejectionOf(createTables({} as never)))).toContain('createTables: the database must')
    const withTables = (tables: unknown) => () => kyselyStore(openDatabase(), { tables } as never)
    expectMisuse(withTables({ sessions: '' }), '"sessions" must be the name of a table')
    expectMisuse(withTables('devices'), 'option "tables" must be an object of names')
    expectMisuse(withTables({ session: 'x' }), 'Did you mean "sessions"?')
    expectMisuse(() => kyselyStore(openDatabase(), { table: 'x' } as never), 'Did you mean "tables"?')
  })
})

describe('the codes of kyselyStore', () => {
  it.each([
    ['its own table', 'links', (db: Kysely<unknown>) => db],
    [
      'the plugins of a host',
      undefined,
      (db: Kysely<unknown>) => db.withPlugin(new CamelCasePlugin()).withPlugin(new ParseJSONResultsPlugin()),
    ],
  ])('fulfils the contract of a store of codes, with %s', async (_, table, withPlugins) => {
    const plain = openDatabase()
    const db = withPlugins(plain)
    const options = { tables: { codes: table } }
    await createTables(db, options)
    await expectCodeStore(kyselyStore(db, options).codes, kyselyStore(plain, options).codes)
  })

  it('deletes expired codes when it stores one', async () => {
    const db = openDatabase<{ codes: { digest: string } }>()
    await createTables(db)
    const [digests, store] = [db.selectFrom('codes').select('digest'), kyselyStore(db).codes]
    const code = { purpose: 'verify', accountId: 'acc-1', data: null }
    await store.add({ ...code, digest: 'a', expiresAt: new Date(1000) }, 1, new Date(0))
    await store.add({ ...code, digest: 'b', expiresAt: new Date(2000) }, 1, new Date(1000))
    expect(await digests.execute()).toEqual([{ digest: 'b' }])
  })

  it('stores none of the codes that several processes add beyond the limit', async () => {
    const db = openDatabase<{ codes: { digest: string } }>()
    await createTables(db)
    const add = (store: CodeStore, digest: string) =>
      store.add({ digest, purpose: 'verify', accountId: 'acc-1', expiresAt: new Date(4e12), data: null }, 1, new Date())
    // Another process adds its code between the count and the insertion.
    const { executeQuery } = db.getExecutor()
    vi.spyOn(db.getExecutor(), 'executeQuery').mockImplementation(async (query, ...rest) => {
      if (query.sql.startsWith('insert')) {
        vi.restoreAllMocks()
        expect(await add(kyselyStore(db).codes, 'other')).toBe(true)
      }
      return executeQuery.call(db.getExecutor(), query, ...rest) as never
    })
    expect(await add(kyselyStore(db).codes, 'own')).toBe(false)
    expect(await db.selectFrom('codes').select('digest').execute()).toEqual([{ digest: 'other' }])
  })
})

describe('the factors of kyselyStore', () => {
  const factor = (id: string, more: Partial<StoredFactor> = {}): StoredFactor => ({
    id,
    accountId: 'acc-1',
    kind: 'totp',
    expiresAt: null,
    data: '{"a":1}',
    ...more,
  })

  it.each([
    ['its own table', 'keys', (db: Kysely<unknown>) => db],
    [
      'the plugins of a host',
      undefined,
      (db: Kysely<unknown>) => db.withPlugin(new CamelCasePlugin()).withPlugin(new ParseJSONResultsPlugin()),
    ],
  ])('fulfils the contract of a store of factors, with %s', async (_, table, withPlugins) => {
    const plain = openDatabase()
    const db = withPlugins(plain)
    const options = { tables: { factors: table } }
    await createTables(db, options)
    await expectFactorStore(kyselyStore(db, options).factors, kyselyStore(plain, options).factors)
  })

  it('deletes expired factors when it stores one, and makes room for the same id', async () => {
    const db = openDatabase<{ factors: { id: string } }>()
    await createTables(db)
    const [ids, store] = [db.selectFrom('factors').select('id').orderBy('id'), kyselyStore(db).factors]
    for (const id of ['a', 'b']) await store.add(factor(id, { expiresAt: new Date(1000) }), 2, new Date(0))
    await store.add(factor('c', { kind: 'passkey' }), 1, new Date(0))
    expect(await store.add(factor('b'), 9, new Date(999))).toBe(false)
    expect(await store.add(factor('b'), 1, new Date(1000))).toBe(true)
    expect(await ids.execute()).toEqual([{ id: 'b' }, { id: 'c' }])
  })

  it('compares ids, accounts, kinds and data exactly, also where the database does not', async () => {
    const row = { id: 'A', account_id: 'ACC-1', kind: 'TOTP', expires_at: null, data_hash: 'x', data: '"D"' }
    const { db, statements } = openInexact(row)
    const store = kyselyStore(db).factors
    expect(await store.find('a')).toBeUndefined()
    expect(await store.list('acc-1')).toEqual([])
    expect(await store.replace('a', 'D', 'e')).toBe(false)
    expect(await store.replace('A', 'd', 'e')).toBe(false)
    expect(await store.remove('A', 'acc-1')).toBe(false)
    await store.removeAll('ACC-1', ['totp'])
    expect(new Set(statements)).toEqual(new Set(['select']))
  })

  it('stores none of the factors that several processes add beyond the limit, or with one id', async () => {
    const db = openDatabase<{ factors: { id: string } }>()
    await createTables(db)
    const add = (store: FactorStore, id: string) => store.add(factor(id), 1, new Date())
    const { executeQuery } = db.getExecutor()
    for (const id of ['own', 'other']) {
      // Another process adds its factor between the count and the insertion.
      vi.spyOn(db.getExecutor(), 'executeQuery').mockImplementation(async (query, ...rest) => {
        if (query.sql.startsWith('insert')) {
          vi.restoreAllMocks()
          expect(await add(kyselyStore(db).factors, 'other')).toBe(true)
        }
        return executeQuery.call(db.getExecutor(), query, ...rest) as never
      })
      expect(await add(kyselyStore(db).factors, id)).toBe(false)
      expect(await db.selectFrom('factors').select('id').execute()).toEqual([{ id: 'other' }])
      await kyselyStore(db).factors.removeAll('acc-1', ['totp'])
    }
  })

  it('replaces no data that another process has replaced since it was read', async () => {
    const db = openDatabase()
    await createTables(db)
    const store = kyselyStore(db).factors
    await store.add(factor('a'), 1, new Date())
    const { executeQuery } = db.getExecutor()
    vi.spyOn(db.getExecutor(), 'executeQuery').mockImplementation(async (query, ...rest) => {
      if (query.sql.startsWith('update')) {
        vi.restoreAllMocks()
        expect(await store.replace('a', '{"a":1}', '{"A":1}')).toBe(true)
      }
      return executeQuery.call(db.getExecutor(), query, ...rest) as never
    })
    expect(await kyselyStore(db).factors.replace('a', '{"a":1}', '{"a":2}')).toBe(false)
    expect(await store.find('a')).toMatchObject({ data: '{"A":1}' })
  })

  it('inserts no id that the table has, because a failed insertion would end the transaction of a host', async () => {
    const row = { id: 'a', account_id: 'acc-1', kind: 'totp', expires_at: null, data_hash: 'x', data: '"D"' }
    const { db, statements } = openInexact(row)
    expect(await kyselyStore(db).factors.add(factor('a'), 9, new Date())).toBe(false)
    expect(new Set(statements)).toEqual(new Set(['select']))
  })

  it('reads times that a driver returns as text, and data that is not JSON as it is', async () => {
    const row = { id: 'a', account_id: 'acc-1', kind: 'totp', expires_at: '1000', data_hash: 'x', data: '{' }
    const { db } = openInexact(row)
    expect(await kyselyStore(db).factors.find('a')).toEqual(factor('a', { expiresAt: new Date(1000), data: '{' }))
  })

  it('rejects when an insertion fails for another reason than a taken id', async () => {
    const db = openDatabase()
    await createTables(db)
    await sql`create trigger full before insert on factors begin select raise(abort, 'the disk is full'); end`.execute(
      db,
    )
    const add = async () => kyselyStore(db).factors.add(factor('a'), 1, new Date())
    await expect(add).rejects.toThrow('the disk is full')
  })
})

describe('kyselyAccounts', () => {
  const columns = {
    id: 'user_id',
    email: 'mail',
    passwordHash: 'pw_hash',
    disabled: 'locked',
    scopes: 'roles',
    tokensValidAfter: 'since',
  } as const

  async function openUsers() {
    const db = openDatabase<Users>()
    await db.schema
      .createTable('users')
      .addColumn('user_id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('mail', 'text', (column) => column.notNull().unique())
      .addColumn('pw_hash', 'text')
      .addColumn('locked', 'integer', (column) => column.notNull())
      .addColumn('roles', 'text', (column) => column.notNull())
      .addColumn('since', 'text')
      .execute()
    const hash = await createPasswords().hash('secret')
    const alice = { user_id: 7, mail: 'alice@example.com', pw_hash: hash, locked: 0, roles: '["reports"]', since: null }
    const bob = {
      user_id: 8,
      mail: 'bob@example.com',
      pw_hash: null,
      locked: 1,
      roles: '[]',
      since: '2026-01-01T00:00:00Z',
    }
    await db.insertInto('users').values([alice, bob]).execute()
    return { db, hash }
  }

  it('fulfils the contract of an account store on the app’s own table', async () => {
    const { db, hash } = await openUsers()
    const create = () => ({ locked: 0, roles: '[]' })
    const store = kyselyAccounts(db, { table: 'users', columns, create })
    const existing = { email: 'alice@example.com', id: '7', passwordHash: hash, scopes: ['reports'] }
    for (const { run } of accountStoreContract({ store, existing }))
      await run({ skip: (reason) => expect.fail(reason) })
    expect(await store.findById('8')).toEqual({
      id: '8',
      email: 'bob@example.com',
      passwordHash: null,
      disabled: true,
      scopes: [],
      tokensValidAfter: new Date('2026-01-01T00:00:00Z'),
    })
  })

  it('reads only the columns that are named, and more members with read', async () => {
    const { db, hash } = await openUsers()
    const { id, email, passwordHash } = columns
    const few = { id, email, passwordHash }
    const plain = kyselyAccounts(db, { table: 'users', columns: few })
    expect(await plain.findById('8')).toStrictEqual({ id: '8', email: 'bob@example.com', passwordHash: null })
    const withRead = kyselyAccounts(db, {
      table: 'users',
      columns: few,
      read: ({ mail }) => ({ claims: { mail } }),
      normalizeEmail: (address) => address.toLowerCase(),
    })
    expect(await withRead.findByEmail('ALICE@example.com')).toEqual({
      id: '7',
      email: 'alice@example.com',
      passwordHash: hash,
      claims: { mail: 'alice@example.com' },
    })
  })

  it('reads the columns in camel case with the plugin of a host', async () => {
    const { db, hash } = await openUsers()
    // biome-ignore lint/suspicious/noExplicitAny: no table has types
    const camel: Kysely<any> = db.withPlugin(new CamelCasePlugin())
    const store = kyselyAccounts(camel, {
      table: 'users',
      columns: { id: 'userId', email: 'mail', passwordHash: 'pwHash' },
    })
    expect(await store.findByEmail('alice@example.com')).toEqual({
      id: '7',
      email: 'alice@example.com',
      passwordHash: hash,
    })
    expect(await store.replacePasswordHash('7', hash, 'hash-2')).toBe(true)
  })

  it('reads a time in milliseconds, also as text, as some drivers return 64-bit integers', async () => {
    const { db } = await openUsers()
    const store = kyselyAccounts(db, { table: 'users', columns })
    await db.updateTable('users').set({ since: '1772366400000' }).execute()
    expect(await store.findById('7')).toMatchObject({ tokensValidAfter: new Date(1_772_366_400_000) })
    await db.updateTable('users').set({ since: '2026-03-01' }).execute()
    expect(await store.findById('7')).toMatchObject({ tokensValidAfter: new Date('2026-03-01') })
  })

  it('reads a lifetime, and no time from null', async () => {
    const { db } = openInexact({ id: 'acc-1', email: 'a@example.com', password_hash: 'hash', seconds: 60, since: null })
    const store = kyselyAccounts(db, { table: 'users', columns: { lifetime: 'seconds', tokensValidAfter: 'since' } })
    expect(await store.findById('acc-1')).toStrictEqual({
      id: 'acc-1',
      email: 'a@example.com',
      passwordHash: 'hash',
      lifetime: 60,
      tokensValidAfter: undefined,
    })
  })

  it('finds the addresses that the database takes for equal, except with other blanks at the end', async () => {
    const { db } = openInexact({ id: 'acc-1', email: 'strasse@example.com', password_hash: 'hash' })
    const store = kyselyAccounts(db, { table: 'users' })
    for (const address of ['strasse@example.com', 'STRASSE@example.com', 'straße@example.com'])
      expect(await store.findByEmail(address)).toMatchObject({ id: 'acc-1' })
    for (const address of ['strasse@example.com ', 'strasse@example.com  '])
      expect(await store.findByEmail(address)).toBeUndefined()
  })

  it('sends no text that PostgreSQL refuses', async () => {
    const { db, statements } = openInexact()
    const store = kyselyAccounts(db, { table: 'users' })
    for (const text of ['a\0', 'a\ud800']) {
      expect([await store.findById(text), await store.findByEmail(text)]).toEqual([undefined, undefined])
    }
    expect(statements).toEqual([])
  })

  it('rejects without the hashes that a driver adds to its errors', async () => {
    const failure = Object.assign(new Error('down'), { sql: "update … 'hash-1'", detail: 'Failing row: hash-1' })
    const rows = [{ id: 'acc-1', password_hash: 'hash-1' }]
    function broken(reason: unknown) {
      const query = async (text: string) =>
        text.startsWith('select') ? { command: 'SELECT', rows } : Promise.reject(reason)
      const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
      // biome-ignore lint/suspicious/noExplicitAny: no table has types
      return new Kysely<any>({ dialect: new PostgresDialect({ pool }) })
    }
    const store = kyselyAccounts(broken(failure), { table: 'users' })
    const error = await rejectionOf(store.replacePasswordHash('acc-1', 'hash-1', 'hash-2') as Promise<boolean>)
    expect(error).toBe(failure)
    expect(inspect(error)).not.toContain('hash-')
    const text = kyselyAccounts(broken('down'), { table: 'users' })
    expect(await rejectionOf(text.replacePasswordHash('acc-1', 'hash-1', 'hash-2') as Promise<boolean>)).toBe('down')
  })

  it('finds no account for ids that a database may take for another one', async () => {
    const { db } = await openUsers()
    const store = kyselyAccounts(db, { table: 'users', columns })
    for (const id of ['7 ', '07', '7.0', '7e0', 'x', '', '\0', '\ud800'])
      expect(await store.findById(id)).toBeUndefined()
  })

  it.each<[string, object, string]>([
    ['no table', {}, '"table" must be the name of a table'],
    [
      'an unknown member',
      { table: 'users', columns: { name: 'x' } },
      "names of columns: id, email, passwordHash, disabled, scopes, tokensValidAfter, lifetime, but is an object. Pass claims with the option 'read'",
    ],
    ['a column that is not text', { table: 'users', columns: { email: 5 } }, 'the names of columns'],
    ['a column without a name', { table: 'users', columns: { email: '' } }, 'the names of columns'],
    ['another reader', { table: 'users', read: 5 }, '"read" must be a function, but'],
    ['another change of addresses', { table: 'users', normalizeEmail: 5 }, '"normalizeEmail" must be a function, but'],
    ['tableName, a name of others', { tableName: 'users' }, 'Did you mean "table"?'],
    ['email, a name of others', { table: 'users', email: String }, 'Did you mean "normalizeEmail"?'],
  ])('refuses %s', async (_, options, message) => {
    const { db } = await openUsers()
    expectMisuse(() => kyselyAccounts(db, options as never), message)
  })
})
