import { randomUUID } from 'node:crypto'
import { createTables } from 'express-token-endpoint/kysely'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Sqlite from 'libsql'
import pg from 'pg'
import { postgresServer } from '../../support/services/servers/postgres-server.mjs'
import { redisServer } from '../../support/services/servers/redis-server.mjs'
import { atEnd, tempDir } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { inRounds, rowsOf } from '../harness/statistics.mjs'

const SIZES = [1000, 100_000, 1_000_000]
const CALLS = 2000
const AT_ONCE = 16

/** A look-up by a key must cost nearly the same in a large store. */
const TARGET = 2

export const title = `A look-up and a refresh in stores with ${SIZES.map((size) => size.toLocaleString('en')).join(', ')} sessions`

const session = (i) => ({
  id: `s-${i}`,
  accountId: `acc-${Math.floor(i / 5)}`,
  createdAt: new Date(),
  lastUsedAt: new Date(),
  expiresAt: new Date(Date.now() + 86_400_000),
  address: '192.0.2.1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
  label: 'Laptop',
  refresh: 'r-0',
})

async function inParallel(count, call) {
  let next = 0
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await call(i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Fills a table by one statement, because a million statements would take minutes. */
async function fillTable(db, from, to) {
  const [now, end] = [Date.now(), Date.now() + 86_400_000]
  const device = JSON.stringify(['192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64)', 'Laptop'])
  await sql`with recursive n(i) as (select cast(${from} as integer) union all select i + 1 from n where i + 1 < ${to})
    insert into sessions select 's-' || i, 'acc-' || (i / 5), ${now}, ${end}, ${now}, 'r-0', ${device} from n`.execute(
    db,
  )
}

async function kyselyStore(dialect) {
  const db = new Kysely({ dialect })
  atEnd(() => db.destroy())
  await createTables(db)
  return { store: kyselyStore(db).sessions, fill: (from, to) => fillTable(db, from, to) }
}

const STORES = {
  async Redis() {
    const server = await redisServer({ dir: await tempDir(), fsync: 'everysec' })
    atEnd(() => server.kill())
    await server.start()
    const redis = new Redis(server.url)
    atEnd(() => redis.disconnect())
    const store = redisStore({ sendCommand: (...command) => redis.call(...command) }).sessions
    return { store, fill: (from, to) => inParallel(to - from, (i) => store.add(session(from + i))) }
  },
  async PostgreSQL() {
    const server = await postgresServer({ settings: ['shared_buffers=128MB'] })
    atEnd(() => server.remove())
    await server.start()
    const pool = new pg.Pool({ connectionString: await server.createDatabase(), max: AT_ONCE })
    return kyselyStore(new PostgresDialect({ pool }))
  },
  async SQLite() {
    const database = new Sqlite(`${await tempDir()}/sessions.sqlite`)
    database.pragma('journal_mode = WAL')
    return kyselyStore(new SqliteDialect({ database }))
  },
}

async function timed(call) {
  const started = performance.now()
  await inParallel(CALLS, call)
  return ((performance.now() - started) / CALLS) * 1000
}

export async function run({ rounds }) {
  const rows = []
  const verdicts = []
  for (const [name, open] of Object.entries(STORES)) {
    const { store, fill } = await open()
    const measured = { find: [], refresh: [] }
    let filled = 0
    for (const size of SIZES) {
      await fill(filled, size)
      filled = size
      const any = () => Math.floor(Math.random() * size)
      const refresh = `r-${randomUUID()}`
      const swap = async () => {
        const id = `s-${any()}`
        const found = await store.find(id)
        const change = { refresh, expiresAt: new Date(Date.now() + 86_400_000), lastUsedAt: new Date() }
        await store.replace(id, found.refresh, change)
      }
      const variants = [
        { name: 'find', call: () => store.find(`s-${any()}`) },
        { name: 'refresh', call: swap },
      ]
      const found = await inRounds(rounds, variants, ({ call }) => timed(call))
      for (const row of rowsOf(found, { base: 'find' })) measured[row.name].push(row)
    }
    for (const [what, [first, ...others]] of Object.entries(measured)) {
      rows.push([`${name}: ${what}`, ...[first, ...others].map(spread)])
      const last = others.at(-1)
      const ratio = { median: last.median / first.median, low: last.low / first.high, high: last.high / first.low }
      verdicts.push(atMost(`${name}: ${what}, in the largest store to the smallest`, ratio, TARGET))
    }
  }
  return { tables: [[['µs a call', ...SIZES.map((size) => size.toLocaleString('en'))], rows]], verdicts }
}
