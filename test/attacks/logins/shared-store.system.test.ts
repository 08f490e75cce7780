import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedLimit } from '../../../src/limits/shared-limit.js'
import { sharedStore } from '../../../src/limits/shared-store.js'
import { all, statuses, until } from '../../support/concurrency.js'
import { PASSWORD } from '../../support/fixtures.js'
import type { Answer } from '../../support/host.js'
import { client, flood, login, type Send } from '../../support/http.js'
import { NO_REDIS, startRedis, type TestRedis } from '../../support/services/redis.js'

const ALICE = 'alice@example.com'
/** The hashing threads of a process, at most. */
const THREADS = 3
const SERVER = fileURLToPath(new URL('login-server.mjs', import.meta.url))

interface Process {
  port: number
  send: Send
  /** Returns the number of hashes so far, and the events since the last call. */
  told(): Promise<{ hashes: number; events: { type: string; dependency?: string; refused?: boolean }[] }>
}

/** A process with the built package in it. */
async function startProcess(redis: TestRedis): Promise<Process> {
  const child: ChildProcess = fork(SERVER, { env: { ...process.env, REDIS_URL: redis.url } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const message = async () => (await once(child, 'message'))[0]
  const { port } = await message()
  return {
    port,
    send: client(port),
    told() {
      child.send('told?')
      return message()
    },
  }
}

async function start() {
  const redis = await startRedis()
  const [one, two] = await Promise.all([startProcess(redis), startProcess(redis)])
  return { redis, one, two }
}

const guess = (address: string) => login(ALICE, 'guess', address)

/** Sends guesses one after the other. Returns how many passwords were checked. Each response is 403 or 429. */
async function looked({ send }: Process, count: number, address: string): Promise<number> {
  const answers: Answer[] = []
  for (let i = 0; i < count; i++) answers.push(await send(guess(address)))
  const { 403: through = 0, ...others } = statuses(answers)
  expect(others).toEqual(through < count ? { 429: count - through } : {})
  return through
}

let probes = 0
/** Returns a new address for each probe, so that each probe has its own failed-login limit. */
const freshAddress = () => `198.51.100.${++probes}`

/** Waits until failures in either process count in the other. */
async function sharing(one: Process, two: Process): Promise<void> {
  for (const [from, to] of [
    [one, two],
    [two, one],
  ] as const) {
    await until(async () => {
      const address = freshAddress()
      const email = `${address}@example.com`
      for (let i = 0; i < 10; i++) await from.send(login(email, 'guess', address))
      expect((await to.send(login(email, 'guess', address))).status).toBe(429)
    })
  }
}

describe.skipIf(NO_REDIS)('two processes with their limits on one Redis', () => {
  it('look at about ten guesses, and let the owner sign in, after a burst that keeps a process busy for longer than it waits for Redis', async () => {
    const { one, two } = await start()
    await sharing(one, two)
    const told = async () => [await one.told(), await two.told()]
    const hashesOf = (all: Awaited<ReturnType<typeof told>>) => all.reduce((sum, { hashes }) => sum + hashes, 0)
    const before = hashesOf(await told())
    const guesses = await Promise.all([one, two].map(({ port }) => flood(port, 1000, () => guess('203.0.113.9'), 2)))
    const owner = await Promise.all([one, two].map(({ send }) => send(login(ALICE, PASSWORD, '203.0.113.7'))))
    expect(statuses(owner)).toEqual({ 200: 2 })
    const { 403: failed = 0, 429: _throttled, 503: _overloaded, ...others } = statuses(guesses.flat())
    const after = await told()
    expect({ failed, others }).toEqual({ failed: hashesOf(after) - before - 2, others: {} })
    // A busy process may refuse a guess that was among the ten. It is not counted, so that a later one is looked at.
    let later = 0
    await until(async () => {
      later += await looked(one, 1, '203.0.113.9')
      expect(failed + later).toBeGreaterThanOrEqual(10)
    })
    later += (await looked(one, 5, '203.0.113.9')) + (await looked(two, 5, '203.0.113.9'))
    // A process that reports Redis as unreachable, which can happen on a busy machine, allows ten more.
    const reports = [...after, ...(await told())]
    const isAlone = reports.some(({ events }) => events.some(({ dependency }) => dependency === 'limits'))
    expect(failed + later).toBeLessThanOrEqual(isAlone ? 20 : 10 + THREADS)
  })

  it('never refuse right logins at once, also after failures in one of them', async () => {
    const { one, two } = await start()
    await sharing(one, two)
    const address = freshAddress()
    const right = () => all(60, (i) => (i % 2 ? one : two).send(login(ALICE, PASSWORD, address)))
    expect(statuses(await right())).toEqual({ 200: 60 })
    expect(await looked(one, 8, address)).toBe(8)
    expect(statuses(await right())).toEqual({ 200: 60 })
  })

  it.each<[string, (redis: TestRedis) => unknown, (redis: TestRedis) => unknown]>([
    ['killed and started anew, empty', (redis) => redis.kill(), (redis) => redis.start()],
    ['paused', (redis) => redis.process().kill('SIGSTOP'), (redis) => redis.process().kill('SIGCONT')],
  ])('Redis %s: each goes on with what it has seen, tells, and shares again', async (_, leave, comeBack) => {
    const { redis, one, two } = await start()
    await sharing(one, two)
    const address = freshAddress()
    expect(await looked(one, 3, address)).toBe(3)
    expect(await looked(two, 4, address)).toBe(4)
    // Each has read what the other has counted.
    expect(await looked(one, 1, address)).toBe(1)
    await Promise.all([one.told(), two.told()])

    await leave(redis)
    for (const { send } of [one, two]) {
      expect(await send(login(ALICE, PASSWORD, freshAddress()))).toMatchObject({ status: 200 })
    }
    expect(await looked(one, 20, address)).toBe(2)
    expect(await looked(two, 20, address)).toBe(3)
    for (const process of [one, two]) {
      const failures = await until(async () => {
        expect(await process.send(login(ALICE, PASSWORD, freshAddress()))).toMatchObject({ status: 200 })
        const told = (await process.told()).events.filter(({ type }) => type === 'dependency.failed')
        expect(told).not.toEqual([])
        return told
      })
      expect(new Set(failures.map((failure) => JSON.stringify(failure)))).toEqual(
        new Set([JSON.stringify({ type: 'dependency.failed', dependency: 'limits', refused: false })]),
      )
    }

    await comeBack(redis)
    await sharing(one, two)
    // They still count the failed logins from the time when Redis was unreachable.
    expect((await looked(one, 20, address)) + (await looked(two, 20, address))).toBe(0)
  })
})

describe.skipIf(NO_REDIS)('the limits on Redis', () => {
  it.each([{}, { inMemoryBlockOnConsumed: 10 }])('three processes count together: %o', async (options) => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    onTestFinished(() => redis.disconnect())
    // On a busy machine, a response may take longer than the store's time limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const settings = { keyPrefix: 'login-pair', points: 10, duration: 900 }
    const processes = Array.from({ length: 3 }, () =>
      sharedLimit(new RateLimiterRedis({ ...settings, ...options, storeClient: redis }), sharedStore(), settings),
    )
    for (let i = 0; i < 10; i++) await processes[i % 3]?.fail('alice', () => {})
    for (const { read } of processes) expect(await read('alice', 'alice', () => {})).toMatchObject({ points: 10 })
    expect(Number(await redis.get('login-pair:alice'))).toBe(10)
    // A process that knows no network of the account leaves a mark.
    await processes[0]?.reset('account', [])
    await redis.pexpire('login-pair:alice', 1000)
    expect(await processes[1]?.read('alice', 'account', () => {})).toMatchObject({ points: 0 })
    expect(await redis.get('login-pair:alice')).toBe(null)
  })
})
