import { isBuiltin } from 'node:module'
import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { rejectionOf } from '../../../support/failures.js'
import { expectSessionStore } from '../../../support/session-store.js'

const { run } = startExamples(import.meta.url)

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
})
