// Tests stores/{kysely-sessions,kysely-codes,kysely-accounts}.ts
import { inspect } from 'node:util'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { Kysely, MssqlAdapter, MssqlQueryCompiler, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'

interface Tables {
  users: { id: string; email: string; password_hash: string }
}

function openDatabase(options?: Database.Options): Kysely<Tables> {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: new Database(':memory:', options) as never }),
  })
  onTestFinished(() => db.destroy())
  return db
}

/** A database that fails each write with an error of a driver. A row is there to read. */
function failingDatabase(failure: unknown, row: object = {}): Kysely<Tables> {
  const query = async (text: string) =>
    text.startsWith('select') ? { command: 'SELECT', rows: [row] } : Promise.reject(failure)
  const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

const session = newSession({ id: 'id-1', accountId: 'acc-1', expiresAt: new Date(8.64e15), label: 'value-1' }, 0)
const messageOf = async (result: unknown) => String(await rejectionOf(Promise.resolve(result)))

describe('an error of a store in SQL', () => {
  it('says how to create a missing table', async () => {
    const db = openDatabase()
    const sessions = kyselyStore(db, { tables: { sessions: 'devices' } }).sessions
    for (const result of [
      sessions.add(session),
      sessions.find('a'),
      sessions.list('a'),
      sessions.touch('a', new Date()),
    ])
      expect(await messageOf(result)).toContain('no table "devices". Call createTables, or add a migration')
    expect(await messageOf(kyselyStore(db).codes.take('a'))).toContain('no table "codes". Call createTables, or add')
    const accounts = kyselyAccounts(db, { table: 'users' })
    expect(await messageOf(accounts.findByEmail('a@b.c'))).toContain('no table "users". Name yours in "table"')
  })

  it('names a missing column', async () => {
    const db = openDatabase()
    await createTables(db)
    const sessions = kyselyStore(db).sessions
    await sessions.add(session)
    await sql`alter table sessions drop column device`.execute(db)
    const expected = 'the table "sessions" lacks a column. It needs id, account_id, created_at, expires_at'
    // Also at the start of the app, so that a forgotten migration does not refuse the first sign-in.
    for (const result of [sessions.add(session), sessions.find('id-1'), sessions.list('acc-1'), createTables(db)])
      expect(await messageOf(result)).toContain(expected)
    await sql`create table users (id text, email text)`.execute(db)
    await sql`insert into users values ('1', 'alice@example.com')`.execute(db)
    const accounts = kyselyAccounts(db, { table: 'users' })
    expect(await messageOf(accounts.findById('1'))).toContain('the table "users" has no column "password_hash"')
    const columns = { email: 'mail', passwordHash: 'email' } as never
    const named = kyselyAccounts(db, { table: 'users', columns })
    const error = 'the table "users" lacks a column of id, mail, email. Name yours in "columns"'
    expect(await messageOf(named.findByEmail('alice@example.com'))).toContain(error)
  })

  it.each<[string, string, object]>([
    ['no table', 'PostgreSQL', { code: '42P01' }],
    ['no table', 'MySQL', { code: 'ER_NO_SUCH_TABLE', errno: 1146 }],
    ['no table', 'SQL Server', { code: 'EREQUEST', number: 208 }],
    ['lacks a column', 'PostgreSQL', { code: '42703' }],
    ['lacks a column', 'MySQL', { code: 'ER_BAD_FIELD_ERROR', errno: 1054 }],
    ['lacks a column', 'SQL Server', { code: 'EREQUEST', number: 207 }],
  ])('says %s, by the code of %s, and keeps the error as its cause', async (expected, _, members) => {
    const failure = Object.assign(new Error('it failed'), members)
    const error = await rejectionOf(Promise.resolve(kyselyStore(failingDatabase(failure)).sessions.add(session)))
    expect(error).toMatchObject({ message: expect.stringContaining(expected), cause: failure })
  })

  it.each<[string, object]>([
    ['PostgreSQL', { code: '25006' }],
    ['MySQL', { code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290 }],
    ['SQL Server', { code: 'EREQUEST', number: 3906 }],
    ['SQLite', { message: 'attempt to write a readonly database' }],
  ])('says that %s is read-only', async (_, members) => {
    const db = failingDatabase(Object.assign(new Error('it failed'), members), { id: 'a', password_hash: 'hash-1' })
    const expected = 'the database is read-only. Connect to the primary, as a user that may write'
    expect(await messageOf(kyselyStore(db).sessions.add(session))).toContain(expected)
    const accounts = kyselyAccounts(db, { table: 'users' })
    expect(await messageOf(accounts.replacePasswordHash('a', 'hash-1', 'hash-2'))).toContain(expected)
  })

  it('has no value that a driver adds', async () => {
    const failure = Object.assign(new Error('down'), { sql: "… 'value-1'", detail: 'Failing row: value-1' })
    const db = failingDatabase(failure, { id: 'a', password_hash: 'hash-1' })
    const accounts = kyselyAccounts(db, { table: 'users' })
    for (const result of [
      kyselyStore(db).sessions.add(session),
      accounts.replacePasswordHash('a', 'hash-1', 'value-1'),
    ]) {
      const error = await rejectionOf(Promise.resolve(result) as Promise<unknown>)
      expect(error).toBe(failure)
      expect(inspect(error)).not.toContain('value-1')
    }
  })

  it('names the option that another name means', () => {
    const create = () => kyselyStore(openDatabase(), { tableName: 'devices' } as never).sessions
    expectMisuse(create, 'unknown option "tableName". Did you mean "tables"?')
  })

  it('is passed on if it is not an Error', async () => {
    const failed = kyselyStore(failingDatabase('down')).sessions.add(session)
    await expect(failed).rejects.toBe('down')
  })
})

describe('createTables', () => {
  it('rejects with the first error, also in a transaction that this error has ended', async () => {
    const failures = [new Error('permission denied'), new Error('current transaction is aborted')]
    const query = async () => Promise.reject(failures.shift() ?? failures)
    const pool = { connect: async () => ({ query, release() {} }) as never, end: async () => {} }
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
    expect(await messageOf(createTables(db))).toContain('permission denied')
  })

  it.each(['down', null])(
    'rejects with what a driver rejects with, also if it is not an Error: %s',
    async (failure) => {
      await expect(createTables(failingDatabase(failure))).rejects.toBe(failure)
    },
  )

  it('creates what is missing in a database without "if not exists"', async () => {
    const statements: string[] = []
    const executeQuery = async ({ sql: text }: { sql: string }) => {
      statements.push(text)
      if (text.includes('of_account') || !text.startsWith('create')) return { rows: [] }
      throw Object.assign(new Error('There is already an object'), { number: text.includes('table') ? 2714 : 1913 })
    }
    const connection = { executeQuery } as never
    const driver = {
      init: async () => {},
      acquireConnection: async () => connection,
      releaseConnection: async () => {},
    }
    const db = new Kysely({
      dialect: {
        createAdapter: () => new MssqlAdapter(),
        createDriver: () => driver as never,
        createIntrospector: () => ({}) as never,
        createQueryCompiler: () => new MssqlQueryCompiler(),
      },
    })
    await createTables(db)
    expect(statements.filter((text) => text.startsWith('create'))).toHaveLength(9)
    expect(statements.join()).not.toContain('if not exists')
  })
})
