// Tests stores/{kysely-accounts,kysely-codes,kysely-table,kysely-option}.ts
import { type CodeStore, createPasswords } from 'express-token-endpoint'
import {
  createCodeTable,
  createSessionTable,
  kyselyAccounts,
  kyselyCodes,
  kyselySessions,
} from 'express-token-endpoint/kysely'
import { accountStoreContract, sessionStoreContract } from 'express-token-endpoint/testing'
import { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'
import { expectCodeStore } from '../../support/code-store.js'
import { expectMisuse } from '../../support/failures.js'

interface Users {
  users: { user_id: number; mail: string; pw_hash: string | null; locked: number; roles: string; since: string | null }
}

function openDatabase<DB>(): Kysely<DB> {
  const db = new Kysely<DB>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  onTestFinished(() => db.destroy())
  return db
}

describe('kyselySessions', () => {
  it('fulfils the contract of a session store', async () => {
    const db = openDatabase()
    await createSessionTable(db)
    const stores = { store: kyselySessions(db), otherStore: kyselySessions(db) }
    for (const { run } of sessionStoreContract(stores)) await run({ skip: (reason) => expect.fail(reason) })
  })

  it('fulfils the contract with the plugins of a host', async () => {
    const plain = openDatabase()
    const db = plain.withPlugin(new CamelCasePlugin()).withPlugin(new ParseJSONResultsPlugin())
    await createSessionTable(db)
    const stores = { store: kyselySessions(db), otherStore: kyselySessions(plain) }
    for (const { run } of sessionStoreContract(stores)) await run({ skip: (reason) => expect.fail(reason) })
  })

  it('has its own table, and drops expired sessions at the next sign-in', async () => {
    const db = openDatabase()
    await createSessionTable(db, { table: 'devices' })
    const store = kyselySessions(db, { table: 'devices' })
    await store.add(newSession({ id: 'old', accountId: 'acc-1', expiresAt: new Date(1000) }, 0))
    const expiresAt = new Date(Date.now() + 60_000)
    await store.add(newSession({ id: 'new', accountId: 'acc-1', expiresAt }, Date.now()))
    expect(await store.list('acc-1')).toMatchObject([{ id: 'new' }])
  })

  it('has its table and indexes also when a process ended before it had created them all', async () => {
    const db = openDatabase()
    const indexes = () => sql<{ name: string }>`select name from sqlite_master where name like 'sessions_%'`.execute(db)
    await createSessionTable(db)
    await kyselySessions(db).add(newSession({ id: 'a', accountId: 'acc-1', expiresAt: new Date(8.64e15) }, 0))
    await sql`drop index sessions_by_end`.execute(db)
    await Promise.all([createSessionTable(db), createSessionTable(db)])
    expect((await indexes()).rows).toEqual([{ name: 'sessions_of_account' }, { name: 'sessions_by_end' }])
    expect(await kyselySessions(db).list('acc-1')).toHaveLength(1)
  })

  it('refuses another object than a Kysely, and an unknown option', () => {
    expectMisuse(() => kyselySessions({} as never), 'the database must be a Kysely')
    expectMisuse(() => kyselySessions(openDatabase(), { tabel: 'x' } as never), 'Did you mean "table"?')
  })
})

describe('kyselyCodes', () => {
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
    await createCodeTable(db, { table })
    await expectCodeStore(kyselyCodes(db, { table }), kyselyCodes(plain, { table }))
  })

  it('deletes expired codes when it stores one', async () => {
    const db = openDatabase<{ codes: { digest: string } }>()
    await createCodeTable(db)
    const [digests, store] = [db.selectFrom('codes').select('digest'), kyselyCodes(db)]
    const code = { purpose: 'verify', accountId: 'acc-1', data: null }
    await store.add({ ...code, digest: 'a', expiresAt: new Date(1000) }, 1, new Date(0))
    await store.add({ ...code, digest: 'b', expiresAt: new Date(2000) }, 1, new Date(1000))
    expect(await digests.execute()).toEqual([{ digest: 'b' }])
  })

  it('stores none of the codes that several processes add beyond the limit', async () => {
    const db = openDatabase<{ codes: { digest: string } }>()
    await createCodeTable(db)
    const add = (store: CodeStore, digest: string) =>
      store.add({ digest, purpose: 'verify', accountId: 'acc-1', expiresAt: new Date(4e12), data: null }, 1, new Date())
    // Another process adds its code between the count and the insertion.
    const { executeQuery } = db.getExecutor()
    vi.spyOn(db.getExecutor(), 'executeQuery').mockImplementation(async (query, ...rest) => {
      if (query.sql.startsWith('insert')) {
        vi.restoreAllMocks()
        expect(await add(kyselyCodes(db), 'other')).toBe(true)
      }
      return executeQuery.call(db.getExecutor(), query, ...rest) as never
    })
    expect(await add(kyselyCodes(db), 'own')).toBe(false)
    expect(await db.selectFrom('codes').select('digest').execute()).toEqual([{ digest: 'other' }])
  })

  it('refuses another object than a Kysely, and an unknown option', async () => {
    expectMisuse(() => kyselyCodes({} as never), 'kyselyCodes: the database must be a Kysely')
    expectMisuse(() => kyselyCodes(openDatabase(), { tableName: 'x' } as never), 'Did you mean "table"?')
    await expect(createCodeTable({} as never)).rejects.toThrow('createCodeTable: the database must be a Kysely')
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
      .addColumn('user_id', 'integer', (column) => column.primaryKey())
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
    const store = kyselyAccounts(db, { table: 'users', columns })
    const existing = { email: 'alice@example.com', id: '7', passwordHash: hash, scopes: ['reports'] }
    for (const { run } of accountStoreContract({ store, existing }))
      await run({ skip: (reason) => expect.fail(reason) })
    expect(await store.findById('8')).toEqual({
      id: '8',
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
    expect(await plain.findById('8')).toEqual({ id: '8', passwordHash: null })
    const withRead = kyselyAccounts(db, {
      table: 'users',
      columns: few,
      read: ({ mail }) => ({ claims: { mail } }),
      normalizeEmail: (address) => address.toLowerCase(),
    })
    expect(await withRead.findByEmail('ALICE@example.com')).toEqual({
      id: '7',
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
    expect(await store.findByEmail('alice@example.com')).toEqual({ id: '7', passwordHash: hash })
    expect(await store.replacePasswordHash('7', hash, 'hash-2')).toBe(true)
  })

  it('reads a time in milliseconds, also as text, as some drivers return 64-bit integers', async () => {
    const { db } = await openUsers()
    const store = kyselyAccounts(db, { table: 'users', columns })
    await db.updateTable('users').set({ since: '1772366400000' }).execute()
    expect(await store.findById('7')).toMatchObject({ tokensValidAfter: new Date(1_772_366_400_000) })
  })

  it('finds no account for ids that a database may take for another one', async () => {
    const { db } = await openUsers()
    const store = kyselyAccounts(db, { table: 'users', columns })
    for (const id of ['7 ', '07', '7.0', '7e0', 'x', '', '\0', '\ud800'])
      expect(await store.findById(id)).toBeUndefined()
  })

  it.each<[string, object, string]>([
    ['no table', {}, '"table" must be the name of a table'],
    ['an unknown member', { table: 'users', columns: { name: 'x' } }, 'the names of columns'],
    ['an unknown option', { table: 'users', map: () => ({}) }, 'Did you mean "read"?'],
  ])('refuses %s', async (_, options, message) => {
    const { db } = await openUsers()
    expectMisuse(() => kyselyAccounts(db, options as never), message)
  })
})
