import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { type CompiledQuery, DummyDriver, Kysely, MssqlAdapter, MssqlIntrospector, MssqlQueryCompiler } from 'kysely'
import { expect, it } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'

/** A database without a server, which notes the statements in the language of SQL Server. */
function openCompiler() {
  const statements: CompiledQuery[] = []
  const db = new Kysely<{ users: { id: string } }>({
    dialect: {
      createAdapter: () => new MssqlAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (one) => new MssqlIntrospector(one),
      createQueryCompiler: () => new MssqlQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query),
  })
  return { db, statements }
}

it('compiles to statements of SQL Server, whose values are all parameters', async () => {
  const { db, statements } = openCompiler()
  await createTables(db)
  const sessions = kyselyStore(db).sessions
  const secret = "O'Neill"
  await sessions.add(newSession({ id: secret, accountId: secret, expiresAt: new Date(1000), label: secret }, 0))
  await sessions.find(secret)
  await sessions.list(secret)
  await sessions.touch(secret, new Date(0))
  const codes = kyselyStore(db).codes
  await codes.add(
    { digest: secret, purpose: secret, accountId: secret, expiresAt: new Date(), data: secret },
    1,
    new Date(),
  )
  await codes.take(secret)
  await codes.removeAll(secret, secret)
  const factors = kyselyStore(db).factors
  await factors.add({ id: secret, accountId: secret, kind: secret, expiresAt: null, data: secret }, 1, new Date())
  await factors.remove(secret, secret)
  const accounts = kyselyAccounts(db, { table: 'users' })
  await accounts.findByEmail(secret)
  await accounts.findById(secret)
  const texts = statements.map(({ sql }) => sql)
  expect(texts.filter((text) => text.includes(secret) || / limit |returning|`/i.test(text))).toEqual([])
  expect(texts).toContain('select * from "sessions" where "id" = @1')
  expect(texts.find((text) => text.startsWith('insert'))).toMatch(/^insert into "sessions" \(.+\) values \(@1, .+@9\)$/)
  expect(texts).toContain('select * from "factors" where "id" = @1')
  expect(texts).toContain('select * from "codes" where "account_id" = @1')
  expect(texts.filter((text) => text.startsWith('create'))).toHaveLength(9)
})
