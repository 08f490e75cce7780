// Tests limits/{attempt,limit}.ts

import { createThrottle, type Limiter, type LimiterOptions, type ThrottleOptions } from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { throttleKeys } from '../../../src/limits/attempt.js'
import { createLimit } from '../../../src/limits/limit.js'
import { withMaps } from '../../support/concurrency.js'
import { expectMisuse } from '../../support/failures.js'

const MINUTE = 60_000
const silent = () => {}
const ALICE = ['alice@example.com', '192.0.2.1', silent] as const

/** Makes guesses one after the other, which fail. Returns the number of allowed guesses. */
async function guesses(
  throttle: ReturnType<typeof createThrottle>,
  count: number,
  email: (i: number) => string = () => ALICE[0],
  address: (i: number) => string = () => ALICE[1],
): Promise<number> {
  let through = 0
  for (let i = 0; i < count; i++) {
    try {
      await (await throttle.consume(email(i), address(i), silent)).end('failed')
      through++
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_attempts', status: 429 })
    }
  }
  return through
}

const userOf = (i: number) => `user${i}@example.com`
const bob = () => 'bob@example.com'
const addressOf = (i: number) => `198.51.${Math.floor(i / 250)}.${i % 250}`

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the limits, by default', () => {
  it('let 10 failures through in 15 minutes, which begin with the first of them', async () => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 5)).toBe(5)
    vi.advanceTimersByTime(14 * MINUTE)
    expect(await guesses(throttle, 20)).toBe(5)
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ limit: 'pair', headers: { 'Retry-After': '60' } })
    vi.advanceTimersByTime(MINUTE - 1)
    expect(await guesses(throttle, 1)).toBe(0)
    vi.advanceTimersByTime(2)
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it.each([
    ['from one address, whatever the account', 'address', userOf, undefined],
    ['for one account, whatever the address', 'account', undefined, addressOf],
  ] as const)('let 100 failures through in an hour %s', async (_, limit, email, address) => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 300, email, address)).toBe(100)
    const refusal = { limit, headers: { 'Retry-After': '3600' } }
    await expect(throttle.consume(email?.(500) ?? ALICE[0], address?.(500) ?? ALICE[1], silent)).rejects.toMatchObject(
      refusal,
    )
    expect(await guesses(throttle, 1, bob, () => '203.0.113.7')).toBe(1)
    vi.advanceTimersByTime(60 * MINUTE + 1)
    expect(await guesses(throttle, 1, email, address)).toBe(1)
  })

  it('do not let one address lock the owner of an account out from another', async () => {
    const throttle = createThrottle()
    for (let hour = 0; hour < 4; hour++) {
      await guesses(throttle, 10_000 / 4)
      expect(await guesses(throttle, 1, undefined, () => '203.0.113.7')).toBe(1)
      vi.advanceTimersByTime(15 * MINUTE)
    }
  })

  it('count guesses made all at once', async () => {
    const throttle = createThrottle()
    const begin = () => throttle.consume(...ALICE)
    const results = await Promise.allSettled(Array.from({ length: 500 }, begin))
    const spent = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(spent).toHaveLength(10)
    // They are not failures yet, so the others are not refused for the rest of the window.
    for (const attempt of spent.slice(1)) {
      await expect(begin()).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
      await attempt.end('failed')
    }
    spent[0]?.end('succeeded')
    expect(await guesses(throttle, 200)).toBe(1)
  })

  it('end an attempt once, however often it is given back or fails', async () => {
    const throttle = createThrottle()
    const [right, wrong, pending] = await Promise.all([1, 2, 3].map(() => throttle.consume(...ALICE)))
    for (let i = 0; i < 50; i++) {
      right?.end('succeeded')
      await right?.end('failed')
      await wrong?.end('failed')
      wrong?.end('succeeded')
    }
    expect(await guesses(throttle, 8)).toBe(8)
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    // A queue may ask a login too late.
    const late = throttle.attempt('alice@example.com', '192.0.2.2', silent)
    late.end('succeeded')
    expect(late.begin()).toBe(false)
    pending?.end('succeeded')
    expect(await guesses(throttle, 200)).toBe(1)
  })

  it('count an attempt that begins twice as one', async () => {
    const throttle = createThrottle()
    const one = throttle.attempt(...ALICE)
    expect([one.begin(), one.begin()]).toEqual([true, true])
    one.end('succeeded')
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it.each([-24, 24])('do not mind a wall clock that is set by %i hours', async (hours) => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 20)).toBe(10)
    vi.setSystemTime(Date.now() + hours * 60 * MINUTE)
    expect(await guesses(throttle, 20)).toBe(0)
    vi.advanceTimersByTime(15 * MINUTE + 1)
    expect(await guesses(throttle, 20)).toBe(10)
  })
})

describe('a check before the attempt', () => {
  const ONE = { points: 1, duration: '1h' }
  const OFF = { address: false, pair: false, account: false } as const

  it.each(['address', 'pair', 'account'] as const)('refuses what is known to be used up: %s', async (limit) => {
    const throttle = createThrottle({ limits: { ...OFF, [limit]: ONE } })
    // A name that counts as an empty one locks no address out.
    const name = ' \u200b'
    const check = async () => throttle.attempt(name, ALICE[1], silent).check()
    await check()
    expect(await guesses(throttle, 1, () => name)).toBe(1)
    const refusal = { code: 'too_many_attempts', status: 429, limit, headers: { 'Retry-After': '3600' } }
    await expect(check()).rejects.toMatchObject(refusal)
    const checkAddress = () => throttle.checkAddress('192.0.2.1')
    if (limit === 'address') expect(checkAddress).toThrow(expect.objectContaining(refusal))
    else expect(checkAddress).not.toThrow()
    vi.advanceTimersByTime(60 * MINUTE + 1)
    await check()
  })

  it('counts no attempt', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 200; i++) await throttle.attempt(...ALICE).check()
    expect(await guesses(throttle, 200)).toBe(10)
  })
})

describe('attempts that end without a failure', () => {
  it.each(['succeeded', 'not_checked', 'disconnected'] as const)(
    'push no failure out of memory: %s',
    async (outcome) => {
      const throttle = createThrottle({ limits: { address: { points: 1_000_000, duration: '1h' } } })
      expect(await guesses(throttle, 10)).toBe(10)
      for (let i = 0; i < 30_001; i++) {
        if (i % 200 === 199) vi.advanceTimersByTime(1001)
        ;(await throttle.consume(`user${i}@example.com`, '192.0.2.2', silent)).end(outcome)
      }
      expect(await guesses(throttle, 1)).toBe(0)
    },
  )

  it('are no failures, also when their client has disconnected', async () => {
    const once = { points: 1, duration: '1h' }
    const throttle = createThrottle({ limits: { address: once, pair: once, account: once } })
    for (let i = 0; i < 3; i++) (await throttle.consume(...ALICE)).end('disconnected')
    expect(await guesses(throttle, 2)).toBe(1)
  })

  it('refuse their network for the rest of a second after 200 disconnects', async () => {
    const throttle = createThrottle()
    const overloaded = expect.objectContaining({ code: 'overloaded', headers: { 'Retry-After': '1' } })
    const disconnect = async (email: string) => (await throttle.consume(email, '192.0.2.1', silent)).end('disconnected')
    for (let i = 0; i < 200; i++) await disconnect(`user${i}@example.com`)
    await expect(disconnect('user200@example.com')).rejects.toEqual(overloaded)
    expect(() => throttle.checkAddress('192.0.2.1')).toThrow(overloaded)
    expect(() => throttle.checkAddress('192.0.2.2')).not.toThrow()
    vi.advanceTimersByTime(1001)
    expect(() => throttle.checkAddress('192.0.2.1')).not.toThrow()
    expect(await guesses(throttle, 20)).toBe(10)
  })

  it('count as one disconnect, however often they are given back, and as none before they begin', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 199; i++) {
      const spent = await throttle.consume(...ALICE)
      for (let twice = 0; twice < 2; twice++) spent.end('disconnected')
      throttle.attempt(...ALICE).end('disconnected')
    }
    expect(() => throttle.checkAddress('192.0.2.1')).not.toThrow()
  })

  it('begin no window, and leave the next one as it is', async () => {
    const throttle = createThrottle({ limits: { pair: { points: 10, duration: 2 }, address: false, account: false } })
    const old = await Promise.all(Array.from({ length: 10 }, () => throttle.consume(...ALICE)))
    vi.advanceTimersByTime(1999)
    for (const spent of old.slice(0, 4)) spent.end('succeeded')
    expect(await guesses(throttle, 4)).toBe(4)
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    vi.advanceTimersByTime(1999)
    for (const spent of old) spent.end('succeeded')
    expect(await guesses(throttle, 20)).toBe(6)
    vi.advanceTimersByTime(2)
    expect(await guesses(throttle, 20)).toBe(10)
  })

  it('are refused in one limit without being under way in another', async () => {
    const throttle = createThrottle({ limits: { account: { points: 1, duration: '1h' } } })
    const held = await throttle.consume(ALICE[0], '192.0.2.2', silent)
    for (let i = 0; i < 20; i++) expect(throttle.attempt(...ALICE).begin()).toBe(false)
    held.end('succeeded')
    expect(await guesses(throttle, 1)).toBe(1)
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ limit: 'account' })
  })
})

describe('limits that are set', () => {
  it('are kept, and those that are false are left out', async () => {
    const throttle = createThrottle({
      limits: { pair: { points: 3, duration: '10s' }, address: false, account: { points: 5, duration: 20 } },
    })
    expect(await guesses(throttle, 10)).toBe(3)
    expect(await guesses(throttle, 10, undefined, addressOf)).toBe(2)
    expect(await guesses(throttle, 500, userOf)).toBe(500)
  })

  const oneOf = (limit: string, size: object) => ({ limits: { [limit]: size } })
  it.each<[string, unknown, string]>([
    ['the name "budget"', { budget: {} }, 'createThrottle: unknown option "budget". Did you mean "limits"?'],
    ['the name "budgets"', { budgets: {} }, 'createThrottle: unknown option "budgets". Did you mean "limits"?'],
    ['a limit as an option', { pair: {} }, 'createThrottle: unknown option "pair". Did you mean "limits"?'],
    ...['points', 'max', 'maxAttempts', 'windowMs', 'duration'].map((name): [string, object, string] => [
      `the option "${name}" of other packages`,
      { [name]: 5 },
      `createThrottle: unknown option "${name}". Pass limits: { pair: { points: 10, duration: '15m' } }`,
    ]),
    ['the name "store"', { store: silent }, 'createThrottle: unknown option "store". Did you mean "limiter"?'],
    ['"ip"', oneOf('ip', {}), 'createThrottle: option "limits": unknown option "ip". Did you mean "address"?'],
    ['"email"', oneOf('email', {}), 'unknown option "email". Did you mean "account"?'],
    ['"user"', oneOf('user', {}), 'unknown option "user". Did you mean "account"?'],
    ['"password"', oneOf('password', {}), 'unknown option "password". Did you mean "spraying"?'],
    ['true', { limits: { pair: true } }, 'option "pair" must be { points, duration } or false'],
    ['no points', oneOf('pair', { duration: 1 }), 'createThrottle: option "limits.pair": option "points" must be'],
    ['no points for an address', oneOf('address', { duration: 1 }), '"limits.address": option "points" must be'],
    ['no points for an account', oneOf('account', { duration: 1 }), '"limits.account": option "points" must be'],
    [
      'no points at all',
      oneOf('pair', { points: 0, duration: 1 }),
      'a number of failures, a whole number from 1 to 1000000',
    ],
    ['a limiter that is no function', { limiter: {} }, 'option "limiter" must be a function (options) => limiter'],
    ['a factory that returns no limiter', { limiter: silent }, 'returned must be a rate-limiter-flexible'],
    ['a limiter without reward', { limiter: () => ({ consume() {} }) }, 'It has "consume" and "reward"'],
    ['a limiter without consume', { limiter: () => ({ reward() {} }) }, 'It has "consume" and "reward"'],
  ])('are a TypeError that names the mistake: %s', (_, options, message) => {
    expectMisuse(() => createThrottle(options as ThrottleOptions), message)
  })
})

/** Creates a shared store for several processes, which can fail, hang, and count its calls. */
function sharedStore() {
  const limiters = new Map<string, RateLimiterMemory>()
  const store = {
    made: [] as LimiterOptions[],
    calls: [] as string[],
    mode: 'up' as 'up' | 'down' | 'hangs' | 'breaks' | 'no deletes',
    async countOf(name: string): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (const call of store.calls) {
        const [, own = ''] = call.split(` login-${name}:`)
        const found = own && (await limiters.get(`login-${name}`)?.get(own))
        if (found) counts[own.includes(':') ? 'under way' : 'failures'] = found.consumedPoints
      }
      return counts
    },
    limiter(options: LimiterOptions): Required<Limiter> {
      store.made.push(options)
      const one = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
      limiters.set(options.keyPrefix, one)
      const call = async (name: string, key: string, run: () => Promise<unknown>): Promise<unknown> => {
        store.calls.push(`${name} ${options.keyPrefix}:${key}`)
        if (store.mode === 'down' || (store.mode === 'no deletes' && name === 'delete'))
          throw new Error('connection refused')
        if (store.mode === 'hangs') await new Promise(() => {})
        const result = await run()
        if (store.mode === 'breaks') throw new Error('connection lost')
        return result
      }
      return {
        consume: (key) => call('consume', key, () => one.consume(key)),
        penalty: (key, points, duration) => call('penalty', key, () => one.penalty(key, points, duration)),
        reward: (key) => call('reward', key, () => one.reward(key)),
        get: (key) => call('get', key, () => one.get(key)),
        delete: (key) => call('delete', key, () => one.delete(key)),
      }
    },
  }
  return store
}

describe('a shared store', () => {
  const PAIR = { address: false, pair: { points: 10, duration: 900 }, account: false } as const
  const settle = () => vi.advanceTimersByTimeAsync(0)

  /** Creates a store and two processes that count in it. */
  function twoProcesses(limits: ThrottleOptions['limits'] = PAIR) {
    const store = sharedStore()
    const processOn = () => createThrottle({ limiter: store.limiter, limits })
    return { store, one: processOn(), two: processOn() }
  }

  it('is given the options of a limiter for each budget', () => {
    const store = sharedStore()
    createThrottle({ limiter: store.limiter })
    createThrottle({ limiter: store.limiter, limits: { ...PAIR, pair: { points: 3, duration: '1500 ms' } } })
    expect(store.made).toEqual([
      { keyPrefix: 'login-address', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 10, duration: 900 },
      { keyPrefix: 'login-account', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 3, duration: 2 },
    ])
  })

  it('counts guesses made all at once, in all processes together', async () => {
    const { store, one, two } = twoProcesses()
    for (const failures of [0, 4]) {
      const all = Array.from({ length: 60 }, (_, i) => (i % 2 ? one : two).consume(...ALICE))
      const begun = (await Promise.allSettled(all)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(begun.length).toBeLessThanOrEqual(10 - failures)
      for (const [i, attempt] of begun.entries()) await attempt.end(failures === 0 && i < 4 ? 'failed' : 'succeeded')
      await settle()
      expect(await store.countOf('pair')).toEqual({ 'under way': 0, failures: 4 })
    }
    expect((await guesses(one, 9)) + (await guesses(two, 9))).toBe(6)
  })

  it('sees the attempts of a process whose clock differs by a minute, which are no failures', async () => {
    const { one, two } = twoProcesses()
    for (let minute = 0; minute < 8; minute++) {
      const held = await Promise.all(Array.from({ length: 10 }, () => one.consume(...ALICE)))
      for (const ms of [-MINUTE, 2 * MINUTE, -MINUTE]) {
        vi.setSystemTime(Date.now() + ms)
        await expect(two.consume(...ALICE)).rejects.toMatchObject({
          code: 'overloaded',
          headers: { 'Retry-After': '1' },
        })
      }
      for (const spent of held) spent.end('succeeded')
      await vi.advanceTimersByTimeAsync(30_000)
    }
    for (let i = 0; i < 20; i++) (await two.consume(...ALICE)).end('succeeded')
    await settle()
    expect(await guesses(two, 20)).toBe(10)
  })

  it('forgets the attempts of a process that has ended, after six minutes', async () => {
    const { store, one, two } = twoProcesses()
    for (let i = 0; i < 10; i++) await one.consume(...ALICE)
    vi.advanceTimersByTime(2 * MINUTE)
    await expect(two.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    vi.advanceTimersByTime(4 * MINUTE)
    expect(await guesses(two, 20)).toBe(10)
    vi.advanceTimersByTime(8 * MINUTE)
    expect(await store.countOf('pair')).toEqual({ failures: 10 })
  })

  it('counts nothing for a login that waits for room, however often it asks', async () => {
    const { store, one } = twoProcesses({ pair: { points: 1, duration: '1h' } })
    const held = await one.consume(...ALICE)
    const waiting = one.attempt(...ALICE)
    for (let i = 0; i < 20; i++) expect(waiting.begin()).toBe(false)
    held.end('succeeded')
    expect(waiting.begin()).toBe(true)
    await settle()
    await waiting.count?.()
    expect(await store.countOf('address')).toEqual({ 'under way': 1 })
    waiting.end('succeeded')
    await settle()
    expect(await store.countOf('address')).toEqual({ 'under way': 0 })
  })

  it('is called in two round trips for an attempt, once more for a failure, and asked about a reset for refused logins', async () => {
    const { store, one, two } = twoProcesses()
    const callsOf = async (run: () => Promise<unknown>) => {
      store.calls.length = 0
      await run()
      await settle()
      return store.calls.map((call) => call.split(' ')[0]).join(' ')
    }
    expect(await callsOf(async () => (await one.consume(...ALICE)).end('succeeded'))).toBe('penalty get get reward')
    expect(await callsOf(() => guesses(one, 1))).toBe('penalty get get consume reward')
    await guesses(one, 9)
    expect(await callsOf(() => Promise.all(Array.from({ length: 300 }, () => guesses(one, 1))))).toBe('get')
    expect(await callsOf(() => guesses(two, 1))).toBe('penalty get get get reward')
    await expect(two.attempt(...ALICE).check()).rejects.toMatchObject({ limit: 'pair' })
  })

  it('knows a limit that another process reached while a password was checked', async () => {
    const { store, one, two } = twoProcesses()
    const spent = await two.consume(...ALICE)
    expect(await guesses(one, 9)).toBe(9)
    await spent.end('failed')
    store.calls.length = 0
    expect(await guesses(two, 1)).toBe(0)
    expect(store.calls).toEqual([expect.stringMatching(/^get .*:reset$/)])
  })

  it('that knows of a reached limit refuses for its window, also where another limit is full', async () => {
    const size = (points: number) => ({ points, duration: '1h' })
    const { one, two } = twoProcesses({ address: size(2), pair: size(1), account: false })
    expect(await guesses(one, 1)).toBe(1)
    await one.consume(bob(), ALICE[1], silent)
    await expect(two.consume(...ALICE)).rejects.toMatchObject({ code: 'too_many_attempts', limit: 'pair' })
  })

  it('that can be read, but counts nothing, refuses what another process has counted', async () => {
    const { store, one } = twoProcesses()
    expect(await guesses(one, 10)).toBe(10)
    const down = () => Promise.reject(new Error('read only'))
    const limiter = (options: LimiterOptions) => ({ ...store.limiter(options), consume: down, penalty: down })
    const other = createThrottle({ limiter, limits: PAIR })
    expect(await guesses(other, 1, bob)).toBe(1)
    expect(await guesses(other, 1)).toBe(0)
  })

  it('that fails is told of once, rests for a second, and is used again when it is back', async () => {
    const { store, one } = twoProcesses({})
    const failed = vi.fn()
    const guess = async (email: string = ALICE[0]) => (await one.consume(email, ALICE[1], failed)).end('failed')
    await guess()
    store.mode = 'down'
    await Promise.all([0, 1, 2, 3, 4].map((i) => guess(userOf(i))))
    expect(failed.mock.calls).toEqual([[new Error('connection refused')]])
    const asked = store.calls.length
    await guess()
    expect(store.calls).toHaveLength(asked)
    store.mode = 'up'
    vi.advanceTimersByTime(999)
    await guess()
    expect(store.calls.slice(asked).filter((call) => !/^(consume|reward)/.test(call))).toEqual([])
    vi.advanceTimersByTime(1)
    await guess()
    expect(store.calls.slice(asked).filter((call) => call.startsWith('penalty'))).toHaveLength(3)
    expect(failed).toHaveBeenCalledOnce()
  })

  it('that hangs holds a login up for 40 ms, all three limits together, and the next ones not at all', async () => {
    const { store, one } = twoProcesses({})
    store.mode = 'hangs'
    const failed = vi.fn()
    const before = performance.now()
    const first = one.consume(ALICE[0], ALICE[1], failed)
    await vi.advanceTimersByTimeAsync(39)
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await first
    await one.consume(...ALICE)
    expect(performance.now() - before).toBe(40)
    expect(failed.mock.calls).toEqual([[new Error('throttle: the store did not respond for 40 ms')]])
  })

  it.each(['down', 'breaks'] as const)(
    'whose connection is %s for a moment is told later what has ended',
    async (mode) => {
      const { store, one, two } = twoProcesses()
      const [right, wrong, other] = await Promise.all([1, 2, 3].map(() => one.consume(...ALICE)))
      store.mode = mode
      right?.end('succeeded')
      await wrong?.end('failed')
      // Sent, though the store rests.
      await other?.end('failed')
      await vi.advanceTimersByTimeAsync(5000)
      store.mode = 'up'
      await vi.advanceTimersByTimeAsync(1000)
      const { failures = 0, 'under way': underWay = 0 } = await store.countOf('pair')
      // Where a call was executed before the connection broke, it may count twice.
      expect(failures).toBeGreaterThanOrEqual(2)
      expect(underWay).toBeLessThanOrEqual(0)
      if (mode === 'down') expect([failures, underWay]).toEqual([2, 0])
      expect(await guesses(two, 20)).toBe(Math.max(0, 10 - failures))
    },
  )

  it('that answers some is waited for, also by those whose answer is late', async () => {
    const { consume, answers, failed } = answering()
    const late = consume()
    for (let i = 1; i <= 5; i++) {
      const other = consume()
      await vi.advanceTimersByTimeAsync(30)
      answers[i]?.(undefined)
      await other
    }
    answers[0]?.(undefined)
    await late
    expect(failed).not.toHaveBeenCalled()
  })

  it('that falls silent after an answer is given up all the same', async () => {
    const { consume, answers, failed } = answering()
    const unanswered = consume()
    const answered = consume()
    await vi.advanceTimersByTimeAsync(5)
    answers[1]?.(undefined)
    await answered
    await vi.advanceTimersByTimeAsync(44)
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await unanswered
    expect(failed).toHaveBeenCalledOnce()
  })

  it('that has answered leaves no timer behind', async () => {
    const { consume, answers } = answering()
    const asked = async (count: number) => {
      while (answers.length < count) await undefined
    }
    const atOnce = consume()
    await asked(1)
    answers[0]?.(undefined)
    await atOnce
    expect(vi.getTimerCount()).toBe(0)
    const meanwhile = consume()
    await asked(2)
    vi.advanceTimersByTime(10) // the look at the store is due, but has not been taken
    answers[1]?.(undefined)
    await meanwhile
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(vi.getTimerCount()).toBe(0)
  })

  /** Creates a throttle with one limit, whose limiter only counts, when the test lets it. */
  function answering() {
    const answers: ((value: unknown) => void)[] = []
    const consume = () => new Promise((resolve) => answers.push(resolve))
    const throttle = createThrottle({ limiter: () => ({ consume, reward: async () => {} }), limits: PAIR })
    const failed = vi.fn()
    return { consume: () => throttle.consume(ALICE[0], ALICE[1], failed), answers, failed }
  }
})

describe('reset', () => {
  const limits = {
    address: { points: 40, duration: '1h' },
    pair: { points: 2, duration: '15m' },
    account: { points: 3, duration: '1h' },
  }
  const at = (address: string) => () => address
  /** Fails from both addresses until both limits of the account are reached. */
  async function lockOut(throttle: ReturnType<typeof createThrottle>) {
    expect(await guesses(throttle, 5, undefined, at('192.0.2.1'))).toBe(2)
    expect(await guesses(throttle, 5, undefined, at('192.0.2.2'))).toBe(1)
    vi.advanceTimersByTime(1000)
  }

  it('lifts the limits of one account from all addresses, in each spelling, and no other limit', async () => {
    const throttle = createThrottle({ limits: { ...limits, address: { points: 4, duration: '1h' } } })
    await lockOut(throttle)
    expect(await guesses(throttle, 5, bob, at('192.0.2.3'))).toBe(2)
    await throttle.reset(' ALICE@\u200bExample.com')
    expect(await guesses(throttle, 5, bob, at('192.0.2.3'))).toBe(0)
    expect(await guesses(throttle, 5, undefined, at('192.0.2.1'))).toBe(2)
    await throttle.reset(ALICE[0])
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ limit: 'address' })
  })

  it('keeps the attempts that are under way, and counts those that fail', async () => {
    const throttle = createThrottle({ limits })
    const [first, second] = [await throttle.consume(...ALICE), await throttle.consume(...ALICE)]
    await throttle.reset(ALICE[0])
    await expect(throttle.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    await first.end('failed')
    second.end('succeeded')
    expect(await guesses(throttle, 5)).toBe(1)
  })

  it.each([0, 1, 2])('lifts them in all processes that share a store, once, when process %i resets', async (at) => {
    const store = sharedStore()
    const processes = [0, 1, 2].map(() => createThrottle({ limiter: store.limiter, limits }))
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let round = 0; round < 3; round++) {
      await lockOut(one)
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.9']) {
        expect(await guesses(two, 1, undefined, () => address)).toBe(0)
      }
      store.calls.length = 0
      await processes[at]?.reset(ALICE[0])
      expect(store.calls.filter((call) => call.includes('login-address'))).toEqual([])
      vi.advanceTimersByTime(1000)
      expect(await guesses(two, 2, undefined, () => '192.0.2.1')).toBe(2)
      expect(await guesses(two, 3, undefined, () => '192.0.2.1')).toBe(0)
      expect(await guesses(one, 5, undefined, () => '192.0.2.2')).toBe(1)
      expect(await guesses(two, 5, undefined, () => '192.0.2.2')).toBe(0)
      const restarted = createThrottle({ limiter: store.limiter, limits })
      expect(await guesses(restarted, 1, undefined, () => '192.0.2.2')).toBe(0)
      vi.advanceTimersByTime(1)
      await processes[at]?.reset(ALICE[0])
      vi.advanceTimersByTime(1000)
    }
    expect(await guesses(one, 50, userOf, () => '192.0.2.1')).toBe(28)
    await processes[at]?.reset(ALICE[0])
    vi.advanceTimersByTime(1000)
    await expect(one.consume(...ALICE)).rejects.toMatchObject({ limit: 'address' })
  })

  type Result = { consumedPoints: number; msBeforeNext: number }
  const withEnd = (msBeforeNext: number): Result => ({ consumedPoints: 1, msBeforeNext })
  async function late(one: Result) {
    for (let turn = 0; turn < 20; turn++) await undefined
    vi.advanceTimersByTime(300)
    return withEnd(one.msBeforeNext)
  }
  it.each<[string, number, (marker: Result) => unknown]>([
    ['ends 20 s late, as the clock of the resetting process', 6, (one) => withEnd(one.msBeforeNext + 20_000)],
    ['ends 20 s early', 3, (one) => withEnd(one.msBeforeNext - 20_000)],
    ['has no end', 3, () => ({ consumedPoints: 1 })],
    ['has an end that is not known', 3, () => withEnd(-1)],
    ['never ends', 3, () => withEnd(Number.POSITIVE_INFINITY)],
    ['is refused', 3, (one) => Promise.reject(one)],
    ['cannot be read in time', 3, late],
  ])('lifts them at most once when the mark of the reset %s', async (_, passed, change) => {
    const store = sharedStore()
    const limiter = (options: LimiterOptions) => {
      const one = store.limiter(options)
      const get = async (key: string) => {
        const result = (await one.get(key)) as Result | null
        return result && key.endsWith(':reset') ? change(result) : result
      }
      return { ...one, get }
    }
    const one = createThrottle({ limiter, limits: { pair: false, account: { points: 3, duration: '1h' } } })
    const address = (i: number) => `192.0.2.${i}`
    let all = await guesses(one, 9, undefined, address)
    vi.advanceTimersByTime(1000)
    await createThrottle({ limiter, limits: { pair: false, account: { points: 3, duration: '1h' } } }).reset(ALICE[0])
    for (let round = 0; round < 9; round++) {
      vi.advanceTimersByTime(1000)
      all += await guesses(one, 9, undefined, address)
    }
    expect(all).toBe(passed)
  })

  it('allows exactly the limit again for an account that another process has counted', async () => {
    const store = sharedStore()
    const processOn = () => createThrottle({ limiter: store.limiter, limits: { pair: false, account: limits.account } })
    const one = processOn()
    expect(await guesses(one, 2)).toBe(2)
    vi.advanceTimersByTime(1000)
    await processOn().reset(ALICE[0])
    expect(await guesses(one, 10)).toBe(3)
  })

  it('lifts a limit that this process has reached at the same moment', async () => {
    const throttle = createThrottle({ limiter: sharedStore().limiter, limits })
    expect(await guesses(throttle, 5)).toBe(2)
    await throttle.reset(ALICE[0])
    expect(await guesses(throttle, 5)).toBe(2)
  })

  it('does not lift a limit of the store that cannot be removed there', async () => {
    const store = sharedStore()
    const [one, two] = [0, 1].map(() =>
      createThrottle({ limiter: store.limiter, limits: { ...limits, account: false } }),
    )
    expect(await guesses(one as typeof two & {}, 5)).toBe(2)
    vi.advanceTimersByTime(1000)
    await two?.reset(ALICE[0])
    store.mode = 'no deletes'
    const three = createThrottle({ limiter: store.limiter, limits: { ...limits, account: false } })
    await expect(three.consume(...ALICE)).rejects.toMatchObject({ limit: 'pair' })
    store.mode = 'up'
    vi.advanceTimersByTime(1000)
    expect(await guesses(createThrottle({ limiter: store.limiter, limits: { ...limits, account: false } }), 5)).toBe(2)
  })

  it.each([
    ['down', 'connection refused'],
    ['hangs', 'no result within 5000 ms'],
  ] as const)('lifts them in this process, and rejects, while the store is %s', async (mode, cause) => {
    const store = sharedStore()
    const throttle = createThrottle({ limiter: store.limiter, limits })
    await lockOut(throttle)
    store.mode = mode
    const reset = expect(throttle.reset(ALICE[0])).rejects.toMatchObject({
      message: expect.stringMatching(
        /^throttle\.reset: the shared store failed.* Call reset again when the store works\.$/,
      ),
      cause: { message: cause },
    })
    await vi.advanceTimersByTimeAsync(5000)
    await reset
    const spending = throttle.consume(...ALICE)
    await vi.advanceTimersByTimeAsync(50)
    ;(await spending).end('succeeded')
  })

  it.each([undefined, '', 'a'.repeat(321), { email: ALICE[0] }])(
    'rejects what is no e-mail address: %j',
    async (email) => {
      await createThrottle().reset('a'.repeat(320))
      const message = expect.stringContaining('throttle.reset: pass the e-mail address of an account')
      const reset = createThrottle().reset(email as string)
      await expect(reset).rejects.toMatchObject({ constructor: TypeError, message })
    },
  )

  it.each(['get', 'delete'] as const)('rejects with a limiter without %s', async (name) => {
    const limiter = (options: LimiterOptions) => ({
      ...sharedStore().limiter(options),
      ...(options.keyPrefix === 'login-pair' ? { [name]: undefined } : undefined),
    })
    const message = expect.stringContaining('pass a "limiter" with "get" and "delete"')
    await expect(createThrottle({ limiter }).reset(ALICE[0])).rejects.toMatchObject({ constructor: TypeError, message })
    expect(() => createThrottle({ limiter: (options) => ({ ...limiter(options), [name]: 1 }) as never })).toThrow(
      `a limiter whose "${name}" is a function, or missing`,
    )
  })
})

describe('a limit in memory', () => {
  const limitOf = (points: number, mostKeys?: number) =>
    createLimit('pair', { points, duration: 10 }, undefined, mostKeys)
  const refusal = (seconds: number) =>
    expect.objectContaining({ code: 'too_many_attempts', limit: 'pair', headers: { 'Retry-After': String(seconds) } })
  const OVERLOADED = expect.objectContaining({ code: 'overloaded' })

  it.each([
    ['30,000 keys by default', undefined, 30_000],
    ['as many keys as it is told', 3, 3],
  ])('holds %s, and drops the least recently used key for another one', (_, mostKeys, most) => {
    const limit = limitOf(1, mostKeys)
    for (let i = 0; i < most; i++) limit.fail(`key ${i}`)
    expect(limit.reached('key 0')).toBeDefined()
    limit.fail('one more')
    const known = ['key 0', 'key 1', 'key 2', 'one more'].map((key) => limit.reached(key) !== undefined)
    expect(known).toEqual([true, false, true, true])
  })

  it.each([
    ['for as long as the store says', 0, 5000, 5000],
    ['until the later end', 3, 5000, 10_000],
    ['until the later end of the store', 3, 20_000, 20_000],
    ['whatever few failures memory knows', 1, 5000, 5000],
    ['for a moment, also when the window ends now', 0, 0, 1],
  ])('refuses after a count of the store that reaches it: %s', (_, own, msBeforeNext, expected) => {
    const { fail, learn, reached } = limitOf(3)
    for (let i = 0; i < own; i++) fail('a')
    expect(learn('a', { points: 3, msBeforeNext })).toEqual(refusal(Math.ceil(expected / 1000)))
    vi.advanceTimersByTime(expected - 1)
    expect(reached('a')).toEqual(refusal(1))
    vi.advanceTimersByTime(2)
    expect(reached('a')).toBeUndefined()
  })

  it.each([
    ['nothing', undefined, 0, 0, undefined],
    ['one failure less', { points: 2, msBeforeNext: 5000 }, 0, 0, undefined],
    ['one failure less, and this attempt', { points: 2, msBeforeNext: 5000 }, 0, 1, undefined],
    ['one failure less, and another attempt', { points: 2, msBeforeNext: 5000 }, 0, 2, OVERLOADED],
    ['attempts only', { points: 0, msBeforeNext: 5000 }, 0, 4, OVERLOADED],
    ['nothing, with attempts', undefined, 0, 4, OVERLOADED],
    ['fewer failures than memory', { points: 1, msBeforeNext: 5000 }, 2, 1, undefined],
    ['fewer failures than memory, and another attempt', { points: 1, msBeforeNext: 5000 }, 2, 2, OVERLOADED],
    ['fewer failures than memory, which reach the limit', undefined, 3, 1, refusal(10)],
  ])('says whether a count of the store leaves room: %s', (_, counted, own, underWay, expected) => {
    const { fail, learn } = limitOf(3)
    for (let i = 0; i < own; i++) fail('a')
    expect(learn('a', counted, underWay)).toEqual(expected)
  })
})

it('keeps nothing of attempts that have ended', () => {
  const { made, maps } = withMaps(() => createLimit('pair', { points: 2, duration: 10 }))
  const { begin, end } = made
  const kept = () => maps.reduce((sum, { size }) => sum + size, 0)
  expect([begin('a'), begin('a'), begin('b'), kept()]).toEqual([true, true, true, 2])
  for (const key of ['a', 'a', 'b']) end(key)
  expect(kept()).toBe(0)
})

describe('the keys of a login', () => {
  const keysOf = (email: string, address: string) =>
    (['address', 'pair', 'account'] as const).map(throttleKeys(email, address))

  it('normalises the e-mail address only when a key needs it, and once', () => {
    const normalize = vi.spyOn(String.prototype, 'normalize')
    onTestFinished(() => void normalize.mockRestore())
    const keyOf = throttleKeys('élise@example.com', '192.0.2.1')
    keyOf('address')
    const before = normalize.mock.calls.length
    for (const name of ['pair', 'account', 'pair', 'account'] as const) keyOf(name)
    expect([before, normalize.mock.calls.length]).toEqual([0, 1])
  })

  it('gives keys that hold no address in clear text and are the same for all spellings', () => {
    const keys = keysOf('alice@example.com', '192.0.2.1')
    for (const key of keys) expect(key).toMatch(/^[\w-]{22}([\w-]{22})?$/)
    expect(new Set(keys).size).toBe(3)
    expect(keysOf('AL\u200bİCE@example.com ', '::ffff:192.0.2.1')).toEqual(keys)
    expect(keysOf('b'.repeat(1_000_000), '192.0.2.1')).toEqual(keysOf('a'.repeat(321), '192.0.2.1'))
  })
})

describe('the memory of a process', () => {
  it('forgets the digests of a failed login within a minute after the end of their windows', async () => {
    const { made: throttle, maps } = withMaps(() => createThrottle())
    const kept = () => maps.reduce((sum, { size }) => sum + size, 0)
    expect(await guesses(throttle, 3)).toBe(3)
    ;(await throttle.consume(...ALICE)).end('disconnected')
    // The network's disconnects, and the failures at each limit.
    expect(kept()).toBe(4)
    vi.advanceTimersByTime(MINUTE)
    expect(kept()).toBe(3)
    vi.advanceTimersByTime(15 * MINUTE)
    expect(kept()).toBe(2)
    vi.advanceTimersByTime(45 * MINUTE)
    expect(kept()).toBe(0)
    // No timer runs for nothing.
    expect(vi.getTimerCount()).toBe(0)
  })

  it('forgets which resets it knows, too', async () => {
    const { made: limit, maps } = withMaps(() => createLimit('pair', { points: 1, duration: 60 }))
    limit.fail('key')
    expect(limit.forgetOlder('key', 120_000, 'store')).toBe(true)
    vi.advanceTimersByTime(2 * MINUTE)
    expect(maps.map(({ size }) => size)).toEqual(maps.map(() => 0))
  })

  it('keeps no process alive', async () => {
    vi.useRealTimers()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => timers.mockRestore())
    createLimit('pair', { points: 1, duration: 60 }).fail('key')
    expect(timers.mock.results.map(({ value }) => value.hasRef())).toEqual([false])
  })

  it('counts a failure also where fake timers of a host are numbers', () => {
    const timers = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(1 as never)
    onTestFinished(() => timers.mockRestore())
    const limit = createLimit('pair', { points: 1, duration: 60 })
    limit.fail('key')
    expect(limit.reached('key')).toBeDefined()
    expect(timers).toHaveBeenCalledOnce()
  })
})
