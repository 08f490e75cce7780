// Tests limits/shared-store.ts

import { runInNewContext } from 'node:vm'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Limiter, sharedLimit } from '../../../src/limits/shared-limit.js'
import { sharedStore } from '../../../src/limits/shared-store.js'
import { all, settled } from '../../support/concurrency.js'
import { unhandledRejections } from '../../support/host.js'
import { polluted } from '../../support/pollution.js'

const SETTINGS = { keyPrefix: 'login-pair', points: 10, duration: 900 }
const RESULT = { msBeforeNext: 5000, consumedPoints: 1 }

/** One process's view of a limiter. */
const processWith = (limiter: Limiter) => sharedLimit(limiter, sharedStore(), SETTINGS)

const neverFails = (error: unknown) => expect.fail(`the store failed: ${error}`)

/** A promise of another library, which has no other method. */
const thenable = (then: (resolve: (value: unknown) => void, reject: (error: Error) => void) => void) =>
  Object.defineProperty({}, 'then', { value: then })

describe('attempts under way', () => {
  it('are counted under their own key, which ends after 8 minutes, and failures under that of the limit', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const spies = (['consume', 'penalty', 'reward', 'get'] as const).map((name) => vi.spyOn(limiter, name))
    const { enter, fail, read } = processWith(limiter)
    const entered = await enter('alice', neverFails)
    await fail('alice', neverFails, entered)
    expect(await read('alice', neverFails)).toEqual({ points: 1, msBeforeNext: expect.any(Number) })
    await settled()
    const slot = expect.stringMatching(/^alice:\d+$/)
    const calls = spies.map(({ mock }) => mock.calls)
    expect(calls).toEqual([[['alice']], [[slot, 1, { customDuration: 480 }]], [[slot]], [[slot], ['alice']]])
    expect(calls[2]?.[0]?.[0]).toBe(calls[1]?.[0]?.[0])
    expect(calls[3]?.[0]?.[0]).not.toBe(calls[1]?.[0]?.[0])
  })

  it('leave after their failure is counted', async () => {
    const order: string[] = []
    const slow = (name: string) => async () => {
      order.push(name)
      await settled()
      order.push(`${name} ended`)
      return RESULT
    }
    const { enter, fail } = processWith({
      consume: slow('consume'),
      penalty: async () => RESULT,
      reward: slow('reward'),
    })
    await fail('alice', neverFails, await enter('alice', neverFails))
    await settled()
    expect(order.slice(0, 3)).toEqual(['consume', 'consume ended', 'reward'])
  })

  it('are at least one, however few the store has counted after a refund that was sent twice', async () => {
    const counts = [-3, -5]
    const next = async () => ({ msBeforeNext: 5000, consumedPoints: counts.shift() })
    const { enter } = processWith({ consume: next, penalty: next, reward: next, get: next })
    expect(await enter('alice', neverFails)).toMatchObject({ underWay: 1 })
  })

  it('are counted with consume by a limiter without penalty', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    const { enter } = processWith({ consume: (key) => limiter.consume(key), reward: (key) => limiter.reward(key) })
    const underWay = await all(12, async () => (await enter('alice', neverFails))?.underWay)
    expect(underWay).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
  })
})

describe('a call that meets a broken connection', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    ['once a second, until the store responds', 5, 5],
    ['for two minutes', 1000, 121],
  ])('is repeated %s', async (_, failures, calls) => {
    const reward = vi.fn(async () => {
      if (reward.mock.calls.length < failures) throw new Error('connection lost')
    })
    const { enter } = processWith({ consume: async () => RESULT, reward })
    const entered = await enter('alice', neverFails)
    entered?.leave()
    await vi.advanceTimersByTimeAsync(2999)
    expect(reward).toHaveBeenCalledTimes(3)
    await vi.advanceTimersByTimeAsync(600_000)
    expect(reward).toHaveBeenCalledTimes(calls)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is repeated with fake timers that are numbers', async () => {
    const { setTimeout } = globalThis
    vi.stubGlobal('setTimeout', (...args: Parameters<typeof setTimeout>) => Number(setTimeout(...args)))
    onTestFinished(() => void vi.unstubAllGlobals())
    const reward = vi.fn(async () => expect.fail('connection lost'))
    const entered = await processWith({ consume: async () => RESULT, reward }).enter('alice', neverFails)
    entered?.leave()
    await vi.advanceTimersByTimeAsync(2999)
    expect(reward).toHaveBeenCalledTimes(3)
  })

  it('is not repeated for an attempt that the store has not counted', async () => {
    const rejections = unhandledRejections()
    const down = vi.fn(() => Promise.reject(new Error('down')))
    const { enter, fail } = processWith({ consume: down, reward: down })
    const failed = vi.fn()
    const entered = await enter('alice', failed)
    entered?.leave()
    await vi.advanceTimersByTimeAsync(1000)
    expect(await fail('alice', failed)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(10_000)
    await settled()
    expect([down.mock.calls.length, failed.mock.calls.length, rejections]).toEqual([2, 2, []])
  })

  it('is reported once a second, although a read and a count fail in turn every half second', async () => {
    const down = () => Promise.reject(new Error('down'))
    const { read, fail } = processWith({ consume: down, reward: down, get: down })
    const failed = vi.fn()
    for (let i = 0; i < 10; i++) {
      await (i % 2 === 0 ? read : fail)('alice', failed)
      vi.advanceTimersByTime(500)
    }
    expect(failed).toHaveBeenCalledTimes(5)
  })
})

describe('the reset of an account', () => {
  const limiter = (result: unknown): Limiter => ({
    consume: async () => RESULT,
    reward: async () => {},
    get: async () => result,
  })

  it.each([
    ['the rest of its window', { consumedPoints: 1, msBeforeNext: 5000 }, 5000],
    [
      'at most the rest of two windows, because clocks differ',
      { consumedPoints: 1, msBeforeNext: 1_800_000 },
      1_800_000,
    ],
    ['no longer rest', { consumedPoints: 1, msBeforeNext: 1_800_001 }, 0],
    ['no rest without a reset', { consumedPoints: 0, msBeforeNext: 5000 }, 0],
  ])('has %s', async (_, result, rest) => {
    expect(await processWith(limiter(result)).sinceReset('alice', neverFails)).toBe(rest)
  })

  it('is neither known nor a failure with a limiter that cannot be read, or that cannot remove', async () => {
    const { sinceReset } = processWith({ ...limiter(RESULT), get: undefined as never })
    expect(await sinceReset('alice', neverFails)).toBe(0)
    expect(await processWith(limiter(RESULT)).remove('alice', neverFails)).toBe(false)
  })
})

describe('a limiter that breaks its contract', () => {
  const refusing = (outcome: unknown): Limiter => ({ consume: () => Promise.reject(outcome), reward: async () => {} })
  const down = () => Promise.reject(new Error('down'))
  const thrown = () => {
    throw new Error('not connected')
  }

  it.each<[string, unknown, unknown]>([
    ['reward returns nothing', async () => RESULT, () => undefined],
    ['reward returns a number', async () => RESULT, () => 7],
    ['reward throws', async () => RESULT, thrown],
    ['reward rejects', async () => RESULT, down],
    ['reward rejects with nothing', async () => RESULT, () => Promise.reject()],
    [
      'reward returns a thenable without catch',
      async () => RESULT,
      () => thenable((_, reject) => reject(new Error(''))),
    ],
    ['consume returns nothing', () => undefined, async () => {}],
    ['consume returns its result', () => RESULT, async () => {}],
    ['consume returns a thenable without finally', () => thenable((resolve) => resolve(RESULT)), async () => {}],
  ])('harms nothing: %s', async (_, consume, reward) => {
    const rejections = unhandledRejections()
    const entered = await processWith({ consume, reward } as Limiter).enter('alice', neverFails)
    expect(entered).toMatchObject({ underWay: 1 })
    entered?.leave()
    await settled()
    expect(rejections).toEqual([])
  })

  it.each<[string, unknown, number?]>([
    ['an Error with a time', Object.assign(new Error('too many'), { msBeforeNext: 5000 })],
    ['an Error of another realm with a time', runInNewContext('Object.assign(new Error(""), { msBeforeNext: 5000 })')],
    ['an object that inherits the time', Object.create({ msBeforeNext: 5000 })],
    ['a count of 0, as a limiter that blocks in memory', { msBeforeNext: 5000, consumedPoints: 0 }],
    ['a count as text', { msBeforeNext: 5000, consumedPoints: '7' }],
    ['a higher count', { msBeforeNext: 5000, consumedPoints: 12 }, 12],
  ])('has reached its limit when consume rejects with %s', async (_, outcome, points = 11) => {
    const { enter, fail } = processWith(refusing(outcome))
    expect(await fail('alice', neverFails)).toEqual({ points, msBeforeNext: 5000 })
    expect(await enter('alice', neverFails)).toMatchObject({ underWay: points })
  })

  it.each<[string, unknown]>([
    ['an Error', new Error('down')],
    ['an Error of another realm', runInNewContext('new Error("down")')],
    ['an object without a time', { message: 'down' }],
    ['a time as text', { msBeforeNext: '5000' }],
    ['a time that cannot be read', Object.defineProperty({}, 'msBeforeNext', { get: thrown })],
    ['nothing', undefined],
  ])('has failed when consume rejects with %s, also when Object.prototype has a time', async (_, outcome) => {
    const failed = vi.fn()
    const { fail } = processWith(refusing(outcome))
    expect(await fail('alice', failed)).toBeUndefined()
    expect(await polluted({ msBeforeNext: 5000, consumedPoints: 5 }, () => fail('alice', failed))).toBeUndefined()
    expect(failed.mock.calls).toEqual([[outcome]])
  })

  it.each([
    [Number.NaN, 900_000],
    [Number.POSITIVE_INFINITY, 900_000],
    [Number.NEGATIVE_INFINITY, 900_000],
    [900_001, 900_000],
    [-1, 900_000],
    [0, 0],
    [0.5, 0.5],
    [900_000, 900_000],
  ])('refuses for at most the time of a window: %d ms become %d', async (msBeforeNext, waited) => {
    const counted = await processWith(refusing({ msBeforeNext })).fail('alice', neverFails)
    expect(counted).toMatchObject({ msBeforeNext: waited })
  })

  it.each([
    [null, 0],
    ['10', 0],
    [{ consumedPoints: '10' }, 0],
    [{ consumedPoints: Number.NaN }, 0],
    [{ consumedPoints: 20 }, 20],
  ])('has as many failures as get says, for a window: %j', async (result, points) => {
    const { read } = processWith({ consume: async () => RESULT, reward: async () => {}, get: async () => result })
    expect(await read('alice', neverFails)).toEqual({ points, msBeforeNext: 900_000 })
  })
})
