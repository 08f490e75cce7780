import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AccountStore } from 'express-token-endpoint'
import { accountStoreContract } from 'express-token-endpoint/testing'
import pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startExamples } from '../../support/documents/examples.js'
import { readPage } from '../../support/documents/pages.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_HOSTS } from '../kit.js'
import { standInForMongo } from './mongo-stand-in.mjs'

type Store = Required<AccountStore>

const PRISMA = fileURLToPath(new URL('../node_modules/prisma/build/index.js', import.meta.url))

describe.skipIf(NO_HOSTS || NO_POSTGRES)('the page on other tools', () => {
  const { run, folder } = startExamples(import.meta.url)

  /** Generates the client of the page's schema. `prisma` does not download its schema engine, as another program is named. */
  beforeAll(async () => {
    const schema = readPage('docs/guides/orm-accounts.md').blocks.find(({ language }) => language === 'prisma')
    await writeFile(`${folder}/schema.prisma`, schema?.code ?? '')
    await promisify(execFile)(process.execPath, [PRISMA, 'generate', '--schema', 'schema.prisma'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
    })
  })

  /** Creates a database with the table, and sets its address. */
  async function createDatabase(passwordHash?: string, table = 'users'): Promise<string> {
    const url = await (await startPostgres()).createDatabase()
    process.env['DATABASE_URL'] = url
    if (passwordHash === undefined) return url
    const client = new pg.Client(url)
    await client.connect()
    const columns = `id serial primary key, tenant text not null default '', email text not null, "${passwordHash}" text`
    await client.query(`create table "${table}" (${columns}, unique (tenant, email))`)
    await client.end()
    return url
  }

  const STORES: Record<string, () => Promise<Store>> = {
    async Sequelize() {
      await createDatabase()
      const { accounts, sequelize } = await run<{ sequelize: Closable & { sync(): Promise<void> } }>(
        'sequelize-accounts',
      )
      onTestFinished(() => sequelize.close())
      await sequelize.sync()
      return accounts
    },
    async TypeORM() {
      await createDatabase()
      const { accounts, dataSource } = await run<{
        dataSource: { synchronize(): Promise<void>; destroy(): Promise<void> }
      }>('typeorm-accounts')
      onTestFinished(() => dataSource.destroy())
      await dataSource.synchronize()
      return accounts
    },
    async Drizzle() {
      await createDatabase('password_hash')
      const { accounts, db } = (await run('drizzle-accounts')) as never as { accounts: Store; db: { $client: pg.Pool } }
      onTestFinished(() => db.$client.end())
      return accounts
    },
    async Prisma() {
      const connectionString = await createDatabase('passwordHash', 'User')
      const { PrismaPg } = await import('@prisma/adapter-pg' as string)
      const { PrismaClient } = await import(`${folder}/generated/client.ts`)
      const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) })
      onTestFinished(() => prisma.$disconnect())
      Object.assign(globalThis, { prisma })
      const { accounts } = await run('prisma-accounts')
      return accounts
    },
    async Mongoose() {
      const { accounts, users, schema } = await run<{
        users: { collection: object }
        schema: { indexes(): [keys: object, options: { unique?: boolean }][] }
      }>('mongoose-accounts')
      const [[keys, { unique }] = [{}, {}]] = schema.indexes()
      expect(unique).toBe(true)
      standInForMongo(users.collection, Object.keys(keys))
      return accounts
    },
  }

  it('account-helpers: throws an error that is not about the unique index', async () => {
    const { unlessTaken } = await run<{ unlessTaken: (error: unknown) => undefined }>('account-helpers')
    const error = Object.assign(new Error('down'), { code: '57P01' })
    expect(() => unlessTaken(error)).toThrow(error)
  })

  it.each(Object.keys(STORES))(
    '%s: fulfils the contract, also with tenants and with ids of other forms',
    async (name) => {
      const store = (await STORES[name]?.()) as Store
      const add = (tenant?: string) =>
        store.create({ email: 'Alice@example.com', passwordHash: 'hash-1' }, { tenant, req: { headers: {} } })
      const { id = '' } = (await add()) ?? {}
      const existing = { email: 'alice@example.com', id, passwordHash: 'hash-1' }
      for (const check of accountStoreContract({ store, existing })) {
        await check.run({ skip: (reason) => expect.fail(reason) })
      }

      expect(await store.findByEmail('ALICE@example.com')).toMatchObject(existing)
      const inTenant = await add('one')
      expect(inTenant?.id).not.toBe(id)
      expect(await add('one')).toBeFalsy()
      const context = { tenant: 'one', req: undefined, fields: {} }
      expect(await store.findByEmail('alice@example.com', context)).toMatchObject({ id: inTenant?.id })
      expect(await store.findByEmail('alice@example.com', { ...context, tenant: 'two' })).toBeFalsy()

      const noPassword = { email: 'carol@example.com', passwordHash: null as never }
      const { id: carol = '' } = (await store.create(noPassword, { tenant: undefined, req: { headers: {} } })) ?? {}
      expect(await store.replacePasswordHash(id, null, 'hash-2')).toBe(false)
      expect(await store.replacePasswordHash(carol, null, 'hash-2')).toBe(true)
      expect(await store.replacePasswordHash(carol, null, 'hash-3')).toBe(false)

      for (const other of [
        'x',
        '0',
        '-1',
        `0${id}`,
        `${id} `,
        '1e3',
        '99999999999',
        '123456789012',
        'f'.repeat(24),
        '\0',
      ]) {
        expect(await store.findById(other), other).toBeFalsy()
        expect(await store.replacePasswordHash(other, 'hash-1', 'hash-2'), other).toBe(false)
        expect(await store.replaceEmail(other, 'alice@example.com', 'bob@example.com'), other).toBe(false)
        await store.remove(other)
      }
      expect(await store.findById(id)).toMatchObject(existing)
    },
  )
})

interface Closable {
  close(): Promise<void>
}
