import type { AuthError, CodeStore, Codes, FactorStore, SessionStore } from 'express-token-endpoint'
import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { type RedisStoreOptions, redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RefreshSteps } from '../../../src/sessions/refresh/refresh-steps.js'
import { mariadb, NO_MARIADB } from '../../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { createCodes, sessionsAndSteps } from '../../support/sessions.js'

const PROCESSES = 3
const ROUNDS = 20

/** The stores of each process. */
interface Stores {
  sessions: SessionStore[]
  codes: CodeStore[]
  factors: FactorStore[]
}

async function sqlStores(open: () => Kysely<unknown>): Promise<Stores> {
  const connections = Array.from({ length: PROCESSES }, open)
  onTestFinished(async () => {
    for (const db of connections) await db.destroy()
  })
  await createTables(connections[0] as Kysely<unknown>)
  return {
    sessions: connections.map((db) => kyselyStore(db).sessions),
    codes: connections.map((db) => kyselyStore(db).codes),
    factors: connections.map((db) => kyselyStore(db).factors),
  }
}

const STORES: [name: string, isMissing: boolean, open: () => Promise<Stores>][] = [
  [
    'Redis',
    NO_REDIS,
    async () => {
      const { url } = await startRedis()
      const options = Array.from({ length: PROCESSES }, () => {
        const redis = new Redis(url)
        onTestFinished(() => redis.disconnect())
        const sendCommand: RedisStoreOptions['sendCommand'] = (...command) => redis.call(...command)
        return { sendCommand }
      })
      const stores = options.map(redisStore)
      return {
        sessions: stores.map(({ sessions }) => sessions),
        codes: stores.map(({ codes }) => codes),
        factors: stores.map(({ factors }) => factors),
      }
    },
  ],
  [
    'PostgreSQL',
    NO_POSTGRES,
    async () => {
      const connectionString = await (await startPostgres()).createDatabase()
      return sqlStores(() => new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }) }))
    },
  ],
  [
    'MariaDB',
    NO_MARIADB,
    async () => {
      const { port } = await mariadb()
      const open = () => createPool({ host: '127.0.0.1', port, user: 'root', database: 'app' })
      return sqlStores(() => new Kysely({ dialect: new MysqlDialect({ pool: open() }) }))
    },
  ],
]

describe.each(STORES)('three processes on one %s', (_, isMissing, open) => {
  it.skipIf(isMissing)(
    'that refresh a session at once move it by one generation, and get the same refresh token',
    async () => {
      let time = Date.now()
      const options = { clock: () => time, refresh: {} }
      const all = (await open()).sessions.map((store) => sessionsAndSteps(store, options))
      const sessions = all[0]?.sessions
      const refreshSteps = all.map((one) => one.refreshSteps as RefreshSteps)
      const facts = { sessionId: 'session-1', generation: 0 }
      const begun = (refreshSteps[0] as RefreshSteps).begin(true)
      await sessions?.start({ id: facts.sessionId, accountId: 'acc-1', ...begun })
      for (let round = 1; round <= ROUNDS; round++) {
        // Each process has two requests under way.
        const moved = await Promise.all(
          [...refreshSteps, ...refreshSteps].map(async (one) => {
            const found = await one.find(facts)
            return found && one.rotate(found, { sessionId: 'a', generation: round - 1 }, null)
          }),
        )
        const generations = moved.map((one) => (typeof one === 'object' ? one.state.generation : one))
        expect(new Set(generations)).toEqual(new Set([round]))
        // Later than grace, within which a session moves eight times at most.
        time += 11_000
      }
      await sessions?.endAll('acc-1')
      for (const one of refreshSteps) expect(await one.find(facts)).toBeUndefined()
    },
  )

  it.skipIf(isMissing)(
    'that take a code at once get it once, and create no more codes than an account may have',
    async () => {
      const all = (await open()).codes.map((store) => createCodes(store))
      const each = <T>(call: (codes: Codes) => Promise<T>) =>
        // Each process has two requests under way.
        Promise.all([...all, ...all].map((codes) => call(codes).catch((error: AuthError) => error.code)))
      for (let round = 1; round <= ROUNDS; round++) {
        const code = await (all[round % PROCESSES] as Codes).create({
          purpose: 'reset',
          accountId: 'acc-1',
          maxPerAccount: 2,
          data: round,
        })
        const taken = await each((codes) => codes.take('reset', code))
        expect(taken.filter((one) => one !== undefined)).toEqual([{ accountId: 'acc-1', data: round }])
        const created = await each((codes) => codes.create({ purpose: 'reset', accountId: 'acc-1', maxPerAccount: 2 }))
        const refused = created.filter((one) => one === 'too_many_attempts').length
        expect(refused).toBeGreaterThanOrEqual(created.length - 2)
        await all[0]?.removeAll('acc-1', 'reset')
        for (const one of created) expect(await all[1]?.take('reset', one)).toBeUndefined()
      }
    },
  )
  it.skipIf(isMissing)(
    'that use a factor at once use it once, and store no more factors than an account may have, or two of one id',
    async () => {
      const all = (await open()).factors
      const [first] = all as [FactorStore]
      const each = <T>(call: (store: FactorStore, i: number) => T | Promise<T>) =>
        // Each process has two requests in progress.
        Promise.all([...all, ...all].map(async (store, i) => call(store, i)))
      const factor = (id: string, kind: string, data = '0') => ({ id, accountId: 'acc-1', kind, expiresAt: null, data })
      const now = new Date()
      await first.add(factor('totp-1', 'totp'), 1, now)
      for (let round = 0; round < ROUNDS; round++) {
        const used = await each((store, i) => store.replace('totp-1', String(round), `${round + 1}${' '.repeat(i)}`))
        expect(used.filter(Boolean)).toHaveLength(1)
        const data = `${round + 1}${' '.repeat(used.indexOf(true))}`
        for (const store of all) expect(await store.find('totp-1')).toEqual(factor('totp-1', 'totp', data))
        expect(await first.replace('totp-1', data, String(round + 1))).toBe(true)
        // One id: a challenge that is used up.
        const [id, kind] = [`challenge-${round}`, 'challenge']
        const added = await each((store, i) => store.add(factor(id, kind, String(i)), 100, now))
        expect(added.filter(Boolean)).toHaveLength(1)
        expect(await first.find(id)).toEqual(factor(id, kind, String(added.indexOf(true))))
        // Other ids, of which an account may have two.
        const keys = await each((store, i) => store.add(factor(`key-${round}-${i}`, 'api-key'), 2, now))
        expect(keys.filter(Boolean).length).toBeLessThanOrEqual(2)
        const listed = (await first.list('acc-1')).filter((one) => one.kind === 'api-key').map((one) => one.id)
        const expected = keys.flatMap((isAdded, i) => (isAdded ? [`key-${round}-${i}`] : []))
        expect(listed.sort()).toEqual(expected)
        const removed = await each((store) => store.remove(id, 'acc-1'))
        expect(removed.filter(Boolean)).toHaveLength(1)
        await first.removeAll('acc-1', ['api-key'])
        for (const store of all) expect(await store.list('acc-1')).toHaveLength(1)
      }
    },
  )
})
