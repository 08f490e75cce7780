import { createThrottle } from 'express-token-endpoint'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Limiter, sharedLimit } from '../../../../src/accounts/throttle/shared-limit.js'
import { sharedStore } from '../../../../src/accounts/throttle/shared-store.js'
import { all } from '../../../support/concurrency.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'

const SETTINGS = { keyPrefix: 'login-pair', points: 10, duration: 900 }
const KEY = 'a key of at least thirty-two bytes'
const SPRAYED = '123456'

const processWith = (limiter: Limiter) => sharedLimit(limiter, sharedStore(), SETTINGS)

/** Guesses a password at accounts `from` to `to`, each time from another network or from the given one. Returns how many passed. */
async function spray(
  throttle: ReturnType<typeof createThrottle>,
  from: number,
  to: number,
  address?: string,
): Promise<number> {
  let passed = 0
  for (let i = from; i < to; i++) {
    const login = [`user${i}@example.com`, address ?? `10.0.0.${i}`, () => {}] as const
    await throttle.spend(...login, throttle.digestPassword?.(SPRAYED)).then(
      async ({ failed }) => {
        passed++
        await failed?.()
      },
      (error) => expect(error).toMatchObject({ code: 'too_many_attempts', limit: 'spraying' }),
    )
  }
  return passed
}

describe.skipIf(NO_REDIS)('the limits on Redis', () => {
  it.each([{}, { inMemoryBlockOnConsumed: 10 }])('three processes count together: %o', async (options) => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    onTestFinished(() => redis.disconnect())
    // On a busy machine, a response may take longer than the store's time limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const processes = Array.from({ length: 3 }, () =>
      processWith(new RateLimiterRedis({ ...SETTINGS, ...options, storeClient: redis })),
    )
    const entered = await all(60, (i) => (processes[i % 3] as (typeof processes)[0]).enter('alice', () => {}))
    expect(entered.map((one) => one?.underWay).toSorted((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, i) => i + 1),
    )
    for (const one of entered) one?.leave()
    for (let i = 0; i < 10; i++) await processes[i % 3]?.fail('alice', () => {})
    for (const { read } of processes) expect(await read('alice', () => {})).toMatchObject({ points: 10 })
    expect(Number(await redis.get('login-pair:alice'))).toBe(10)
    for (const key of await redis.keys('login-pair:alice:*')) {
      expect([await redis.get(key), Math.ceil((await redis.ttl(key)) / 10)]).toEqual(['0', 48])
    }
  })

  it('two processes with one key count together, and agree after a restart', async () => {
    const redis = new Redis((await startRedis()).url)
    onTestFinished(() => redis.disconnect())
    // On a busy machine, a response may take longer than the store's time limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const onRedis = (key = KEY) =>
      createThrottle({
        limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }),
        spraying: { key },
      })
    const [one, two] = [onRedis(), onRedis()]
    expect((await spray(one, 0, 10)) + (await spray(two, 10, 20))).toBe(20)
    const passed = await spray(one, 100, 102, '192.0.2.1')
    expect(passed + (await spray(two, 200, 202, '192.0.2.1'))).toBe(3)
    expect(await spray(onRedis(), 300, 310, '192.0.2.1')).toBe(0)
    expect(await spray(onRedis('another key, which has 32 bytes too'), 300, 310, '192.0.2.1')).toBe(10)
    const keys = (await redis.keys('login-password:*')).sort()
    expect(keys).toContain(`login-password:${one.digestPassword?.(SPRAYED)}`)
    for (const key of keys) {
      expect(key).toMatch(/^login-password:[0-9a-f]{5}$/)
      expect(await redis.ttl(key)).toBeGreaterThan(0)
    }
  })
})
