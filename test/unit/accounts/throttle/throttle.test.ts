import {
  AuthError,
  createThrottle,
  type Limiter,
  type LimiterOptions,
  type ThrottleOptions,
} from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const MINUTE = 60_000

const silent = () => {}

/** Makes guesses one after the other, which fail. Returns the number of allowed guesses. */
async function guesses(
  throttle: ReturnType<typeof createThrottle>,
  count: number,
  email: string | ((i: number) => string) = 'alice@example.com',
  address: string | ((i: number) => string) = '192.0.2.1',
): Promise<number> {
  let through = 0
  for (let i = 0; i < count; i++) {
    const one = typeof email === 'string' ? email : email(i)
    const from = typeof address === 'string' ? address : address(i)
    try {
      const spent = await throttle.spend(one, from, silent)
      await spent.failed?.()
      through++
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_attempts', status: 429 })
    }
  }
  return through
}

const addressOf = (i: number) => `198.51.${Math.floor(i / 250)}.${i % 250}`

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the budgets, by default', () => {
  it('let 10 failures through for an account from one address, in 15 minutes', async () => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 200)).toBe(10)
    await expect(throttle.spend('alice@example.com', '192.0.2.1', silent)).rejects.toMatchObject({
      headers: { 'Retry-After': '900' },
    })
    vi.advanceTimersByTime(15 * MINUTE - 1)
    expect(await guesses(throttle, 1)).toBe(0)
    vi.advanceTimersByTime(2)
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it('count a window from its first failure, however many come later', async () => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 5)).toBe(5)
    vi.advanceTimersByTime(14 * MINUTE)
    expect(await guesses(throttle, 20)).toBe(5)
    vi.advanceTimersByTime(MINUTE + 1)
    expect(await guesses(throttle, 20)).toBe(10)
  })

  it('let 100 failures through from one address, whatever the account', async () => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 300, (i) => `user${i}@example.com`)).toBe(100)
    expect(await guesses(throttle, 1, 'new@example.com', '192.0.2.2')).toBe(1)
    vi.advanceTimersByTime(60 * MINUTE + 1)
    expect(await guesses(throttle, 1, 'new@example.com')).toBe(1)
  })

  it('let 100 failures through for one account, whatever the address', async () => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 300, 'alice@example.com', addressOf)).toBe(100)
    expect(await guesses(throttle, 1, 'bob@example.com', addressOf)).toBe(1)
  })

  it('do not let one address lock the owner of an account out from another', async () => {
    const throttle = createThrottle()
    for (let hour = 0; hour < 4; hour++) {
      await guesses(throttle, 10_000 / 4)
      expect(await guesses(throttle, 1, 'alice@example.com', '203.0.113.7')).toBe(1)
      vi.advanceTimersByTime(15 * MINUTE)
    }
  })

  it('count guesses made all at once', async () => {
    const throttle = createThrottle()
    const begin = () => throttle.spend('alice@example.com', '192.0.2.1', silent)
    const results = await Promise.allSettled(Array.from({ length: 500 }, begin))
    const spent = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(spent).toHaveLength(10)
    // They are not failures yet, so the others are not refused for the rest of the window.
    await expect(begin()).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
    for (const { failed } of spent.slice(1)) await failed?.()
    await expect(begin()).rejects.toMatchObject({ code: 'overloaded' })
    spent[0]?.giveBack()
    expect(await guesses(throttle, 200)).toBe(1)
  })

  it('are not touched by a login that went well', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 500; i++) (await throttle.spend('alice@example.com', '192.0.2.1', silent)).giveBack()
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it('end an attempt once, however often it is given back or fails', async () => {
    const throttle = createThrottle()
    const begin = () => throttle.spend('alice@example.com', '192.0.2.1', silent)
    const [right, wrong, pending] = [await begin(), await begin(), await begin()]
    for (let i = 0; i < 50; i++) {
      right.giveBack()
      await right.failed?.()
      await wrong.failed?.()
      wrong.giveBack()
    }
    expect(await guesses(throttle, 8)).toBe(8)
    await expect(begin()).rejects.toMatchObject({ code: 'overloaded' })
    // A queue may ask a login too late.
    const late = throttle.attempt('alice@example.com', '192.0.2.2', silent)
    late.giveBack()
    expect(late.begin()).toBe(false)
    pending.giveBack()
    expect(await guesses(throttle, 200)).toBe(1)
  })

  it.each([
    ['-1 day', -86_400_000],
    ['-1 hour', -3_600_000],
    ['+1 hour', 3_600_000],
    ['+1 day', 86_400_000],
  ])('do not mind a wall clock that is set by %s', async (_, ms) => {
    const throttle = createThrottle()
    expect(await guesses(throttle, 20)).toBe(10)
    vi.setSystemTime(Date.now() + ms)
    expect(await guesses(throttle, 20)).toBe(0)
    vi.advanceTimersByTime(15 * MINUTE + 1)
    expect(await guesses(throttle, 20)).toBe(10)
  })
})

describe('check', () => {
  const ONE = { points: 1, duration: '1h' }
  const OFF = { address: false, pair: false, account: false } as const

  it.each(['address', 'pair', 'account'] as const)('refuses what is known to be used up: %s', async (limit) => {
    const throttle = createThrottle({ budgets: { ...OFF, [limit]: ONE } })
    const check = () => throttle.check('alice@example.com', '192.0.2.1')
    expect(check).not.toThrow()
    expect(await guesses(throttle, 1)).toBe(1)
    const refusal = { code: 'too_many_attempts', status: 429, limit, headers: { 'Retry-After': '3600' } }
    expect(check).toThrow(expect.objectContaining(refusal))
    const checkAddress = () => throttle.checkAddress('192.0.2.1')
    if (limit === 'address') expect(checkAddress).toThrow(expect.objectContaining(refusal))
    else expect(checkAddress).not.toThrow()
    vi.advanceTimersByTime(60 * MINUTE + 1)
    expect(check).not.toThrow()
  })

  it('counts nothing', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 200; i++) throttle.check('alice@example.com', '192.0.2.1')
    expect(await guesses(throttle, 200)).toBe(10)
  })
})

describe('the keys', () => {
  it.each([
    ['letter case', 'ALICE@Example.COM'],
    ['white space around it', '  alice@example.com\t'],
    ['full-width letters', 'ａlice@example.com'],
    ['a zero-width space', 'al\u200bice@example.com'],
    ['a dotted capital I', 'alİce@example.com'],
    ['an accent', 'alicé@example.com'],
  ])('take an address that differs by %s for the same account', async (_, email) => {
    const throttle = createThrottle()
    await guesses(throttle, 10)
    expect(await guesses(throttle, 1, email)).toBe(0)
  })

  it('take addresses for one account that are one only in capitals', async () => {
    const throttle = createThrottle()
    await guesses(throttle, 10, 'stra\u00dfe@example.com')
    expect(await guesses(throttle, 1, 'strasse@example.com')).toBe(0)
  })

  it.each([
    ['an IPv6 address of the same /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 0],
    ['an IPv6 address of another /64', '2001:db8:1:2::1', '2001:db8:1:3::1', 1],
    ['an IPv4 address and its mapped form', '192.0.2.1', '::ffff:192.0.2.1', 0],
    ['IPv4 addresses mapped into one /64', '::ffff:192.0.2.1', '::ffff:192.0.2.2', 1],
    ['a zone', 'fe80::1%eth0', 'fe80::1', 0],
    ['an IPv4 address and its port', '1.2.3.4', '1.2.3.4:5678', 0],
    ['the ports of an IPv4 address', '1.2.3.4:40001', '1.2.3.4:40002', 0],
    ['two IPv4 addresses with one port', '1.2.3.4:5678', '1.2.3.5:5678', 1],
    ['an IPv6 address and its port', '2001:db8::1', '[2001:db8::1]:443', 0],
    ['the ports of an IPv6 address', '[2001:db8::1]:443', '[2001:db8::1]:444', 0],
    ['two IPv6 addresses with one port', '[2001:db8:0:1::1]:443', '[2001:db8:0:2::1]:443', 1],
    ['an IPv6 address in brackets', '2001:db8::1', '[2001:db8::1]', 0],
    ['a mapped address and its port', '1.2.3.4', '[::ffff:1.2.3.4]:443', 0],
    ['what are no addresses', 'garbage', '1.2.3.4.5', 0],
    ['what are no addresses, with ports', 'unix:1', '999.2.3.4:5678', 0],
    ['garbage and nothing', 'x'.repeat(1000), '', 0],
    ['garbage and an address', 'garbage', '1.2.3.4', 1],
    ['NAT64 in dotted form, as its IPv4 address', '203.0.113.9', '64:ff9b::203.0.113.9', 0],
    ['NAT64 of another, in dotted form', '64:ff9b::203.0.113.9', '64:ff9b::198.51.100.7', 1],
    ['an IPv4 address through NAT64', '203.0.113.9', '64:ff9b::cb00:7109', 0],
    ['IPv4 addresses through one NAT64', '64:ff9b::cb00:7109', '64:ff9b::c633:6407', 1],
    ['an IPv4 address and its translated form', '203.0.113.9', '::ffff:0:203.0.113.9', 0],
    ['IPv4 addresses translated into one /64', '::ffff:0:203.0.113.9', '::ffff:0:198.51.100.7', 1],
    ['an IPv4 address and its 6to4 networks', '203.0.113.9', '2002:cb00:7109::1', 0],
    ['the 6to4 networks of an IPv4 address', '2002:cb00:7109:1::1', '2002:cb00:7109:ffff::1', 0],
    ['6to4 networks of two IPv4 addresses', '2002:cb00:7109::1', '2002:c633:6407::1', 1],
  ])('see %s', async (_, one, other, through) => {
    const throttle = createThrottle()
    await guesses(throttle, 10, 'alice@example.com', one)
    expect(await guesses(throttle, 1, 'alice@example.com', other)).toBe(through)
  })

  it.each([
    ['two IPv6 networks whose parts make one row of digits', '2001:db8:1:b::1', '2001:db8:b:1::1', 1],
    ['what has an opening bracket inside as no address', '2001:db8::[1', 'garbage', 0],
    ['what has a closing bracket inside as no address', '2001:db8::]1', 'garbage', 0],
  ])('see %s', async (_, one, other, through) => {
    const throttle = createThrottle()
    await guesses(throttle, 10, 'alice@example.com', one)
    expect(await guesses(throttle, 1, 'alice@example.com', other)).toBe(through)
  })

  it('count requests without an address together', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 10; i++) await (await throttle.spend('a@b.c', undefined, silent)).failed?.()
    await expect(throttle.spend('a@b.c', undefined, silent)).rejects.toThrow(AuthError)
  })
})

describe('attempts that end without a failure', () => {
  const pairs = (duration: number) =>
    createThrottle({ budgets: { pair: { points: 10, duration }, address: false, account: false } })
  const beginTen = (throttle: ReturnType<typeof createThrottle>) =>
    Promise.all(Array.from({ length: 10 }, () => throttle.spend('alice@example.com', '192.0.2.1', silent)))

  it.each([undefined, 'address'] as const)(
    'push no failure out of memory, but for: %s',
    async (but) => {
      const throttle = createThrottle({ budgets: { address: { points: 1_000_000, duration: '1h' } } })
      expect(await guesses(throttle, 10)).toBe(10)
      for (let i = 0; i < 30_001; i++) (await throttle.spend(`user${i}@example.com`, '192.0.2.2', silent)).giveBack(but)
      expect(await guesses(throttle, 1)).toBe(0)
    },
    30_000,
  )

  it('stay failures of the limit that is to keep them', async () => {
    const once = { points: 1, duration: '1h' }
    const throttle = createThrottle({ budgets: { address: { points: 2, duration: '1h' }, pair: once, account: once } })
    ;(await throttle.spend('alice@example.com', '192.0.2.1', silent)).giveBack('address')
    expect(await guesses(throttle, 1)).toBe(1)
    expect(await guesses(throttle, 1, 'bob@example.com')).toBe(0)
    expect(await guesses(throttle, 1, 'bob@example.com', '192.0.2.2')).toBe(1)
  })

  it('leave the others under way', async () => {
    const throttle = pairs(2)
    const [one] = await beginTen(throttle)
    one?.giveBack()
    expect(await guesses(throttle, 1)).toBe(1)
    await expect(throttle.spend('alice@example.com', '192.0.2.1', silent)).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('begin no window, and leave the next one as it is', async () => {
    const throttle = pairs(2)
    const old = await beginTen(throttle)
    vi.advanceTimersByTime(1999)
    for (const spent of old.slice(0, 4)) spent.giveBack()
    expect(await guesses(throttle, 4)).toBe(4)
    vi.advanceTimersByTime(1999)
    for (const spent of old) spent.giveBack()
    expect(await guesses(throttle, 20)).toBe(6)
    vi.advanceTimersByTime(2)
    expect(await guesses(throttle, 20)).toBe(10)
  })

  it('are refused in one limit without being under way in another', async () => {
    const throttle = createThrottle({ budgets: { account: { points: 1, duration: '1h' } } })
    const held = await throttle.spend('alice@example.com', '192.0.2.1', silent)
    for (let i = 0; i < 20; i++) {
      expect(throttle.attempt('alice@example.com', '192.0.2.1', silent).begin()).toBe(false)
    }
    held.giveBack()
    expect(await guesses(throttle, 1)).toBe(1)
    await expect(throttle.spend('alice@example.com', '192.0.2.1', silent)).rejects.toMatchObject({ limit: 'account' })
  })
})

describe('budgets that are set', () => {
  it('are kept, and those that are false are left out', async () => {
    const throttle = createThrottle({
      budgets: { pair: { points: 3, duration: '10s' }, address: false, account: { points: 5, duration: 20 } },
    })
    expect(await guesses(throttle, 10)).toBe(3)
    expect(await guesses(throttle, 10, 'alice@example.com', addressOf)).toBe(2)
    expect(await guesses(throttle, 500, (i) => `user${i}@example.com`)).toBe(500)
  })

  const bad: [string, unknown, RegExp][] = [
    ['an unknown option', { budget: {} }, /unknown option "budget"\. Did you mean "budgets"/],
    ['an unknown budget', { budgets: { ip: { points: 1, duration: 1 } } }, /Did you mean "address"/],
    ['no points', { budgets: { pair: { duration: 1 } } }, /budgets\.pair": option "points"/],
    ['no points for an address', { budgets: { address: { duration: 1 } } }, /budgets\.address": option "points"/],
    ['no points for an account', { budgets: { account: { duration: 1 } } }, /budgets\.account": option "points"/],
    [
      'zero points',
      { budgets: { pair: { points: 0, duration: 1 } } },
      /"points" must be a number of failures, a whole number from 1 to 1000000/,
    ],
    ['a duration without unit', { budgets: { pair: { points: 1, duration: '900' } } }, /"duration" must be/],
    ['true', { budgets: { pair: true } }, /"pair" must be/],
    ['a limiter that is no function', { limiter: {} }, /"limiter" must be a function/],
    ['a factory that returns no limiter', { limiter: () => ({}) }, /rate-limiter-flexible/],
  ]
  it.each<[string, unknown, string]>([
    ['"store"', { store: () => {} }, 'createThrottle: unknown option "store". Did you mean "limiter"?'],
    [
      'a budget by "email"',
      { budgets: { email: false } },
      'createThrottle: option "budgets": unknown option "email". Did you mean "account"?',
    ],
    ['a budget by "user"', { budgets: { user: false } }, 'unknown option "user". Did you mean "account"?'],
    ['a budget that is a number', { budgets: { pair: 10 } }, '{ points, duration } or false'],
    [
      'a limiter without reward',
      { limiter: () => ({ consume() {} }) },
      'createThrottle: what "limiter" returned must be a rate-limiter-flexible limiter',
    ],
    ['a limiter without consume', { limiter: () => ({ reward() {} }) }, 'It has "consume" and "reward"'],
    ['a factory that returns nothing', { limiter: () => undefined }, 'a rate-limiter-flexible limiter'],
  ])('say what is meant for %s', (_, options, message) => {
    expect(() => createThrottle(options as ThrottleOptions)).toThrow(message)
  })

  it.each(bad)('are a TypeError with %s', (_, options, message) => {
    expect(() => createThrottle(options as ThrottleOptions)).toThrow(TypeError)
    expect(() => createThrottle(options as ThrottleOptions)).toThrow(message)
  })
})

/** Creates a shared store for several processes, which can fail, hang, and count its calls. */
function sharedStore() {
  const limiters = new Map<string, RateLimiterMemory>()
  const store = {
    made: [] as LimiterOptions[],
    calls: [] as string[],
    mode: 'up' as 'up' | 'down' | 'hangs' | 'breaks',
    late: [] as (() => void)[],
    async countOf(name: string): Promise<Record<string, number>> {
      const keys = new Set(
        store.calls.filter((call) => call.includes(` login-${name}:`)).map((call) => call.split(' ')[1]),
      )
      const counts: Record<string, number> = {}
      for (const key of keys) {
        const [, own = ''] = (key as string).split(/:(.*)/)
        const found = await limiters.get(`login-${name}`)?.get(own)
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
        if (store.mode === 'down') throw new Error('connection refused')
        if (store.mode === 'hangs') await new Promise<void>((resolve) => store.late.push(resolve))
        const result = await run()
        if (store.mode === 'breaks') throw new Error('connection lost')
        return result
      }
      return {
        consume: (key) => call('consume', key, () => one.consume(key)),
        penalty: (key, points, duration) => call('penalty', key, () => one.penalty(key, points, duration)),
        reward: (key) => call('reward', key, () => one.reward(key)),
        get: (key) => call('get', key, () => one.get(key)),
      }
    },
  }
  return store
}

describe('a shared store', () => {
  const ALICE = ['alice@example.com', '192.0.2.1', silent] as const
  const PAIR = { address: false, pair: { points: 10, duration: 900 }, account: false } as const
  const settle = () => vi.advanceTimersByTimeAsync(0)

  /** Creates a store and two processes that count in it. */
  function twoProcesses(budgets: ThrottleOptions['budgets'] = PAIR) {
    const store = sharedStore()
    const processOn = () => createThrottle({ limiter: store.limiter, budgets })
    return { store, one: processOn(), two: processOn() }
  }

  it('is given the options of a limiter for each budget', () => {
    const store = sharedStore()
    createThrottle({ limiter: store.limiter })
    expect(store.made).toEqual([
      { keyPrefix: 'login-address', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 10, duration: 900 },
      { keyPrefix: 'login-account', points: 100, duration: 3600 },
    ])
  })

  it('counts for two processes together, and both know how long a window lasts', async () => {
    const { one, two } = twoProcesses({})
    expect(await guesses(one, 7)).toBe(7)
    vi.advanceTimersByTime(5 * MINUTE)
    expect(await guesses(two, 7)).toBe(3)
    for (const { spend } of [one, two]) {
      await expect(spend(...ALICE)).rejects.toMatchObject({ limit: 'pair', headers: { 'Retry-After': '600' } })
    }
    expect(await guesses(two, 1, 'alice@example.com', '203.0.113.7')).toBe(1)
    vi.advanceTimersByTime(10 * MINUTE + 1)
    expect((await guesses(one, 7)) + (await guesses(two, 7))).toBe(10)
  })

  it('counts guesses made all at once, in all processes together', async () => {
    const { store, one, two } = twoProcesses()
    for (const failures of [0, 4]) {
      const all = Array.from({ length: 60 }, (_, i) => (i % 2 ? one : two).spend(...ALICE))
      const begun = (await Promise.allSettled(all)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(begun.length).toBeLessThanOrEqual(10 - failures)
      for (const [i, { failed, giveBack }] of begun.entries()) await (failures === 0 && i < 4 ? failed?.() : giveBack())
      await settle()
      expect(await store.countOf('pair')).toEqual({ 'under way': 0, failures: 4 })
    }
    expect((await guesses(one, 9)) + (await guesses(two, 9))).toBe(6)
  })

  it('says that attempts under way in another process are no failures', async () => {
    const { one, two } = twoProcesses()
    const held = await Promise.all(Array.from({ length: 10 }, () => one.spend(...ALICE)))
    await expect(two.spend(...ALICE)).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
    for (const spent of held) spent.giveBack()
    await settle()
    for (let i = 0; i < 20; i++) (await two.spend(...ALICE)).giveBack()
    await settle()
    expect(await guesses(two, 20)).toBe(10)
  })

  it('sees the attempts of processes whose clocks differ by a minute, at the end of a time slot too', async () => {
    const { one, two } = twoProcesses()
    for (let minute = 0; minute < 8; minute++) {
      const held = await Promise.all(Array.from({ length: 10 }, () => one.spend(...ALICE)))
      for (const ms of [-MINUTE, 2 * MINUTE, -MINUTE]) {
        vi.setSystemTime(Date.now() + ms)
        await expect(two.spend(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
      }
      for (const spent of held) spent.giveBack()
      await vi.advanceTimersByTimeAsync(30_000)
    }
  })

  it('forgets the attempts of a process that has ended, after six minutes', async () => {
    const { store, one, two } = twoProcesses()
    for (let i = 0; i < 10; i++) await one.spend(...ALICE)
    vi.advanceTimersByTime(2 * MINUTE)
    await expect(two.spend(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    vi.advanceTimersByTime(4 * MINUTE)
    expect(await guesses(two, 20)).toBe(10)
    vi.advanceTimersByTime(8 * MINUTE)
    expect(await store.countOf('pair')).toEqual({ failures: 10 })
  })

  it('counts nothing for a login that waits for room, however often it asks', async () => {
    const { store, one } = twoProcesses({ pair: { points: 1, duration: '1h' } })
    const held = await one.spend(...ALICE)
    const waiting = one.attempt(...ALICE)
    for (let i = 0; i < 20; i++) expect(waiting.begin()).toBe(false)
    held.giveBack()
    expect(waiting.begin()).toBe(true)
    await settle()
    await waiting.count?.()
    expect(await store.countOf('address')).toEqual({ 'under way': 1 })
    waiting.giveBack()
    await settle()
    expect(await store.countOf('address')).toEqual({ 'under way': 0 })
  })

  it('never sees an e-mail address or a network address', async () => {
    const { store, one } = twoProcesses({})
    await guesses(one, 1)
    const keys = new Set(store.calls.map((call) => call.replace(/^\w+ /, '')))
    // For each limit the failures, the attempts under way, and those of the nearer period.
    expect(keys.size).toBe(9)
    for (const key of keys) expect(key).toMatch(/^login-\w+:[\w-]{22}(:\d+)?$/)
  })

  it('is called in two round trips for an attempt, once more for a failure, and not for what memory refuses', async () => {
    const { store, one, two } = twoProcesses()
    const callsOf = async (run: () => Promise<unknown>) => {
      store.calls.length = 0
      await run()
      await settle()
      return store.calls.map((call) => call.split(' ')[0])
    }
    expect(await callsOf(async () => (await one.spend(...ALICE)).giveBack())).toEqual([
      'penalty',
      'get',
      'get',
      'reward',
    ])
    expect(await callsOf(() => guesses(one, 1))).toEqual(['penalty', 'get', 'get', 'consume', 'reward'])
    await guesses(one, 9)
    expect(await callsOf(() => guesses(one, 300))).toEqual([])
    expect(await callsOf(() => guesses(two, 300))).toEqual(['penalty', 'get', 'get', 'reward'])
    expect(() => two.check('alice@example.com', '192.0.2.1')).toThrow(expect.objectContaining({ limit: 'pair' }))
  })

  it('knows a limit that another process reached while a password was checked', async () => {
    const { store, one, two } = twoProcesses()
    const [spent] = [await two.spend(...ALICE)]
    expect(await guesses(one, 9)).toBe(9)
    await spent.failed?.()
    const { length } = store.calls
    expect(await guesses(two, 10)).toBe(0)
    expect(store.calls).toHaveLength(length)
  })

  it('that fails is told of once, rests for a second, and is used again when it is back', async () => {
    const { store, one } = twoProcesses({})
    const failures: unknown[] = []
    const guess = async () => (await one.spend(ALICE[0], ALICE[1], (error) => failures.push(error))).failed?.()
    await guess()
    store.mode = 'down'
    const before = store.calls.length
    for (let i = 0; i < 5; i++) await guess()
    expect(failures).toEqual([new Error('connection refused')])
    const asked = store.calls.length
    expect(asked - before).toBeLessThanOrEqual(12)
    store.mode = 'up'
    vi.advanceTimersByTime(999)
    await guess()
    expect(store.calls.slice(asked).filter((call) => !/^(consume|reward)/.test(call))).toEqual([])
    vi.advanceTimersByTime(1)
    await guess()
    expect(store.calls.length).toBeGreaterThan(asked)
    expect(failures).toHaveLength(1)
  })

  it('that fails leaves the limits as this process has seen them, neither open nor closed', async () => {
    const { store, one } = twoProcesses({})
    expect(await guesses(one, 6)).toBe(6)
    store.mode = 'down'
    expect(await guesses(one, 100)).toBe(4)
  })

  it('that hangs holds a login up for 40 ms, all three limits together, and the next ones not at all', async () => {
    const { store, one } = twoProcesses({})
    store.mode = 'hangs'
    const failures: unknown[] = []
    const before = performance.now()
    const first = one.spend(ALICE[0], ALICE[1], (error) => failures.push(error))
    await vi.advanceTimersByTimeAsync(39)
    expect(failures).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await first
    expect(performance.now() - before).toBe(40)
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('40 ms') })])
    await one.spend(...ALICE)
    expect(performance.now() - before).toBe(40)
  })

  it('that answers late does no harm: a login that went well is not under way any more', async () => {
    const { store, one } = twoProcesses()
    store.mode = 'hangs'
    const spending = one.spend(...ALICE)
    await vi.advanceTimersByTimeAsync(40)
    ;(await spending).giveBack()
    store.mode = 'up'
    for (const answer of store.late) answer()
    await settle()
    expect(await store.countOf('pair')).toEqual({ 'under way': 0 })
  })

  it.each(['down', 'breaks'] as const)(
    'whose connection is %s for a moment is told later what has ended',
    async (mode) => {
      const { store, one, two } = twoProcesses()
      const [right, wrong] = [await one.spend(...ALICE), await one.spend(...ALICE)]
      store.mode = mode
      right.giveBack()
      await wrong.failed?.()
      await vi.advanceTimersByTimeAsync(5000)
      store.mode = 'up'
      await vi.advanceTimersByTimeAsync(1000)
      const { failures = 0, 'under way': underWay = 0 } = await store.countOf('pair')
      // Where a call was executed before the connection broke, it may count twice.
      expect(failures).toBeGreaterThanOrEqual(1)
      expect(underWay).toBeLessThanOrEqual(0)
      if (mode === 'down') expect([failures, underWay]).toEqual([1, 0])
      expect(await guesses(two, 20)).toBe(10 - failures)
    },
  )

  it('that fails for several logins at once is told of once', async () => {
    const { store, one } = twoProcesses({})
    store.mode = 'down'
    const failed = vi.fn()
    await Promise.all(Array.from({ length: 5 }, (_, i) => one.spend(`user${i}@example.com`, '192.0.2.1', failed)))
    expect(failed.mock.calls).toEqual([[new Error('connection refused')]])
  })

  it('that answers some is waited for, also by those whose answer is late', async () => {
    const { spend, answers, failed } = answering()
    const late = spend()
    for (let i = 1; i <= 5; i++) {
      const other = spend()
      await vi.advanceTimersByTimeAsync(30)
      answers[i]?.(undefined)
      await other
    }
    answers[0]?.(undefined)
    await late
    expect(failed).not.toHaveBeenCalled()
  })

  it('that falls silent after an answer is given up all the same', async () => {
    const { spend, answers, failed } = answering()
    const unanswered = spend()
    const answered = spend()
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
    const { spend, answers } = answering()
    const asked = async (count: number) => {
      while (answers.length < count) await undefined
    }
    const atOnce = spend()
    await asked(1)
    answers[0]?.(undefined)
    await atOnce
    expect(vi.getTimerCount()).toBe(0)
    const meanwhile = spend()
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
    const throttle = createThrottle({ limiter: () => ({ consume, reward: async () => {} }), budgets: PAIR })
    const failed = vi.fn()
    return { spend: () => throttle.spend(ALICE[0], ALICE[1], failed), answers, failed }
  }
})
