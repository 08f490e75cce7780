import { randomUUID } from 'node:crypto'
import { createPasswords } from 'express-token-endpoint'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import pg from 'pg'
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

/** Adds the entry of a revoked token and a session, for accounts with five sessions each. */
const FILL = `for i = ARGV[1], ARGV[2] do
  local id, accountId = 'none-' .. i, 'acc-' .. math.floor(i / 5)
  redis.call('SET', 'revoked:' .. id, '', 'PXAT', ARGV[3])
  local key = 'device-session:' .. id
  local found = '[' .. ARGV[4] .. ',' .. ARGV[4] .. ',' .. ARGV[3] .. ',null,"' .. accountId .. '"]'
  redis.call('HSET', key, 'found', found, 'address', ARGV[5], 'userAgent', ARGV[6], 'label', ARGV[7])
  redis.call('PEXPIREAT', key, ARGV[3])
  redis.call('ZADD', 'device-session:of ' .. accountId, ARGV[3], id)
end`

/** Fills the sessions of both stores, and their lists of revoked tokens. */
export async function fillStores({ DATABASE_URL, REDIS_URL }, count) {
  const [createdAt, expiresAt] = [Date.now(), Date.now() + 86_400_000]
  const device = ['192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64)', 'Laptop']
  const redis = new Redis(REDIS_URL)
  for (let i = 0; i < count; i += 10_000) {
    const last = Math.min(i + 10_000, count) - 1
    await redis.eval(FILL, 0, i, last, expiresAt, createdAt, ...device)
  }
  redis.disconnect()
  // Not the example's database, which ends a statement after seconds.
  const database = new pg.Client(DATABASE_URL)
  await database.connect()
  await database.query("insert into revoked select 'none-' || i from generate_series(1, $1::int) i", [count])
  await database.query(
    "insert into device_sessions select 'none-' || i, 'acc-' || i / 5, $2::bigint, $3::bigint, $2::bigint, null, $4 from generate_series(1, $1::int) i",
    [count, createdAt, expiresAt, JSON.stringify(device)],
  )
  await database.query('vacuum analyze')
  await database.end()
}

/**
 * Adds the table of revoked tokens, and accounts with different passwords, each with a statement of as many cents as accounts came before.
 * @returns their credentials, and the `statements` that a response must have
 */
async function addPeople(databaseUrl, count) {
  const db = await openDatabase({ databaseUrl }, () => {})
  await sql`create table revoked (id text primary key)`.execute(db)
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
    people.push({ email, password, statements: [{ ...statement, amountCents: amount }] })
  }
  await db.destroy()
  return people
}
