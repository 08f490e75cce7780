import { kyselyAccounts } from 'express-token-endpoint/kysely'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_HOSTS } from '../kit.js'

/** Each returns the pool of the library, as docs/guides/accounts.md says. */
const LIBRARIES = {
  async Drizzle(connectionString) {
    const { drizzle } = await import('drizzle-orm/node-postgres')
    return drizzle(new pg.Pool({ connectionString })).$client
  },
  async TypeORM(url) {
    const { DataSource } = await import('typeorm')
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize()
    return dataSource.driver.master
  },
}

describe.skipIf(NO_HOSTS || NO_POSTGRES)('the page on accounts', () => {
  it.each(Object.keys(LIBRARIES))('kyselyAccounts is a store with the pool of %s', async (name) => {
    const pool = await LIBRARIES[name](await (await startPostgres()).createDatabase())
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
    onTestFinished(() => db.destroy())
    await sql`create table users (id text primary key, email text, password_hash text)`.execute(db)
    await sql`insert into users values ('acc-1', 'alice@example.com', 'hash-1')`.execute(db)
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: 'hash-1' }
    for (const { run } of accountStoreContract({ store: kyselyAccounts(db, { table: 'users' }), existing }))
      await run({ skip: (reason) => expect.fail(reason) })
  })
})
