import { runInNewContext } from 'node:vm'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Exhausted, Limiter } from '../../../../src/accounts/throttle/memory-budget.js'
import { type SpendShared, sharedBudget, sharedStore } from '../../../../src/accounts/throttle/shared-budget.js'
import { unhandledRejections } from '../../../support/host.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'

const MINUTE = 60_000
const SETTINGS = { keyPrefix: 'login-pair', points: 10, duration: 900 }

/** One process's view of a limiter. */
const processWith = (limiter: Limiter, settings = SETTINGS) => sharedBudget(limiter, sharedStore(), settings)

const neverFails = (error: unknown) => expect.fail(`the store failed: ${error}`)

/** Counts attempts one after the other, until one is refused. */
async function spendAll(spend: SpendShared, most = 100): Promise<{ refunds: (() => void)[]; refused?: Exhausted }> {
  const refunds: (() => void)[] = []
  while (refunds.length < most) {
    const point = await spend('alice', neverFails)
    if (typeof point !== 'function') return { refunds, refused: point }
    refunds.push(point)
  }
  return { refunds }
}

/** A promise of another library, which has no other method. */
const thenable = (then: (resolve: (value: unknown) => void, reject: (error: Error) => void) => void) =>
  Object.defineProperty({}, 'then', { value: then })

const left = async (spend: SpendShared) => (await spendAll(spend)).refunds.length

/** Waits for pending promises. */
const settled = () => vi.advanceTimersByTimeAsync(0)

describe('refunds', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('give a point back to its window, once', async () => {
    const spend = processWith(new RateLimiterMemory(SETTINGS))
    const { refunds } = await spendAll(spend)
    expect(refunds).toHaveLength(10)
    for (const refund of [...refunds.slice(0, 3), ...refunds.slice(0, 3)]) refund()
    await settled()
    expect(await left(spend)).toBe(3)
  })

  it('after the end of the window, which the store opened earlier than this process, allow no more guesses than the limit', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const [one, other] = [processWith(limiter), processWith(limiter)]
    await spendAll(other, 1)
    await vi.advanceTimersByTimeAsync(14 * MINUTE)
    const { refunds } = await spendAll(one, 9)
    await vi.advanceTimersByTimeAsync(MINUTE)
    for (const refund of refunds) refund()
    await settled()
    expect(await left(other)).toBe(10)
  })

  it.each([
    [101, 1],
    [100, 1],
    [99, 0],
  ])('%i ms before the end of the window are %i', async (ms, refunded) => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const reward = vi.spyOn(limiter, 'reward')
    const { refunds } = await spendAll(processWith(limiter), 1)
    await vi.advanceTimersByTimeAsync(15 * MINUTE - ms)
    for (const refund of refunds) refund()
    await settled()
    expect(reward).toHaveBeenCalledTimes(refunded)
  })

  it('are taken back when they reach the store after the end of the window', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const slow: Limiter = {
      consume: (key) => limiter.consume(key),
      reward: async (key) => {
        await new Promise((resolve) => setTimeout(resolve, MINUTE))
        return limiter.reward(key)
      },
    }
    const { refunds } = await spendAll(processWith(slow))
    await vi.advanceTimersByTimeAsync(14.5 * MINUTE)
    for (const refund of refunds) refund()
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(await limiter.get('alice')).toMatchObject({ consumedPoints: 0 })
    expect(await left(processWith(limiter))).toBe(10)
  })

  it('undo what the store counted when it refused, so that successful logins at the same moment cost nothing', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const [one, other] = [processWith(limiter), processWith(limiter)]
    const { refunds } = await spendAll(one, 10)
    for (let i = 0; i < 20; i++) expect(await left(other)).toBe(0)
    expect(await limiter.get('alice')).toMatchObject({ consumedPoints: 10 })
    for (const refund of refunds) refund()
    await settled()
    expect(await left(other)).toBe(10)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object without a time', { consumedPoints: 1 }],
    ['NaN', { msBeforeNext: Number.NaN, consumedPoints: 1 }],
    ['Infinity', { msBeforeNext: Number.POSITIVE_INFINITY, consumedPoints: 1 }],
    ['a key that never expires', { msBeforeNext: -1, consumedPoints: 1 }],
    ['text', { msBeforeNext: '5000', consumedPoints: 1 }],
  ])('are none when the store does not say when the window ends: %s', async (_, result) => {
    const reward = vi.fn(async () => {})
    const point = await processWith({ consume: async () => result, reward })('alice', neverFails)
    expect(point).toBeTypeOf('function')
    if (typeof point === 'function') point()
    await settled()
    expect(reward).not.toHaveBeenCalled()
  })

  it('are none after the time that a window takes, whatever the store says', async () => {
    const reward = vi.fn(async () => {})
    const spend = processWith({ consume: async () => ({ msBeforeNext: Number.MAX_SAFE_INTEGER }), reward })
    const { refunds } = await spendAll(spend, 1)
    await vi.advanceTimersByTimeAsync(15 * MINUTE)
    for (const refund of refunds) refund()
    await settled()
    expect(reward).not.toHaveBeenCalled()
  })

  it.each<[string, unknown]>([
    ['says 0 points, as a limiter that blocks in memory does', { msBeforeNext: 5000, consumedPoints: 0 }],
    ['says no points', { msBeforeNext: 5000 }],
    ['says its points as text', { msBeforeNext: 5000, consumedPoints: '11' }],
  ])('are none for a refusal that %s', async (_, refusal) => {
    const reward = vi.fn(async () => {})
    const point = await processWith({ consume: () => Promise.reject(refusal), reward })('alice', neverFails)
    await settled()
    expect([point, reward.mock.calls.length]).toEqual([{ msBeforeNext: 5000 }, 0])
  })
})

describe.skipIf(NO_REDIS)('a limiter with inMemoryBlockOnConsumed', () => {
  it('allows three processes as many guesses as one', async () => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    onTestFinished(() => redis.disconnect())
    const processes = Array.from({ length: 3 }, () =>
      processWith(new RateLimiterRedis({ ...SETTINGS, storeClient: redis, inMemoryBlockOnConsumed: 10 })),
    )
    let allowed = 0
    for (const spend of processes) {
      for (let i = 0; i < 60; i++) {
        const point = await spend('alice', () => {})
        if (typeof point === 'function') allowed++
      }
    }
    expect(allowed).toBe(10)
    expect(Number(await redis.get('login-pair:alice'))).toBeGreaterThanOrEqual(10)
  })
})

describe('a limiter that breaks its contract', () => {
  const RESULT = { msBeforeNext: 5000, consumedPoints: 1 }
  const inheriting = (error: object) => Object.assign(Object.create(error), {})

  it.each<[string, () => unknown]>([
    ['returns nothing', () => undefined],
    ['returns null', () => null],
    ['returns a number', () => 7],
    [
      'throws',
      () => {
        throw new Error('not connected')
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['returns a thenable without catch', () => thenable((_, reject) => reject(new Error('down')))],
    ['resolves with nothing', async () => undefined],
    ['says that it went below zero', async () => ({ consumedPoints: -1 })],
  ])('in reward, which %s, harms nothing', async (_, reward) => {
    const rejections = unhandledRejections()
    let asked = 0
    const consume = async () => {
      if (asked++ > 0) throw new Error('down')
      return RESULT
    }
    const point = await processWith({ consume, reward: reward as Limiter['reward'] })('alice', neverFails)
    expect(point).toBeTypeOf('function')
    if (typeof point === 'function') expect(point()).toBeUndefined()
    await new Promise(setImmediate)
    expect(rejections).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['returns nothing', () => undefined],
    ['returns its result', () => RESULT],
    ['returns a thenable without finally', () => thenable((resolve) => resolve(RESULT))],
  ])('in consume, which %s, lets a login go on', async (_, consume) => {
    const rejections = unhandledRejections()
    const limiter = { consume: consume as Limiter['consume'], reward: async () => {} }
    const point = await processWith(limiter)('alice', neverFails)
    expect(point).toBeTypeOf('function')
    if (typeof point === 'function') point()
    await new Promise(setImmediate)
    expect(rejections).toEqual([])
  })

  it.each<[string, unknown]>([
    ['an object of this realm', { msBeforeNext: 5000 }],
    ['an object of another realm', runInNewContext('({ msBeforeNext: 5000 })')],
    [
      'an object with a getter in its class',
      new (class {
        get msBeforeNext() {
          return 5000
        }
      })(),
    ],
    ['an Error with a time', Object.assign(new Error('too many'), { msBeforeNext: 5000 })],
    [
      'an Error of another realm with a time',
      runInNewContext('Object.assign(new Error("too many"), { msBeforeNext: 5000 })'),
    ],
    ['an object that inherits the time', inheriting({ msBeforeNext: 5000 })],
  ])('refuses when consume rejects with %s', async (_, outcome) => {
    const failed = vi.fn()
    const spend = processWith({ consume: () => Promise.reject(outcome), reward: async () => {} })
    expect(await spend('alice', failed)).toEqual({ msBeforeNext: 5000 })
    expect(failed).not.toHaveBeenCalled()
  })

  it.each<[string, unknown]>([
    ['an Error', new Error('down')],
    ['an Error of another realm', runInNewContext('new Error("down")')],
    ['an object without a time', { message: 'down' }],
    ['a time as text', { msBeforeNext: '5000' }],
    [
      'a time that cannot be read',
      Object.defineProperty({}, 'msBeforeNext', {
        get() {
          throw new Error('unreadable')
        },
      }),
    ],
    ['nothing', undefined],
  ])('has failed when consume rejects with %s', async (_, outcome) => {
    const failed = vi.fn()
    const spend = processWith({ consume: () => Promise.reject(outcome), reward: async () => {} })
    expect(await spend('alice', failed)).toBeTypeOf('function')
    expect(failed.mock.calls).toEqual([[outcome]])
  })

  it('has failed when it rejects with an Error, although Object.prototype has a time', async () => {
    const failed = vi.fn()
    const spend = processWith({ consume: () => Promise.reject(new Error('down')), reward: async () => {} })
    Object.assign(Object.prototype, { msBeforeNext: 5000, consumedPoints: 5 })
    try {
      expect(await spend('alice', failed)).toBeTypeOf('function')
    } finally {
      for (const name of ['msBeforeNext', 'consumedPoints']) Reflect.deleteProperty(Object.prototype, name)
    }
    expect(failed).toHaveBeenCalledOnce()
  })

  it.each([
    [Number.NaN, 900_000],
    [Number.POSITIVE_INFINITY, 900_000],
    [Number.NEGATIVE_INFINITY, 900_000],
    [Number.MAX_VALUE, 900_000],
    [900_001, 900_000],
    [-1, 900_000],
    [0, 0],
    [0.5, 0.5],
    [900_000, 900_000],
  ])('refuses for at most the time of a window: %d ms become %d', async (msBeforeNext, waited) => {
    const spend = processWith({ consume: () => Promise.reject({ msBeforeNext }), reward: async () => {} })
    expect(await spend('alice', neverFails)).toEqual({ msBeforeNext: waited })
  })
})
