import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../support/concurrency.js'
import { NO_POSTGRES, PASSWORD, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import {
  ALICE,
  BOB,
  login,
  NORTH,
  type Running,
  SIGN_OUT_PATH,
  start,
  statusOf,
  tempDir,
  tokenFrom,
} from '../support.js'

const SECRETS = [PASSWORD, encodeURIComponent(PASSWORD)]

/** Starts several processes at the same time on a new database, a new Redis and a new data folder. */
async function startProcesses(size: number) {
  const postgres = await startPostgres()
  const redis = await startRedis({ dir: await tempDir() })
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
  }
  const processes = await Promise.all(Array.from({ length: size }, () => start(env)))
  // No test makes a process print a password of the database.
  onTestFinished(() => {
    for (const { output } of processes) for (const secret of SECRETS) expect(output()).not.toContain(secret)
  })
  return { postgres, redis, env, processes }
}

async function rows(databaseUrl: string, table: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(`select count(*)::int as count from ${table}`)
  await client.end()
  return rows[0].count
}

async function signOut(url: string, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` }
  return (await fetch(url + SIGN_OUT_PATH, { method: 'POST', headers })).status
}

async function readiness(url: string) {
  const answer = await fetch(`${url}/readyz`)
  const { checks } = (await answer.json()) as { checks: Record<string, string> }
  return { status: answer.status, checks }
}

const alive = async (url: string) => (await fetch(`${url}/healthz`)).status

/** Sends each kind of request to one process. Returns the statuses. */
async function statusesOf(url: string, token: string, spare: string) {
  const [loggedIn, guarded, signedOut] = await Promise.all([
    login(url, ALICE),
    statusOf(url + NORTH, token),
    signOut(url, spare),
  ])
  return { login: loggedIn.status, guarded, signOut: signedOut }
}

describe.skipIf(NO_POSTGRES || NO_REDIS)('several processes', () => {
  test('started at once: one key, demo data once, shared sign-outs, shared failed-login limit', async () => {
    const { processes, env } = await startProcesses(3)
    const [one, two, three] = processes as [Running, Running, Running]
    expect(await rows(env.DATABASE_URL, 'accounts')).toBe(2)
    expect(await rows(env.DATABASE_URL, 'statements')).toBe(14)
    expect(await rows(env.DATABASE_URL, 'houses')).toBe(2)

    const token = await tokenFrom(one.url, ALICE)
    const other = await tokenFrom(two.url, ALICE)
    for (const { url } of processes) expect(await statusOf(url + NORTH, token)).toBe(200)
    expect(await signOut(two.url, token)).toBe(204)
    for (const { url } of processes) expect(await statusOf(url + NORTH, token)).toBe(401)
    for (const { url } of processes) expect(await statusOf(url + NORTH, other)).toBe(200)

    const ready = { status: 200, checks: { database: 'ok', redis: 'ok' } }
    for (const { url } of processes) await until(async () => expect(await readiness(url)).toMatchObject(ready))

    const guesses: number[] = []
    for (let round = 0; round < 12; round++) {
      for (const { url } of [one, two, three]) guesses.push((await login(url, { ...BOB, password: 'guess' })).status)
    }
    const through = guesses.filter((status) => status === 403).length
    expect(new Set(guesses)).toEqual(new Set([403, 429]))
    expect(through).toBeGreaterThanOrEqual(10)
    // The limit is ten. Without Redis each process has its own count, which a slow Redis can cause on a busy machine.
    expect(through).toBeLessThan(30)

    for (const { kill } of processes) kill('SIGTERM')
    for (const { exit } of processes) expect(await exit).toEqual({ code: 0, signal: null })
  })

  type Servers = Awaited<ReturnType<typeof startProcesses>>
  const POSTGRES = {
    statuses: { login: 503, guarded: 503, signOut: 503 },
    checks: { database: 'unavailable', redis: 'ok' },
    revoked: 401,
  }
  const REDIS = {
    statuses: { login: 503, guarded: 503, signOut: 503 },
    checks: { database: 'ok', redis: 'unavailable' },
    revoked: 503,
  }
  test.each<[string, typeof POSTGRES, (servers: Servers) => unknown, (servers: Servers) => unknown]>([
    ['PostgreSQL killed', POSTGRES, ({ postgres }) => postgres.kill(), ({ postgres }) => postgres.start()],
    ['PostgreSQL paused', POSTGRES, ({ postgres }) => postgres.pause(), ({ postgres }) => postgres.resume()],
    ['Redis killed', REDIS, ({ redis }) => redis.kill(), ({ redis }) => redis.start()],
    [
      'Redis paused',
      REDIS,
      ({ redis }) => redis.process()?.kill('SIGSTOP'),
      ({ redis }) => redis.process()?.kill('SIGCONT'),
    ],
  ])(
    '%s: 503 where it is needed, one line in the log, and recovery without a restart',
    async (what, down, stop, resume) => {
      const servers = await startProcesses(1)
      const [{ url, printed }] = servers.processes as [Running]
      const tokens = await Promise.all(Array.from({ length: 3 }, () => tokenFrom(url, ALICE)))
      const [token = '', spare = '', revoked = ''] = tokens
      expect(await signOut(url, revoked)).toBe(204)
      await stop(servers)
      expect(await statusesOf(url, token, spare)).toEqual(down.statuses)
      expect(await statusOf(url + NORTH, revoked)).toBe(down.revoked)
      await until(async () => expect(await readiness(url)).toMatchObject({ status: 503, checks: down.checks }))
      expect(await alive(url)).toBe(200)

      await resume(servers)
      await until(async () => expect(await readiness(url)).toMatchObject({ status: 200 }))
      // A short pause of Redis closes no connection.
      if (what !== 'Redis paused') await printed(`${what.split(' ')[0]} is back.`)
      await until(async () => expect(await login(url, ALICE)).toMatchObject({ status: 200 }))
      await until(async () => expect(await statusOf(url + NORTH, token)).toBe(200))
      // A sign-out that took longer than a time limit has ended the session nevertheless, so the repeated one gets 401.
      await until(async () => expect([204, 401]).toContain(await signOut(url, spare)))
      for (const ended of [spare, revoked]) expect(await statusOf(url + NORTH, ended)).toBe(401)
    },
  )
})
