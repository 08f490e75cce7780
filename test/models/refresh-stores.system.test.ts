import type { SessionStore } from 'express-token-endpoint'
import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mariadb, NO_MARIADB } from '../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../support/services/redis.js'
import { counted, honestRun, thiefRun } from './refresh/runs.js'
import { FACTOR, search, WORLDS } from './refresh/search.js'

interface Opened {
  store: Required<SessionStore>
  empty(): Promise<unknown>
}

async function openSql(dialect: Dialect): Promise<Opened> {
  const db = new Kysely({ dialect })
  onTestFinished(() => db.destroy())
  await createTables(db)
  return { store: kyselyStore(db).sessions, empty: () => sql`delete from sessions`.execute(db) }
}

const STORES: [name: string, isMissing: boolean, open: () => Promise<Opened>][] = [
  [
    'redisSessions',
    NO_REDIS,
    async () => {
      const redis = new Redis((await startRedis()).url)
      onTestFinished(() => redis.disconnect())
      const store = redisStore({ sendCommand: (...command) => redis.call(...command) }).sessions
      return { store, empty: () => redis.flushall() }
    },
  ],
  [
    'kyselySessions in PostgreSQL',
    NO_POSTGRES,
    async () => {
      const connectionString = await (await startPostgres()).createDatabase()
      // The time of the model would close idle connections.
      return openSql(new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0 }) }))
    },
  ],
  [
    'kyselySessions in MariaDB',
    NO_MARIADB,
    async () => {
      const { port } = await mariadb()
      const pool = createPool({ host: '127.0.0.1', port, user: 'root', database: 'app', connectionLimit: 1 })
      return openSql(new MysqlDialect({ pool }))
    },
  ],
]

describe.each(STORES)('refresh with %s', (_, isMissing, open) => {
  it.skipIf(isMissing)(
    'never signs an honest client out, and notices a thief',
    { timeout: 600_000 * FACTOR },
    async () => {
      const { store, empty } = await open()
      for (const [, settings, network] of WORLDS) {
        for (const [run, length] of [
          [honestRun, 2000],
          [thiefRun, 400],
        ] as const) {
          const steps = counted.steps
          await search(async (list) => {
            await empty()
            return run(list.slice(0, length), settings, network, store)
          }, 4)
          expect(counted.steps).toBeGreaterThan(steps)
        }
      }
    },
  )
})
