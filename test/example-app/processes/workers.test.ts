import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import {
  ALICE,
  BOB,
  descendants,
  login,
  loginInFlight,
  NORTH,
  patience,
  REPORT,
  run,
  startBoth,
  tempDir,
  tokenFrom,
} from '../support.js'

const PATIENCE = { timeout: 30_000 }

async function startFleet(workers: Record<string, string>) {
  const env = { DATA_DIR: await tempDir(), REDIS_URL: (await startRedis()).url, ...workers }
  const app = await startBoth(env)
  /** The processes that serve an API. */
  const workersOf = async (name: string) => {
    const all = await descendants(app.pid)
    return all
      .filter(({ command, parent }) => parent !== app.pid && command.includes(` ${name} `))
      .map(({ pid }) => pid)
  }
  return { app, workersOf }
}

/** Asks again and again over connections that are kept, until it is stopped. */
function steadyLoad(url: string, token: string, clients: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const outcomes = new Map<unknown, number>()
  let going = true
  const ask = async () => {
    const req = request(url, { agent, headers: { Authorization: `Bearer ${token}` } }).end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    await text(res)
    return res.statusCode
  }
  const client = async () => {
    while (going) {
      const outcome = await ask().catch((error: Error) => error.message)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  const all = Promise.all(Array.from({ length: clients }, client))
  return {
    answered: () => outcomes.get(200) ?? 0,
    async stop() {
      going = false
      await all
      agent.destroy()
      return Object.fromEntries(outcomes)
    },
  }
}

test('several processes without Redis are refused', async () => {
  const env = { DATA_DIR: await tempDir(), PORT: '0', WORKERS: '2' }
  for (const args of [[], ['clearing-house']]) {
    const { code, stdout, stderr } = await run('main', args, env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^WORKERS=2 needs REDIS_URL: .+\n$/)
  }
})

test('one process and one that looks after it need no Redis', async () => {
  const app = await startBoth({ DATA_DIR: await tempDir(), WORKERS: '1' })
  expect(await login(app.url, ALICE)).toMatchObject({ status: 200 })
  const before = await descendants(app.pid)
  expect(before).toHaveLength(4)
  app.kill('SIGUSR2')
  await app.printed('Restarted.')
  const token = await tokenFrom(app.url, ALICE)
  expect(await fetch(app.reporting + REPORT, { headers: { Authorization: `Bearer ${token}` } })).toMatchObject({
    status: 200,
  })
  const after = await descendants(app.pid)
  expect(after).toHaveLength(4)
  expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toHaveLength(2)
})

test('a restart that fails says so, and changes nothing', async () => {
  const dataDir = await tempDir()
  const key = join(dataDir, 'signing-key.pem')
  const app = await startBoth({ DATA_DIR: dataDir, WORKERS: '1' })
  const before = await descendants(app.pid)
  await chmod(key, 0o644)
  app.kill('SIGUSR2')
  await app.printed('The new process did not start: the old ones go on.')
  expect(await login(app.url, ALICE)).toMatchObject({ status: 200 })
  expect(await descendants(app.pid)).toEqual(before)
  expect(app.output()).toContain('others can read this key')
  await chmod(key, 0o600)
  app.kill('SIGUSR2')
  await app.printed('Restarted.')
  expect(app.output().match(/Restarted/g)).toHaveLength(1)
})

test('the only process is replaced at the same address', async () => {
  const app = await startBoth({ DATA_DIR: await tempDir(), WORKERS: '1' })
  const all = await descendants(app.pid)
  for (const { pid, parent } of all) if (parent !== app.pid) process.kill(pid, 'SIGKILL')
  await app.printed('A process has ended unexpectedly (SIGKILL)')
  const token = await vi.waitFor(() => tokenFrom(app.url, ALICE), PATIENCE)
  const headers = { Authorization: `Bearer ${token}` }
  await vi.waitFor(
    async () => expect((await fetch(app.reporting + REPORT, { headers, signal: patience() })).status).toBe(200),
    PATIENCE,
  )
})

test('without WORKERS there is nothing to replace a process with, and the signal does no harm', async () => {
  const app = await startBoth({ DATA_DIR: await tempDir() })
  for (const { pid } of await descendants(app.pid)) process.kill(pid, 'SIGUSR2')
  app.kill('SIGUSR2')
  await app.printed('Only with WORKERS set')
  expect(await login(app.url, ALICE)).toMatchObject({ status: 200 })
})

describe.skipIf(NO_REDIS)('WORKERS=2', () => {
  test('both serve one address, and a budget counts once', async () => {
    const { app, workersOf } = await startFleet({ WORKERS: '2', REPORTING_WORKERS: '2' })
    expect(await workersOf('clearing-house')).toHaveLength(2)
    expect(await workersOf('reporting')).toHaveLength(2)
    const guesses = await Promise.all(Array.from({ length: 30 }, () => login(app.url, { ...BOB, password: 'guess' })))
    expect(guesses.filter(({ status }) => status === 403).length).toBeLessThan(20)
    expect(guesses.map(({ status }) => status)).toContain(429)
    app.kill('SIGTERM')
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })

  test('one that is killed is replaced', async () => {
    const { app, workersOf } = await startFleet({ WORKERS: '2' })
    const [victim = 0, other] = await workersOf('clearing-house')
    process.kill(victim, 'SIGKILL')
    await app.printed('A process has ended unexpectedly (SIGKILL)')
    const now = await vi.waitFor(async () => {
      const found = await workersOf('clearing-house')
      expect(found).toHaveLength(2)
      return found
    }, PATIENCE)
    expect(now).toContain(other)
    expect(now).not.toContain(victim)
    // The one that is left serves meanwhile.
    expect(await login(app.url, ALICE)).toMatchObject({ status: 200 })
  })

  test('a restart under a steady load loses no request', async () => {
    const { app, workersOf } = await startFleet({ WORKERS: '2', REPORTING_WORKERS: '2' })
    const before = [...(await workersOf('clearing-house')), ...(await workersOf('reporting'))]
    const token = await tokenFrom(app.url, ALICE)
    const loads = [steadyLoad(app.url + NORTH, token, 4), steadyLoad(app.reporting + REPORT, token, 4)]
    for (const { answered } of loads) await vi.waitFor(() => expect(answered()).toBeGreaterThan(20), PATIENCE)
    app.kill('SIGUSR2')
    await app.printed('Restarted.')
    for (const { stop } of loads) expect(Object.keys(await stop())).toEqual(['200'])
    const after = [...(await workersOf('clearing-house')), ...(await workersOf('reporting'))]
    expect(after).toHaveLength(4)
    expect(after.filter((pid) => before.includes(pid))).toEqual([])
  })

  test('a SIGTERM lets all of them answer what is in flight', async () => {
    const { app } = await startFleet({ WORKERS: '2' })
    const logins = await Promise.all(Array.from({ length: 8 }, () => loginInFlight(app.url)))
    app.kill('SIGTERM')
    await app.printed('Stopping')
    const answers = await Promise.all(logins.map((send) => send()))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })
})
