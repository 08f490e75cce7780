import { Client } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NO_POSTGRES, PASSWORD, startPostgres, type TestPostgres } from '../../support/services/postgres.js'
import { freePort, NO_REDIS, startRedis, type TestRedis } from '../../support/services/redis.js'
import { SERVER_START_MS } from '../data/databases/databases.js'
import {
  ALICE,
  BOB,
  login,
  NORTH,
  type Running,
  run,
  SIGN_OUT_PATH,
  start,
  statusOf,
  tempDir,
  tokenFrom,
} from '../support.js'

const PATIENCE = 20_000
const SECRETS = [PASSWORD, encodeURIComponent(PASSWORD)]

/** Starts processes of the example at once, on one database, one Redis and one data folder, all of them new. */
async function startFleet(size: number) {
  const postgres = await startPostgres()
  const redis = await startRedis({ dir: await tempDir() })
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
  }
  const fleet = await Promise.all(Array.from({ length: size }, () => start(env)))
  // Whatever a test does to it, it tells no secret.
  onTestFinished(() => {
    for (const { output } of fleet) for (const secret of SECRETS) expect(output()).not.toContain(secret)
  })
  return { postgres, redis, env, fleet }
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
  const { parts } = (await answer.json()) as { parts: Record<string, string> }
  return { status: answer.status, parts }
}

const alive = async (url: string) => (await fetch(`${url}/healthz`)).status

/** What one process answers to each kind of request. */
async function answers(url: string, token: string, spare: string) {
  const [loggedIn, guarded, signedOut] = await Promise.all([
    login(url, ALICE),
    statusOf(url + NORTH, token),
    signOut(url, spare),
  ])
  return { login: loggedIn.status, guarded, signOut: signedOut }
}

describe.skipIf(NO_POSTGRES || NO_REDIS)('several processes', { timeout: 2 * SERVER_START_MS }, () => {
  test('started at once: one key, demo data once, one sign-out, one budget', async () => {
    const { fleet, env } = await startFleet(3)
    const [one, two, three] = fleet as [Running, Running, Running]
    expect(await rows(env.DATABASE_URL, 'accounts')).toBe(2)
    expect(await rows(env.DATABASE_URL, 'statements')).toBe(14)
    expect(await rows(env.DATABASE_URL, 'houses')).toBe(2)

    const token = await tokenFrom(one.url, ALICE)
    const other = await tokenFrom(two.url, ALICE)
    for (const { url } of fleet) expect(await statusOf(url + NORTH, token)).toBe(200)
    expect(await signOut(two.url, token)).toBe(204)
    for (const { url } of fleet) expect(await statusOf(url + NORTH, token)).toBe(401)
    for (const { url } of fleet) expect(await statusOf(url + NORTH, other)).toBe(200)

    for (const { url } of fleet)
      expect(await readiness(url)).toMatchObject({ status: 200, parts: { database: 'ok', redis: 'ok' } })

    const guesses: number[] = []
    for (let round = 0; round < 12; round++) {
      for (const { url } of [one, two, three]) guesses.push((await login(url, { ...BOB, password: 'guess' })).status)
    }
    const through = guesses.filter((status) => status === 403).length
    expect(new Set(guesses)).toEqual(new Set([403, 429]))
    expect(through).toBeGreaterThanOrEqual(10)
    // On its own each of them would let ten through; a Redis that a busy machine kept silent lets a process do so.
    expect(through).toBeLessThan(30)

    for (const { kill } of fleet) kill('SIGTERM')
    for (const { exit } of fleet) expect(await exit).toEqual({ code: 0, signal: null })
  })

  const AWAY: [string, (server: TestPostgres) => unknown, (server: TestPostgres) => unknown][] = [
    ['killed and started anew', (server) => server.kill(), (server) => server.start()],
    ['paused', (server) => server.pause(), (server) => server.resume()],
  ]
  test.each(AWAY)('PostgreSQL %s: 503 and nobody in; then it works by itself', async (_what, leave, comeBack) => {
    const { fleet, postgres } = await startFleet(1)
    const [{ url, printed }] = fleet as [Running]
    const [token, spare] = [await tokenFrom(url, ALICE), await tokenFrom(url, ALICE)]
    await leave(postgres)
    expect(await answers(url, token, spare)).toEqual({ login: 503, guarded: 503, signOut: 503 })
    expect(await login(url, { ...ALICE, password: 'guess' })).toMatchObject({ status: 503 })
    expect(await readiness(url)).toMatchObject({ status: 503, parts: { database: 'unavailable', redis: 'ok' } })
    expect(await alive(url)).toBe(200)

    await comeBack(postgres)
    await vi.waitFor(async () => expect(await readiness(url)).toMatchObject({ status: 200 }), PATIENCE)
    await printed('PostgreSQL is back.')
    await vi.waitFor(
      async () => expect(await answers(url, token, spare)).toEqual({ login: 200, guarded: 200, signOut: 204 }),
      PATIENCE,
    )
    expect(await statusOf(url + NORTH, spare)).toBe(401)
  })

  const REDIS_AWAY: [string, (server: TestRedis) => unknown, (server: TestRedis) => unknown][] = [
    ['killed and started anew', (server) => server.kill(), (server) => server.start()],
    ['paused', (server) => server.process().kill('SIGSTOP'), (server) => server.process().kill('SIGCONT')],
  ]
  test.each(REDIS_AWAY)(
    'Redis %s: logins go on, nobody is let in unchecked; then it works by itself',
    async (_what, leave, comeBack) => {
      const { fleet, redis } = await startFleet(1)
      const [{ url }] = fleet as [Running]
      const [token, spare, revoked] = [
        await tokenFrom(url, ALICE),
        await tokenFrom(url, ALICE),
        await tokenFrom(url, ALICE),
      ]
      expect(await signOut(url, revoked)).toBe(204)
      await leave(redis)
      expect(await answers(url, token, spare)).toEqual({ login: 200, guarded: 503, signOut: 503 })
      expect(await statusOf(url + NORTH, revoked)).toBe(503)
      expect(await readiness(url)).toMatchObject({ status: 503, parts: { database: 'ok', redis: 'unavailable' } })
      expect(await alive(url)).toBe(200)

      await comeBack(redis)
      await vi.waitFor(async () => expect(await statusOf(url + NORTH, token)).toBe(200), PATIENCE)
      expect(await statusOf(url + NORTH, revoked)).toBe(401)
      expect(await answers(url, token, spare)).toEqual({ login: 200, guarded: 200, signOut: 204 })
      expect(await readiness(url)).toMatchObject({ status: 200 })
    },
  )
})

describe('does not start, and says so in one line', () => {
  test('without the database of DATABASE_URL', async () => {
    const port = await freePort()
    const env = { DATA_DIR: await tempDir(), PORT: '0', DATABASE_URL: `postgres://u:s3cret@127.0.0.1:${port}/x` }
    const { code, stdout, stderr } = await run('main', [], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(`DATABASE_URL: PostgreSQL: connect ECONNREFUSED 127.0.0.1:${port}\n`)
  })

  test('without the Redis of REDIS_URL', async () => {
    const port = await freePort()
    const env = { DATA_DIR: await tempDir(), PORT: '0', REDIS_URL: `redis://:s3cret@127.0.0.1:${port}` }
    const { code, stdout, stderr } = await run('main', [], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(`REDIS_URL: connect ECONNREFUSED 127.0.0.1:${port}\n`)
  })

  test.skipIf(NO_POSTGRES || NO_REDIS)(
    'on a busy port, with both of them connected',
    async () => {
      const { fleet, env } = await startFleet(1)
      const { port } = new URL((fleet[0] as Running).url)
      const { code, stderr } = await run('main', [], { ...env, PORT: port })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^Port \d+ of 127\.0\.0\.1 is taken.+\n$/)
    },
    SERVER_START_MS,
  )
})

test.skipIf(NO_POSTGRES)(
  'the account command adds to the database of DATABASE_URL',
  async () => {
    const postgres = await startPostgres()
    const env = { DATA_DIR: await tempDir(), DATABASE_URL: await postgres.createDatabase() }
    const added = await run('commands/account', ['add', 'carol@example.com'], env, 'first password')
    expect(added).toMatchObject({ code: 0, stdout: 'Added carol@example.com.\n', stderr: '' })
    expect(await rows(env.DATABASE_URL, 'accounts')).toBe(1)
    const { url } = await start(env)
    expect(await login(url, { email: 'carol@example.com', password: 'first password' })).toMatchObject({ status: 200 })
  },
  SERVER_START_MS,
)
