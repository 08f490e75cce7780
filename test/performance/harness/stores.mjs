import { randomUUID } from 'node:crypto'
import { createPasswords } from 'express-token-endpoint'
import { HAS_POSTGRES, HOW_TO_GET_POSTGRES, postgresServer } from '../../support/services/servers/postgres-server.mjs'
import { HAS_REDIS, HOW_TO_GET_REDIS, redisServer } from '../../support/services/servers/redis-server.mjs'
import { atEnd, tempDir } from './processes.mjs'

const { openDatabase } = await import('../../../example-app/dist/data/databases/database.js')
const { createAccountStore } = await import('../../../example-app/dist/data/account-store.js')

/** Starts PostgreSQL and Redis for the example app, and adds accounts. Returns them with the variables of the app. */
export async function startStores(count) {
  if (!HAS_POSTGRES) throw new Error(`PostgreSQL is missing. ${HOW_TO_GET_POSTGRES}`)
  if (!HAS_REDIS) throw new Error(`redis-server is missing. ${HOW_TO_GET_REDIS}`)
  // The defaults of PostgreSQL, which the tests reduce.
  const postgres = await postgresServer({ settings: ['shared_buffers=128MB', 'max_connections=200'] })
  atEnd(() => postgres.remove())
  await postgres.start()
  // A log on disk, so that Redis keeps its data when it is killed.
  const redis = await redisServer({ dir: await tempDir(), fsync: 'everysec' })
  atEnd(() => redis.kill())
  await redis.start()
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
    TRUSTED_PROXIES: '1',
  }
  return { postgres, redis, env, people: await addPeople(env.DATABASE_URL, count) }
}

/**
 * Adds accounts with different passwords, each with a statement of as many cents as accounts came before.
 * @returns their credentials, and the `statements` that a response must have
 */
async function addPeople(databaseUrl, count) {
  const db = await openDatabase({ databaseUrl }, () => {})
  const store = createAccountStore(db)
  const passwords = createPasswords()
  const people = []
  // One hash at a time never fills the hash queue.
  while (people.length < count) {
    const amount = people.length
    const [email, password] = [`person${amount}@example.com`, `password of ${randomUUID()}`]
    const scopes = ['statements:read', 'reports:read']
    const id = await store.add({ email, passwordHash: await passwords.hash(password), scopes })
    const statement = { id: `statement-${amount}`, day: '2013-05-01', description: `Settlement of ${amount}` }
    const row = { ...statement, amount_cents: amount, house_id: 'north', account_id: id }
    await db.insertInto('statements').values(row).execute()
    people.push({ id, email, password, statements: [{ ...statement, amountCents: amount }] })
  }
  await db.destroy()
  return people
}
