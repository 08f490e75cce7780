import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { Kysely, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { onTestFinished } from 'vitest'

/** The tables of a release in SQLite: the statements that create them, and their rows. */
export interface Tables {
  statements: string[]
  rows: Record<string, Record<string, string | number | null>[]>
}

/** Opens a database in memory: with the tables of a release, or with new ones. */
export async function openTables(tables?: Tables) {
  const db = new Kysely<Record<string, Record<string, unknown>>>({
    dialect: new SqliteDialect({ database: new Database(':memory:') as never }),
  })
  onTestFinished(() => db.destroy())
  for (const statement of tables?.statements ?? []) await sql.raw(statement).execute(db)
  for (const [table, rows] of Object.entries(tables?.rows ?? {}))
    for (const row of rows) await db.insertInto(table).values(row).execute()
  // A release that needs another column fails here.
  await createTables(db)
  return {
    store: kyselyStore(db),
    async dump(): Promise<Tables> {
      const made = await sql<{ name: string; type: string; sql: string }>`
        select name, type, sql from sqlite_master where sql is not null order by rowid`.execute(db)
      const tables = made.rows.filter(({ type }) => type === 'table').map(({ name }) => name)
      const rows = tables.map(async (name) => [name, await db.selectFrom(name).selectAll().execute()])
      return { statements: made.rows.map((one) => one.sql), rows: Object.fromEntries(await Promise.all(rows)) }
    },
  }
}

/** A key of Redis: a text, a hash, or a sorted set with its scores. A time is in milliseconds since 1970, or -1 for a key that stays. */
export type Keys = Record<string, { expiresAt: number; text?: string; hash?: Record<string, string>; set?: string[] }>

/** Opens a Redis: with the keys of a release, or empty. */
export async function openKeys(url: string, keys: Keys = {}) {
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  await redis.flushall()
  for (const [key, { expiresAt, text, hash, set }] of Object.entries(keys)) {
    if (text !== undefined) await redis.set(key, text)
    if (hash) await redis.hset(key, hash)
    for (let i = 0; set && i < set.length; i += 2) await redis.zadd(key, set[i + 1] ?? '', set[i] ?? '')
    if (expiresAt >= 0) await redis.pexpireat(key, expiresAt)
  }

  async function read(key: string): Promise<Keys[string]> {
    // The clock moves between two commands, so the time is rounded.
    const rest = await redis.pttl(key)
    const expiresAt = rest < 0 ? -1 : Math.round((Date.now() + rest) / 1000) * 1000
    const type = await redis.type(key)
    if (type === 'string') return { expiresAt, text: (await redis.get(key)) ?? '' }
    return type === 'hash'
      ? { expiresAt, hash: await redis.hgetall(key) }
      : { expiresAt, set: await redis.zrange(key, 0, '-1', 'WITHSCORES') }
  }

  return {
    store: redisStore({ sendCommand: (...command) => redis.call(...command) }),
    async dump(): Promise<Keys> {
      const found: Keys = {}
      for (const key of (await redis.keys('*')).sort()) found[key] = await read(key)
      return found
    },
  }
}
