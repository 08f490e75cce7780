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
  REPORT,
  type Running,
  signOut,
  start,
  startBoth,
  statusOf,
  stop,
  tempDir,
  tokenFrom,
} from '../support.js'

/** Starts both APIs, and more processes of the clearing-house API at the same time, on new stores and a new data folder. */
async function startProcesses(more: number) {
  const postgres = await startPostgres()
  const redis = await startRedis({ dir: await tempDir() })
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
  }
  const starting = [startBoth(env), ...Array.from({ length: more }, () => start(env))]
  const processes = (await Promise.all(starting)) as [Running, ...Running[]]
  // No test makes a process print a password of the database.
  onTestFinished(() => {
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)])
      for (const { output } of processes) expect(output()).not.toContain(secret)
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

async function readiness(url: string) {
  const answer = await fetch(`${url}/readyz`)
  const { checks } = (await answer.json()) as { checks: Record<string, string> }
  return { status: answer.status, checks }
}

type Servers = Awaited<ReturnType<typeof startProcesses>>

describe.skipIf(NO_POSTGRES || NO_REDIS)('several processes', () => {
  test('started at once: one key, demo data once, shared sign-outs, shared failed-login limit', async () => {
    const { processes, env } = await startProcesses(2)
    const [one, two] = processes as [Running, Running]
    expect(await rows(env.DATABASE_URL, 'accounts')).toBe(2)
    expect(await rows(env.DATABASE_URL, 'statements')).toBe(14)
    const places = processes.map(({ url }) => url + NORTH)
    const expectAll = async (token: string, status: number) => {
      for (const place of places) expect(await statusOf(place, token)).toBe(status)
    }
    const token = await tokenFrom(one.url, ALICE)
    const other = await tokenFrom(two.url, ALICE)
    await expectAll(token, 200)
    expect(await signOut(two.url, token)).toBe(204)
    await expectAll(token, 401)
    // The reporting API asks no store about a token, which lives for ten minutes.
    expect(await statusOf(one.reporting + REPORT, token)).toBe(200)
    await expectAll(other, 200)

    const ready = { status: 200, checks: { database: 'ok', redis: 'ok' } }
    for (const { url } of processes) await until(async () => expect(await readiness(url)).toMatchObject(ready))
    expect(await readiness(one.reporting)).toEqual({ status: 200, checks: { database: 'ok' } })

    const guesses: number[] = []
    for (let round = 0; round < 12; round++) {
      for (const { url } of processes) guesses.push((await login(url, { ...BOB, password: 'guess' })).status)
    }
    const through = guesses.filter((status) => status === 403).length
    expect(new Set(guesses)).toEqual(new Set([403, 429]))
    expect(through).toBeGreaterThanOrEqual(10)
    // The limit is ten. Without Redis each process has its own count, which a slow Redis can cause on a busy machine.
    expect(through).toBeLessThan(30)

    await Promise.all(processes.map(stop))
  })

  const POSTGRES = { database: 'unavailable', redis: 'ok' }
  const REDIS = { database: 'ok', redis: 'unavailable' }
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
  ])('%s: 503, one line in the log, and recovery without a restart', async (what, checks, cut, resume) => {
    const servers = await startProcesses(0)
    const [{ url, reporting, printed }] = servers.processes
    const [token = '', spare = '', revoked = ''] = await Promise.all([1, 2, 3].map(() => tokenFrom(url, ALICE)))
    expect(await signOut(url, revoked)).toBe(204)
    await cut(servers)
    const calls = [
      login(url, ALICE).then(({ status }) => status),
      signOut(url, spare),
      ...[url + NORTH, reporting + REPORT].map((place) => statusOf(place, token)),
    ]
    expect(await Promise.all(calls)).toEqual([503, 503, 503, checks === REDIS ? 200 : 503])
    // Without Redis, a wrong password is still refused and counted in the process.
    expect(await login(url, { ...ALICE, password: 'wrong' })).toMatchObject({ status: checks === REDIS ? 403 : 503 })
    // The sessions are in Redis.
    expect(await statusOf(url + NORTH, revoked)).toBe(checks === REDIS ? 503 : 401)
    await until(async () => expect(await readiness(url)).toEqual({ status: 503, checks }))
    expect((await fetch(`${url}/healthz`)).status).toBe(200)

    await resume(servers)
    await until(async () => expect(await readiness(url)).toMatchObject({ status: 200 }))
    // A short pause of Redis closes no connection.
    if (what !== 'Redis paused') await printed(`${what.split(' ')[0]} is back.`)
    await until(async () => expect(await login(url, ALICE)).toMatchObject({ status: 200 }))
    for (const place of [url + NORTH, reporting + REPORT])
      await until(async () => expect(await statusOf(place, token)).toBe(200))
    // A sign-out that took longer than a time limit has ended the session nevertheless, so the repeated one gets 401.
    await until(async () => expect([204, 401]).toContain(await signOut(url, spare)))
    for (const ended of [spare, revoked]) expect(await statusOf(url + NORTH, ended)).toBe(401)
  })
})
