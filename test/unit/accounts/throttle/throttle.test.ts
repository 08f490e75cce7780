import {
  AuthError,
  createThrottle,
  type Limiter,
  type LimiterOptions,
  type ThrottleOptions,
} from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const MINUTE = 60_000

const silent = () => {}

/** Makes guesses one after the other. Returns the number of allowed guesses. */
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
    await throttle.spend(one, from, silent).then(
      () => through++,
      (error) => expect(error).toMatchObject({ code: 'too_many_attempts', status: 429 }),
    )
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
    const all = Array.from({ length: 500 }, () => throttle.spend('alice@example.com', '192.0.2.1', silent))
    const results = await Promise.allSettled(all)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  })

  it('are not touched by a login that went well', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 500; i++) (await throttle.spend('alice@example.com', '192.0.2.1', silent)).giveBack()
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it('never hold more than they began with, however often points are given back', async () => {
    const throttle = createThrottle()
    const spent = await throttle.spend('alice@example.com', '192.0.2.1', silent)
    for (let i = 0; i < 50; i++) spent.giveBack()
    expect(await guesses(throttle, 200)).toBe(10)
  })

  it('never give back what another attempt has spent', async () => {
    const throttle = createThrottle()
    await throttle.spend('bob@example.com', '203.0.113.7', silent)
    const [spent] = [
      await throttle.spend('alice@example.com', '192.0.2.1', silent),
      await throttle.spend('alice@example.com', '192.0.2.1', silent),
    ]
    for (let i = 0; i < 50; i++) spent.giveBack()
    expect(await guesses(throttle, 200)).toBe(9)
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
    await throttle.spend('alice@example.com', '192.0.2.1', silent)
    const refusal = { code: 'too_many_attempts', status: 429, limit, headers: { 'Retry-After': '3600' } }
    expect(check).toThrow(expect.objectContaining(refusal))
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
    for (let i = 0; i < 10; i++) await throttle.spend('a@b.c', undefined, silent)
    await expect(throttle.spend('a@b.c', undefined, silent)).rejects.toThrow(AuthError)
  })
})

describe('points that are given back', () => {
  const pairs = (duration: number) =>
    createThrottle({ budgets: { pair: { points: 10, duration }, address: false, account: false } })
  const spendTen = (throttle: ReturnType<typeof createThrottle>) =>
    Promise.all(Array.from({ length: 10 }, () => throttle.spend('alice@example.com', '192.0.2.1', silent)))

  it.each([undefined, 'address'] as const)(
    'push nothing out of memory that is spent, but for: %s',
    async (but) => {
      const throttle = createThrottle({ budgets: { address: { points: 1_000_000, duration: '1h' } } })
      expect(await guesses(throttle, 10)).toBe(10)
      for (let i = 0; i < 30_001; i++) (await throttle.spend(`user${i}@example.com`, '192.0.2.2', silent)).giveBack(but)
      expect(await guesses(throttle, 1)).toBe(0)
    },
    30_000,
  )

  it('are those of all budgets but the one that is to be kept', async () => {
    const once = { points: 1, duration: '1h' }
    const throttle = createThrottle({ budgets: { address: { points: 2, duration: '1h' }, pair: once, account: once } })
    ;(await throttle.spend('alice@example.com', '192.0.2.1', silent)).giveBack('address')
    expect(await guesses(throttle, 1)).toBe(1)
    expect(await guesses(throttle, 1, 'bob@example.com')).toBe(0)
    expect(await guesses(throttle, 1, 'bob@example.com', '192.0.2.2')).toBe(1)
  })

  it('leave the others spent', async () => {
    const throttle = pairs(2)
    const [one] = await spendTen(throttle)
    one?.giveBack()
    expect(await guesses(throttle, 20)).toBe(1)
  })

  it('do not enlarge the next window', async () => {
    const throttle = pairs(2)
    const old = await spendTen(throttle)
    vi.advanceTimersByTime(2001)
    expect(await guesses(throttle, 4)).toBe(4)
    for (const spent of old) spent.giveBack()
    expect(await guesses(throttle, 20)).toBe(6)
  })

  it('do not enlarge the next window, though some of it were given back before', async () => {
    const throttle = pairs(2)
    const old = await spendTen(throttle)
    vi.advanceTimersByTime(2001)
    const one = await throttle.spend('alice@example.com', '192.0.2.1', silent)
    one.giveBack()
    expect(await guesses(throttle, 10)).toBe(10)
    for (const spent of [one, ...old]) spent.giveBack()
    expect(await guesses(throttle, 20)).toBe(0)
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

/** Creates a shared store in a map that can fail, hang, and count its calls. */
function fakeStore() {
  const counts = new Map<string, number>()
  const store = {
    counts,
    asked: 0,
    mode: 'up' as 'up' | 'down' | 'hangs',
    late: [] as (() => void)[],
    made: [] as LimiterOptions[],
  }
  const limiter = (options: LimiterOptions): Limiter => {
    store.made.push(options)
    const add = (key: string, points: number) => {
      const count = (counts.get(options.keyPrefix + key) ?? 0) + points
      counts.set(options.keyPrefix + key, count)
      return count
    }
    const consume = async (key: string) => {
      const consumedPoints = add(key, 1)
      if (consumedPoints > options.points) throw { msBeforeNext: 5000, consumedPoints }
      return { msBeforeNext: options.duration * 1000, consumedPoints }
    }
    return {
      consume(key) {
        store.asked++
        if (store.mode === 'down') return Promise.reject(new Error('connection refused'))
        if (store.mode === 'up') return consume(key)
        return new Promise((resolve) => store.late.push(() => consume(key).then(resolve)))
      },
      async reward(key) {
        return { consumedPoints: add(key, -1) }
      },
    }
  }
  return Object.assign(store, { limiter })
}

describe('a shared store', () => {
  it('is given the options of a limiter for each budget', () => {
    const store = fakeStore()
    createThrottle({ limiter: store.limiter })
    expect(store.made).toEqual([
      { keyPrefix: 'login-address', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 10, duration: 900 },
      { keyPrefix: 'login-account', points: 100, duration: 3600 },
    ])
  })

  it('counts for two processes together', async () => {
    const store = fakeStore()
    const one = createThrottle({ limiter: store.limiter })
    const two = createThrottle({ limiter: store.limiter })
    expect((await guesses(one, 7)) + (await guesses(two, 7))).toBe(10)
    await expect(two.spend('alice@example.com', '192.0.2.1', silent)).rejects.toMatchObject({
      headers: { 'Retry-After': '5' },
    })
    expect(await guesses(two, 1, 'alice@example.com', '203.0.113.7')).toBe(1)
  })

  it('never sees an e-mail address or a network address', async () => {
    const store = fakeStore()
    await createThrottle({ limiter: store.limiter }).spend('alice@example.com', '192.0.2.1', silent)
    expect([...store.counts.keys()]).toHaveLength(3)
    for (const key of store.counts.keys()) expect(key).toMatch(/^login-\w+[\w-]{22}$/)
  })

  it('is not asked about what memory refuses already', async () => {
    const store = fakeStore()
    const throttle = createThrottle({ limiter: store.limiter })
    await guesses(throttle, 10)
    const { asked } = store
    await guesses(throttle, 1000)
    expect(store.asked).toBe(asked)
  })

  it('gets its points back from a login that went well, and from one that it refused', async () => {
    const store = fakeStore()
    const throttle = createThrottle({ limiter: store.limiter, budgets: { account: { points: 3, duration: '1h' } } })
    for (let i = 0; i < 20; i++) (await throttle.spend('alice@example.com', '192.0.2.1', silent)).giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect([...store.counts.values()]).toEqual([0, 0, 0])
  })

  it('that refuses counts what it refuses: that is given back at once, and nothing of the others’', async () => {
    const store = fakeStore()
    const budgets = { address: false, pair: { points: 10, duration: 2 }, account: false } as const
    const [one, two] = [
      createThrottle({ limiter: store.limiter, budgets }),
      createThrottle({ limiter: store.limiter, budgets }),
    ]
    const held = await Promise.all(
      Array.from({ length: 10 }, () => one.spend('alice@example.com', '192.0.2.1', silent)),
    )
    expect(await guesses(two, 10)).toBe(0)
    await vi.advanceTimersByTimeAsync(0)
    expect([...store.counts.values()]).toEqual([10])
    for (const spent of held) spent.giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect([...store.counts.values()]).toEqual([0])
    expect(await guesses(two, 20)).toBe(10)
  })

  it('is given nothing back of a window that is over', async () => {
    const store = fakeStore()
    const throttle = createThrottle({ limiter: store.limiter, budgets: { pair: { points: 10, duration: 2 } } })
    const spend = () => throttle.spend('alice@example.com', '192.0.2.1', silent)
    const [late, inTime] = [await spend(), await spend()]
    const pair = [...store.counts.keys()].find((key) => key.startsWith('login-pair')) as string
    vi.advanceTimersByTime(1899)
    inTime.giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect(store.counts.get(pair)).toBe(1)
    await vi.advanceTimersByTimeAsync(101)
    store.counts.delete(pair) // as a store does when a window is over
    late.giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect(store.counts.get(pair)).toBeUndefined()
    expect([...store.counts.values()]).toEqual([0, 0])
  })

  it('that fails is told of once, rests for a second, and is used again when it is back', async () => {
    const store = fakeStore()
    const throttle = createThrottle({ limiter: store.limiter })
    const failures: unknown[] = []
    const guess = () => throttle.spend('alice@example.com', '192.0.2.1', (error) => failures.push(error))
    await guess()
    store.mode = 'down'
    for (let i = 0; i < 5; i++) await guess()
    expect(failures).toEqual([new Error('connection refused')])
    expect(store.asked).toBe(4)
    store.mode = 'up'
    vi.advanceTimersByTime(999)
    await guess()
    expect(store.asked).toBe(4)
    vi.advanceTimersByTime(1)
    await guess()
    expect(store.asked).toBe(7)
    expect(failures).toHaveLength(1)
  })

  it('that fails leaves the budgets as this process has seen them, neither open nor closed', async () => {
    const store = fakeStore()
    const throttle = createThrottle({ limiter: store.limiter })
    expect(await guesses(throttle, 6)).toBe(6)
    store.mode = 'down'
    expect(await guesses(throttle, 100)).toBe(4)
  })

  it('that hangs holds a login up for 40 ms, all three budgets together, and the next ones not at all', async () => {
    const store = fakeStore()
    store.mode = 'hangs'
    const throttle = createThrottle({ limiter: store.limiter })
    const failures: unknown[] = []
    const before = performance.now()
    const first = throttle.spend('alice@example.com', '192.0.2.1', (error) => failures.push(error))
    await vi.advanceTimersByTimeAsync(39)
    expect(failures).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await first
    expect(performance.now() - before).toBe(40)
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('40 ms') })])
    await throttle.spend('alice@example.com', '192.0.2.1', silent)
    expect(performance.now() - before).toBe(40)
  })

  it('that answers late does no harm: a login that went well gets its points back all the same', async () => {
    const store = fakeStore()
    store.mode = 'hangs'
    const throttle = createThrottle({ limiter: store.limiter })
    const spending = throttle.spend('alice@example.com', '192.0.2.1', silent)
    await vi.advanceTimersByTimeAsync(40)
    ;(await spending).giveBack()
    for (const answer of store.late) answer()
    await vi.advanceTimersByTimeAsync(0)
    expect([...store.counts.values()]).toEqual([0])
  })

  it('that fails for several logins at once is told of once', async () => {
    const store = fakeStore()
    store.mode = 'down'
    const throttle = createThrottle({ limiter: store.limiter })
    const failed = vi.fn()
    await Promise.all(Array.from({ length: 5 }, (_, i) => throttle.spend(`user${i}@example.com`, '192.0.2.1', failed)))
    expect(failed.mock.calls).toEqual([[new Error('connection refused')]])
  })

  /** Creates a throttle with one limit, whose limiter calls `consume`. */
  function answering(consume: () => Promise<unknown>) {
    const reward = vi.fn(async () => {})
    const budgets = { address: false, pair: { points: 10, duration: '1h' }, account: false } as const
    const throttle = createThrottle({ limiter: () => ({ consume, reward }), budgets })
    const failed = vi.fn()
    return { spend: () => throttle.spend('alice@example.com', '192.0.2.1', failed), reward, failed }
  }

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'no'],
    ['an object without a time', {}],
    ['a time as text', { msBeforeNext: '5000' }],
  ])('that rejects with %s has failed, and refuses nobody', async (_, outcome) => {
    const { spend, reward, failed } = answering(() => Promise.reject(outcome))
    ;(await spend()).giveBack()
    expect(failed.mock.calls).toEqual([[outcome]])
    await vi.advanceTimersByTimeAsync(0)
    expect(reward).not.toHaveBeenCalled()
  })

  it('that refuses late has counted it all the same: a login that went well gets its point back', async () => {
    let refuse = (_: unknown) => {}
    const { spend, reward } = answering(
      () =>
        new Promise((_, reject) => {
          refuse = reject
        }),
    )
    const spending = spend()
    await vi.advanceTimersByTimeAsync(40)
    ;(await spending).giveBack()
    expect(reward).not.toHaveBeenCalled()
    refuse({ msBeforeNext: 5000, consumedPoints: 11 })
    await vi.advanceTimersByTimeAsync(0)
    expect(reward).toHaveBeenCalledOnce()
  })

  it('that answers some is waited for, also by those whose answer is late', async () => {
    const answers: ((value: unknown) => void)[] = []
    const { spend, failed } = answering(() => new Promise((resolve) => answers.push(resolve)))
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
    const answers: ((value: unknown) => void)[] = []
    const { spend, failed } = answering(() => new Promise((resolve) => answers.push(resolve)))
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
    const answers: ((value: unknown) => void)[] = []
    const { spend } = answering(() => new Promise((resolve) => answers.push(resolve)))
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

  it('that throws instead of rejecting is a failure like any other', async () => {
    const failures: unknown[] = []
    const throttle = createThrottle({
      limiter: () => ({
        consume() {
          throw new Error('not connected')
        },
        reward: () => Promise.resolve(),
      }),
    })
    const spent = await throttle.spend('alice@example.com', '192.0.2.1', (error) => failures.push(error))
    expect(failures).toEqual([new Error('not connected')])
    expect(() => spent.giveBack()).not.toThrow()
  })
})
