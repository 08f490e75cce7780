import { isBuiltin } from 'node:module'
import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { rejectionOf } from '../../../support/failures.js'
import { expectSessionStore } from '../../../support/session-store.js'

const { run } = startExamples(import.meta.url)

/** Returns the statements that made the tables and indexes of a database, without quotes and line breaks. */
const statementsOf = (file: Database.Database) =>
  (file.prepare('select sql from sqlite_master where sql is not null').all() as { sql: string }[])
    .map(({ sql }) => sql.replace(/["\s]+/g, ' ').replace(/ ?([(),]) ?/g, '$1'))
    .sort()

// Node 20 does not have it. The matrix runs this test on newer versions.
if (isBuiltin('node:sqlite')) {
  it('stores-node-sqlite: a session store in node:sqlite fulfils the contract', async () => {
    const { db } = await run('stores-node-sqlite')
    onTestFinished(() => db.destroy())
    await createTables(db)
    await expectSessionStore(kyselyStore(db).sessions)
    const rows = []
    for await (const row of db.selectFrom('sessions').select('id').stream()) rows.push(row)
    expect(rows).toEqual([])
  })
}

describe('the page on stores', () => {
  it('stores-read: returns the members of the function', async () => {
    const { accounts } = await run('stores-read')
    expect(await accounts.findById('7')).toMatchObject({ id: '7', passwordHash: null, scopes: ['admin'] })
  })

  it('stores-create: checks a field, and stores the columns that the function returns', async () => {
    const { accounts, db } = await run('stores-create')
    const context = { tenant: undefined, req: { headers: {} } }
    const ann = { email: 'ann@example.com', passwordHash: 'hash-1' }
    const refusal = await rejectionOf(accounts.create({ ...ann, name: 7 }, context))
    expect(refusal).toMatchObject({ code: 'invalid_name' })
    expect(await accounts.create({ ...ann, name: 'Ann' }, context)).toMatchObject(ann)
    const rows = await db.selectFrom('users').select(['display_name', 'role']).where('email', '=', ann.email).execute()
    expect(rows).toEqual([{ display_name: 'Ann', role: 'member' }])
  })

  it('sessions-mongodb: is a store', async () => {
    const { sessions } = await run('sessions-mongodb')
    await expectSessionStore(sessions)
  })

  it('has the statements of the tables', async () => {
    const [created, printed] = [new Database(':memory:'), new Database(':memory:')]
    const db = new Kysely({ dialect: new SqliteDialect({ database: created as never }) })
    onTestFinished(() => db.destroy())
    await createTables(db)
    const { blocks } = readPage('docs/guides/stores.md')
    for (const table of ['sessions', 'codes', 'factors'])
      printed.exec(blocks.find(({ code }) => code.startsWith(`create table ${table} `))?.code ?? '')
    expect(statementsOf(printed)).toHaveLength(9)
    expect(statementsOf(printed)).toEqual(statementsOf(created))
  })
})
