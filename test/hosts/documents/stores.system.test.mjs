import { randomUUID } from 'node:crypto'
import { kyselyAccounts } from 'express-token-endpoint/kysely'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_HOSTS } from '../kit.js'

const ALICE = { id: 'acc-1', email: 'alice@example.com', password_hash: 'hash-1' }

/** Each returns the pool of the library, as docs/guides/orm-accounts.md says. */
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
  /** Knex has its own pool, and creates the table. */
  async Knex(connectionString) {
    const { default: createKnex } = await import('knex')
    const knex = createKnex({ client: 'pg', connection: connectionString })
    await knex.schema.createTable('users', (table) => {
      table.string('id').primary()
      table.string('email').unique()
      table.string('password_hash')
    })
    await knex('users').insert(ALICE)
    await knex.destroy()
    return new pg.Pool({ connectionString })
  },
}

describe.skipIf(NO_HOSTS || NO_POSTGRES)('the page on other tools', () => {
  it.each(Object.keys(LIBRARIES))('kyselyAccounts is a store next to %s', async (name) => {
    const pool = await LIBRARIES[name](await (await startPostgres()).createDatabase())
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
    onTestFinished(() => db.destroy())
    await sql`create table if not exists users (id text primary key, email text unique, password_hash text)`.execute(db)
    await db
      .insertInto('users')
      .values(ALICE)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: 'hash-1' }
    const store = kyselyAccounts(db, { table: 'users', create: () => ({ id: randomUUID() }) })
    for (const { run } of accountStoreContract({ store, existing }))
      await run({ skip: (reason) => expect.fail(reason) })
  })
})
