// Tests limits/shared-store.ts

import { runInNewContext } from 'node:vm'
import { createLimits } from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Limiter, sharedLimit } from '../../../src/limits/shared-limit.js'
import { sharedStore } from '../../../src/limits/shared-store.js'
import { settled } from '../../support/concurrency.js'
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

describe('a store that fails', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is reported once a second, although a read and a count fail in turn every half second', async () => {
    const down = () => Promise.reject(new Error('down'))
    const { read, fail } = processWith({ consume: down, get: down, delete: down })
    const failed = vi.fn()
    for (let i = 0; i < 10; i++) {
      await (i % 2 === 0 ? read('alice', undefined, failed) : fail('alice', failed))
      vi.advanceTimersByTime(500)
    }
    expect(failed).toHaveBeenCalledTimes(5)
  })
})

describe('the reset of an account', () => {
  const RESETS = ['alice:reset', 'alice', 'alice-office']

  it('removes the keys that the process knows, and leaves a mark for the others', async () => {
    const limiter = new RateLimiterMemory(SETTINGS)
    for (const key of ['alice', 'alice-office', 'alice-home']) await limiter.consume(key)
    await processWith(limiter).reset('alice', ['alice-office'])
    const counts = await Promise.all(
      [...RESETS, 'alice-home'].map(async (key) => (await limiter.get(key))?.consumedPoints),
    )
    expect(counts).toEqual([1, undefined, undefined, 1])
  })

  it('lifts a key that is older, and removes it', async () => {
    const remove = vi.fn(async () => true)
    const rest = { alice: 4000, 'alice:reset': 5000 } as Record<string, number>
    const get = async (key: string) => ({ consumedPoints: 3, msBeforeNext: rest[key] })
    const { read } = processWith({ consume: get, get, delete: remove })
    expect(await read('alice', 'alice', neverFails)).toMatchObject({ points: 0, msBeforeNext: 0 })
    expect(remove.mock.calls).toEqual([['alice']])
    rest['alice'] = 5000
    expect(await read('alice', 'alice', neverFails)).toMatchObject({ points: 3, msBeforeNext: 5000 })
    expect(await read('alice', undefined, neverFails)).toMatchObject({ points: 3, msBeforeNext: 5000 })
  })

  it('lifts a key once for each reset', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    let rest = 5000
    const get = async (key: string) => ({ consumedPoints: 3, msBeforeNext: key === 'alice' ? 100 : rest })
    const { read } = processWith({ consume: get, get, delete: get })
    const points = async () => (await read('alice', 'alice', neverFails))?.points
    expect([await points(), await points()]).toEqual([0, 3])
    rest += 499
    expect(await points()).toBe(3)
    rest += 1
    expect(await points()).toBe(0)
  })
})

describe('a limiter that breaks its contract', () => {
  const refusing = (outcome: unknown): Limiter => {
    const refuse = () => Promise.reject(outcome)
    return { consume: refuse, get: refuse, delete: refuse }
  }
  const thrown = () => {
    throw new Error('not connected')
  }

  it.each<[string, () => unknown]>([
    ['its result', () => RESULT],
    ['a thenable without finally', () => thenable((resolve) => resolve(RESULT))],
  ])('harms nothing when its methods return %s', async (_, call) => {
    const { read, fail, reset } = processWith({ consume: call, get: call, delete: call } as Limiter)
    expect(await fail('alice', neverFails)).toMatchObject({ points: 1 })
    expect(await read('alice', undefined, neverFails)).toMatchObject({ points: 1 })
    await reset('alice', [])
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no count', { msBeforeNext: 5000 }],
    ['a count as text', { msBeforeNext: 5000, consumedPoints: '7' }],
    ['a count of 0', { msBeforeNext: 5000, consumedPoints: 0 }],
  ])('has failed when consume resolves with %s, so the failure counts in memory', async (_, result) => {
    const failed = vi.fn()
    const limiter: Limiter = { consume: async () => result, get: async () => null, delete: async () => true }
    expect(await processWith(limiter).fail('alice', failed)).toBeUndefined()
    expect(failed.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringContaining('consumedPoints') })
    const limits = createLimits({ limiter: () => limiter })
    for (let i = 0; i < 10; i++) await (await limits.consume('alice@example.com', '192.0.2.1', failed)).end('failed')
    await expect(limits.consume('alice@example.com', '192.0.2.1', failed)).rejects.toMatchObject({
      code: 'too_many_attempts',
    })
  })

  it('has failed when a method throws, and harms nothing', async () => {
    const rejections = unhandledRejections()
    const failed = vi.fn()
    const { read, fail, reset } = processWith({ consume: thrown, get: thrown, delete: thrown })
    expect(await fail('alice', failed)).toBeUndefined()
    expect(await read('alice', 'alice', failed)).toBeUndefined()
    await expect(reset('alice', [])).rejects.toThrow('not connected')
    await settled()
    expect([failed.mock.calls.length, rejections]).toEqual([1, []])
  })

  it.each<[string, unknown, number?]>([
    ['an Error with a time', Object.assign(new Error('too many'), { msBeforeNext: 5000 })],
    ['an Error of another realm with a time', runInNewContext('Object.assign(new Error(""), { msBeforeNext: 5000 })')],
    ['an object that inherits the time', Object.create({ msBeforeNext: 5000 })],
    ['a count of 0, as a limiter that blocks in memory', { msBeforeNext: 5000, consumedPoints: 0 }],
    ['a count as text', { msBeforeNext: 5000, consumedPoints: '7' }],
    ['a higher count', { msBeforeNext: 5000, consumedPoints: 12 }, 12],
  ])('has reached its limit when consume rejects with %s', async (_, outcome, points = 11) => {
    const { fail, read } = processWith(refusing(outcome))
    expect(await fail('alice', neverFails)).toMatchObject({ points, msBeforeNext: 5000 })
    expect(await read('alice', undefined, neverFails)).toMatchObject({ points, msBeforeNext: 5000 })
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
    const { read } = processWith({ consume: async () => RESULT, delete: async () => {}, get: async () => result })
    expect(await read('alice', undefined, neverFails)).toMatchObject({ points, msBeforeNext: 900_000 })
  })
})
