// A process for account-stores.system.test.ts and factor-stores.system.test.ts. It runs the compiled package on the store that the environment names, and sends its mails to the test.
import { randomUUID } from 'node:crypto'
import express from 'express'
import { createAuth } from 'express-token-endpoint'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { redisStore } from 'express-token-endpoint/redis'
import { fastPasswords } from 'express-token-endpoint/testing'
import { Redis } from 'ioredis'
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createPool } from 'mysql2'
import pg from 'pg'

const { STORE, STORE_URL, ACCOUNTS_FILE, IS_FIRST } = process.env

function openSqlite(file) {
  const database = new Database(file)
  database.pragma('busy_timeout = 10000')
  return new SqliteDialect({ database })
}

/** The database of the accounts. Redis has none, so its processes share a file. */
const DIALECTS = {
  PostgreSQL: () => new PostgresDialect({ pool: new pg.Pool({ connectionString: STORE_URL }) }),
  MariaDB: () => new MysqlDialect({ pool: createPool(STORE_URL) }),
  SQLite: () => openSqlite(ACCOUNTS_FILE),
  Redis: () => openSqlite(ACCOUNTS_FILE),
}
const db = new Kysely({ dialect: DIALECTS[STORE]() })

function openStore() {
  if (STORE !== 'Redis') return kyselyStore(db)
  const redis = new Redis(STORE_URL)
  return redisStore({ sendCommand: (...command) => redis.call(...command) })
}

if (IS_FIRST) {
  await createTables(db)
  await db.schema
    .createTable('users')
    .addColumn('id', 'varchar(36)', (column) => column.primaryKey())
    .addColumn('email', 'varchar(254)', (column) => column.notNull().unique())
    .addColumn('password_hash', 'varchar(255)')
    .execute()
}

const auth = createAuth({
  issuer: 'https://api.example.com',
  secret: 'secret s'.repeat(4),
  accounts: kyselyAccounts(db, {
    table: 'users',
    columns: { passwordHash: 'password_hash' },
    create: () => ({ id: randomUUID() }),
  }),
  store: openStore(),
  passwords: fastPasswords(),
  refresh: 'body',
  limits: false,
  timeout: '20s',
  mail: (mail) => process.send({ mail }),
  onEvent: (event) =>
    event.type === 'dependency.failed' && process.send({ failed: String(event.error?.stack ?? event.dependency) }),
  signUp: true,
  passwordReset: true,
  signInByMail: true,
  secondFactor: true,
  apiKeys: true,
})

const app = express()
app.set('trust proxy', true)
app.use(auth.router)
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('disconnect', () => process.exit())
