// Tests limits/{attempt,limit}.ts

import { createLimits, type Limiter, type LimiterOptions, type LimitsOptions } from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LimitsPort, NO_LIMITS } from '../../../src/limits/attempt.js'
import { createLoginLimit } from '../../../src/limits/limit.js'
import { sharedLimit } from '../../../src/limits/shared-limit.js'
import { sharedStore as ownState } from '../../../src/limits/shared-store.js'
import { deferred, withMaps } from '../../support/concurrency.js'
import { expectMisuse } from '../../support/failures.js'

const MINUTE = 60_000
const silent = () => {}
const ALICE = ['alice@example.com', '192.0.2.1', silent] as const

/** Makes guesses one after the other, which fail. Returns the number of allowed guesses. */
async function guesses(
  limits: ReturnType<typeof createLimits>,
  count: number,
  email: (i: number) => string = () => ALICE[0],
  address: (i: number) => string = () => ALICE[1],
): Promise<number> {
  let through = 0
  for (let i = 0; i < count; i++) {
    try {
      await (await limits.consume(email(i), address(i), silent)).end('failed')
      through++
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_many_attempts', status: 429 })
    }
  }
  return through
}

/** The limits as a login calls them. */
const portOf = (limits: ReturnType<typeof createLimits>) => limits as unknown as LimitsPort
/** Creates an attempt, which has not begun. */
const attemptOf = (limits: ReturnType<typeof createLimits>, email: string = ALICE[0], address: string = ALICE[1]) =>
  portOf(limits).attempt({ email, address }, silent)

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
    const limits = createLimits()
    expect(await guesses(limits, 5)).toBe(5)
    vi.advanceTimersByTime(14 * MINUTE)
    expect(await guesses(limits, 20)).toBe(5)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ limit: 'pair', headers: { 'Retry-After': '60' } })
    vi.advanceTimersByTime(MINUTE - 1)
    expect(await guesses(limits, 1)).toBe(0)
    vi.advanceTimersByTime(2)
    expect(await guesses(limits, 200)).toBe(10)
  })

  it.each([
    ['from one address, whatever the account', 'address', userOf, undefined],
    ['for one account, whatever the address', 'account', undefined, addressOf],
  ] as const)('let 100 failures through in an hour %s', async (_, limit, email, address) => {
    const limits = createLimits()
    expect(await guesses(limits, 300, email, address)).toBe(100)
    const refusal = { limit, headers: { 'Retry-After': '3600' } }
    await expect(limits.consume(email?.(500) ?? ALICE[0], address?.(500) ?? ALICE[1], silent)).rejects.toMatchObject(
      refusal,
    )
    expect(await guesses(limits, 1, bob, () => '203.0.113.7')).toBe(1)
    vi.advanceTimersByTime(60 * MINUTE + 1)
    expect(await guesses(limits, 1, email, address)).toBe(1)
  })

  it('do not let one address lock the owner of an account out from another', async () => {
    const limits = createLimits()
    for (let hour = 0; hour < 4; hour++) {
      await guesses(limits, 10_000 / 4)
      expect(await guesses(limits, 1, undefined, () => '203.0.113.7')).toBe(1)
      vi.advanceTimersByTime(15 * MINUTE)
    }
  })

  it('count guesses made all at once', async () => {
    const limits = createLimits()
    const begin = () => limits.consume(...ALICE)
    const results = await Promise.allSettled(Array.from({ length: 500 }, begin))
    const spent = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(spent).toHaveLength(10)
    // They are not failures yet, so the others are not refused for the rest of the window.
    for (const attempt of spent.slice(1)) {
      await expect(begin()).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
      await attempt.end('failed')
    }
    spent[0]?.end('succeeded')
    expect(await guesses(limits, 200)).toBe(1)
  })

  it('end an attempt once, however often it is given back or fails', async () => {
    const limits = createLimits()
    const [right, wrong, pending] = await Promise.all([1, 2, 3].map(() => limits.consume(...ALICE)))
    for (let i = 0; i < 50; i++) {
      right?.end('succeeded')
      await right?.end('failed')
      await wrong?.end('failed')
      wrong?.end('succeeded')
    }
    expect(await guesses(limits, 8)).toBe(8)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    // A queue may ask a login too late.
    const late = attemptOf(limits, ALICE[0], '192.0.2.2')
    late.end('succeeded')
    expect(late.begin()).toBe(false)
    pending?.end('succeeded')
    expect(await guesses(limits, 200)).toBe(1)
  })

  it('count an attempt that begins twice as one', async () => {
    const limits = createLimits()
    const one = attemptOf(limits)
    expect([one.begin(), one.begin()]).toEqual([true, true])
    one.end('succeeded')
    expect(await guesses(limits, 200)).toBe(10)
  })

  it.each([-24, 24])('do not mind a wall clock that is set by %i hours', async (hours) => {
    const limits = createLimits()
    expect(await guesses(limits, 20)).toBe(10)
    vi.setSystemTime(Date.now() + hours * 60 * MINUTE)
    expect(await guesses(limits, 20)).toBe(0)
    vi.advanceTimersByTime(15 * MINUTE + 1)
    expect(await guesses(limits, 20)).toBe(10)
  })
})

describe('a check before the attempt', () => {
  const ONE = { points: 1, duration: '1h' }
  const OFF = { address: false, pair: false, account: false } as const

  it.each(['address', 'pair', 'account'] as const)('refuses what is known to be used up: %s', async (limit) => {
    const limits = createLimits({ limits: { ...OFF, [limit]: ONE } })
    // A name that counts as an empty one locks no address out.
    const name = ' \u200b'
    const check = async () => attemptOf(limits, name).check()
    await check()
    expect(await guesses(limits, 1, () => name)).toBe(1)
    const refusal = {
      code: 'too_many_attempts',
      status: 429,
      limit,
      headers: expect.objectContaining({ 'Retry-After': '3600' }),
    }
    await expect(check()).rejects.toMatchObject(refusal)
    const checkAddress = () => portOf(limits).checkAddress('192.0.2.1')
    if (limit === 'address') expect(checkAddress).toThrow(expect.objectContaining(refusal))
    else expect(checkAddress).not.toThrow()
    vi.advanceTimersByTime(60 * MINUTE + 1)
    await check()
  })

  it('counts no attempt', async () => {
    const limits = createLimits()
    for (let i = 0; i < 200; i++) await attemptOf(limits).check()
    expect(await guesses(limits, 200)).toBe(10)
  })
})

describe('attempts that end without a failure', () => {
  it.each(['succeeded', 'not_checked', 'disconnected'] as const)(
    'push no failure out of memory: %s',
    async (outcome) => {
      const limits = createLimits({ limits: { address: { points: 1_000_000, duration: '1h' } } })
      expect(await guesses(limits, 10)).toBe(10)
      for (let i = 0; i < 60_001; i++) {
        if (i % 200 === 199) vi.advanceTimersByTime(1001)
        ;(await limits.consume(`user${i}@example.com`, '192.0.2.2', silent)).end(outcome)
      }
      expect(await guesses(limits, 1)).toBe(0)
    },
  )

  it('are no failures, also when their client has disconnected', async () => {
    const once = { points: 1, duration: '1h' }
    const limits = createLimits({ limits: { address: once, pair: once, account: once } })
    for (let i = 0; i < 3; i++) (await limits.consume(...ALICE)).end('disconnected')
    expect(await guesses(limits, 2)).toBe(1)
  })

  it('refuse their network for the rest of a second after 200 disconnects', async () => {
    const limits = createLimits()
    const overloaded = expect.objectContaining({ code: 'overloaded' })
    const disconnect = async (email: string) => (await limits.consume(email, '192.0.2.1', silent)).end('disconnected')
    for (let i = 0; i < 200; i++) await disconnect(`user${i}@example.com`)
    await expect(disconnect('user200@example.com')).rejects.toEqual(overloaded)
    expect(() => portOf(limits).checkAddress('192.0.2.1')).toThrow(overloaded)
    expect(() => portOf(limits).checkAddress('192.0.2.2')).not.toThrow()
    vi.advanceTimersByTime(1001)
    expect(() => portOf(limits).checkAddress('192.0.2.1')).not.toThrow()
    expect(await guesses(limits, 20)).toBe(10)
  })

  it('count as one disconnect, however often they are given back, and as none before they begin', async () => {
    const limits = createLimits()
    for (let i = 0; i < 199; i++) {
      const spent = await limits.consume(...ALICE)
      for (let twice = 0; twice < 2; twice++) spent.end('disconnected')
      attemptOf(limits).end('disconnected')
    }
    expect(() => portOf(limits).checkAddress('192.0.2.1')).not.toThrow()
  })

  it('begin no window, and leave the next one as it is', async () => {
    const limits = createLimits({ limits: { pair: { points: 10, duration: 2 }, address: false, account: false } })
    const old = await Promise.all(Array.from({ length: 10 }, () => limits.consume(...ALICE)))
    vi.advanceTimersByTime(1999)
    for (const spent of old.slice(0, 4)) spent.end('succeeded')
    expect(await guesses(limits, 4)).toBe(4)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    vi.advanceTimersByTime(1999)
    for (const spent of old) spent.end('succeeded')
    expect(await guesses(limits, 20)).toBe(6)
    vi.advanceTimersByTime(2)
    expect(await guesses(limits, 20)).toBe(10)
  })

  it('are refused in one limit without being under way in another', async () => {
    const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
    const held = await limits.consume(ALICE[0], '192.0.2.2', silent)
    for (let i = 0; i < 20; i++) expect(attemptOf(limits).begin()).toBe(false)
    held.end('succeeded')
    expect(await guesses(limits, 1)).toBe(1)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ limit: 'account' })
  })
})

describe('limits that are set', () => {
  it('are kept, and those that are false are left out', async () => {
    const limits = createLimits({
      limits: { pair: { points: 3, duration: '10s' }, address: false, account: { points: 5, duration: 20 } },
    })
    expect(await guesses(limits, 10)).toBe(3)
    expect(await guesses(limits, 10, undefined, addressOf)).toBe(2)
    expect(await guesses(limits, 500, userOf)).toBe(500)
  })

  const oneOf = (limit: string, size: object) => ({ limits: { [limit]: size } })
  it.each<[string, unknown, string]>([
    ['the name "budget"', { budget: {} }, 'createLimits: unknown option "budget". Did you mean "limits"?'],
    ['the name "budgets"', { budgets: {} }, 'createLimits: unknown option "budgets". Did you mean "limits"?'],
    ['a limit as an option', { pair: {} }, 'createLimits: unknown option "pair". Did you mean "limits"?'],
    ...['points', 'max', 'windowMs', 'duration'].map((name): [string, object, string] => [
      `the option "${name}" of other packages`,
      { [name]: 5 },
      `createLimits: unknown option "${name}". Pass limits: { pair: { points: 10, duration: '15m' } }`,
    ]),
    ['the name "store"', { store: silent }, 'createLimits: unknown option "store". Did you mean "limiter"?'],
    ['"ip"', oneOf('ip', {}), 'createLimits: option "limits": unknown option "ip". Known options: address'],
    [
      'the name "spraying"',
      { spraying: true },
      'unknown option "spraying". Remove it, because limits no longer compare passwords',
    ],
    ['true', { limits: { pair: true } }, 'option "pair" must be { points, duration } or false'],
    ['no points', oneOf('pair', { duration: 1 }), 'createLimits: option "limits.pair": option "points" must be'],
    ['no points for an address', oneOf('address', { duration: 1 }), '"limits.address": option "points" must be'],
    ['no points for an account', oneOf('account', { duration: 1 }), '"limits.account": option "points" must be'],
    [
      'no points at all',
      oneOf('pair', { points: 0, duration: 1 }),
      'a number of failures, a whole number from 1 to 1000000',
    ],
    ['a limiter that is no function', { limiter: {} }, 'option "limiter" must be a function (options) => limiter'],
    ['a factory that returns no limiter', { limiter: silent }, 'returned must be a rate-limiter-flexible'],
    ...['consume', 'get', 'delete'].map((name): [string, object, string] => [
      `a limiter without ${name}`,
      { limiter: () => ({ consume() {}, get() {}, delete() {}, [name]: undefined }) },
      'It has "consume", "get" and "delete"',
    ]),
  ])('are a TypeError that names the mistake: %s', (_, options, message) => {
    expectMisuse(() => createLimits(options as LimitsOptions), message)
  })
})

/** Creates a shared store for several processes, which can fail, hang, and count its calls. */
function sharedStore() {
  const limiters = new Map<string, RateLimiterMemory>()
  const store = {
    made: [] as LimiterOptions[],
    calls: [] as string[],
    mode: 'up' as 'up' | 'down' | 'hangs' | 'no deletes',
    holds: undefined as { name: string; reach(): void; until: Promise<void> } | undefined,
    /** Holds reads back before the store executes them, and failures before its response, until they are released. */
    hold(name: string) {
      const [reached, released] = [deferred<void>(), deferred<void>()]
      store.holds = { name, reach: () => reached.resolve(), until: released.promise }
      return { reached: reached.promise, release: () => released.resolve() }
    },
    /** Loses all counts, as a store without persistence that starts anew. */
    forget: () => limiters.clear(),
    async countOf(name: string): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (const call of store.calls) {
        const [, own = ''] = call.split(` login-${name}:`)
        const found = own && (await limiters.get(`login-${name}`)?.get(own))
        if (found && !own.includes(':')) counts[own] = found.consumedPoints
      }
      return counts
    },
    limiter(options: LimiterOptions): Limiter {
      store.made.push(options)
      const current = () => {
        const one = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
        limiters.set(options.keyPrefix, one)
        return one
      }
      const call = async (name: string, key: string, run: () => Promise<unknown>): Promise<unknown> => {
        store.calls.push(`${name} ${options.keyPrefix}:${key}`)
        if (store.mode === 'down' || (store.mode === 'no deletes' && name === 'delete'))
          throw new Error('connection refused')
        if (store.mode === 'hangs') await new Promise(() => {})
        const before = store.holds?.name === name && name === 'get' ? store.holds : undefined
        before?.reach()
        await before?.until
        const result = await run()
        const after = store.holds?.name === name && name === 'consume' ? store.holds : undefined
        after?.reach()
        await after?.until
        return result
      }
      return {
        consume: (key) => call('consume', key, () => current().consume(key)),
        get: (key) => call('get', key, () => current().get(key)),
        delete: (key) => call('delete', key, () => current().delete(key)),
      }
    },
  }
  return store
}

describe('a shared store', () => {
  const PAIR = { address: false, pair: { points: 10, duration: 900 }, account: false } as const
  const settle = () => vi.advanceTimersByTimeAsync(0)

  /** Creates a store and two processes that count in it. */
  function twoProcesses(limits: LimitsOptions['limits'] = PAIR) {
    const store = sharedStore()
    const processOn = () => createLimits({ limiter: store.limiter, limits })
    return { store, one: processOn(), two: processOn() }
  }

  it('is given the options of a limiter for each budget', () => {
    const store = sharedStore()
    createLimits({ limiter: store.limiter })
    createLimits({ limiter: store.limiter, limits: { ...PAIR, pair: { points: 3, duration: '1500 ms' } } })
    expect(store.made).toEqual([
      { keyPrefix: 'login-address', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 10, duration: 900 },
      { keyPrefix: 'login-account', points: 100, duration: 3600 },
      { keyPrefix: 'login-pair', points: 3, duration: 2 },
    ])
  })

  /** Begins all attempts that have room, and returns them. */
  async function begun(count: number, consume: (i: number) => ReturnType<typeof one.consume>) {
    const all = Array.from({ length: count }, (_, i) => consume(i))
    return (await Promise.allSettled(all)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }
  const one = createLimits()

  it('counts each failure once, at the key of the address and at that of the account', async () => {
    const { store, one, two } = twoProcesses()
    for (const [i, process] of [one, two, one].entries()) {
      const attempt = await process.consume(...ALICE, { accountId: 'a1' })
      await attempt.end(i === 2 ? 'succeeded' : 'failed')
    }
    expect(Object.values(await store.countOf('pair'))).toEqual([2, 2])
    expect((await guesses(one, 9)) + (await guesses(two, 9))).toBe(8)
  })

  it('lets each process begin ten at once, and after the first failure one', async () => {
    const { one, two } = twoProcesses()
    for (const process of [one, two]) {
      const attempts = await begun(60, () => process.consume(...ALICE))
      expect(attempts).toHaveLength(10)
      for (const attempt of attempts) await attempt.end('succeeded')
    }
    expect(await guesses(one, 1)).toBe(1)
    for (const process of [one, two]) {
      const attempts = await begun(60, () => process.consume(...ALICE))
      expect(attempts).toHaveLength(1)
      await attempts[0]?.end('succeeded')
    }
    // The limits of an address and of an account stay wide.
    const wide = twoProcesses({ pair: false }).one
    expect(await guesses(wide, 1)).toBe(1)
    expect(await begun(60, () => wide.consume(...ALICE))).toHaveLength(60)
  })

  it('keeps the room of a failure until the store has counted it', async () => {
    const { store, one } = twoProcesses()
    expect(await guesses(one, 1)).toBe(1)
    const wrong = await one.consume(...ALICE)
    store.mode = 'hangs'
    const ended = wrong.end('failed')
    const next = attemptOf(one)
    expect(next.begin()).toBe(false)
    await vi.advanceTimersByTimeAsync(50)
    await ended
    expect(next.begin()).toBe(true)
  })

  it('lets a login wait that had begun when other processes counted failures', async () => {
    const { one, two } = twoProcesses()
    const [first, second] = [attemptOf(one), attemptOf(one)]
    expect([first.begin(), second.begin()]).toEqual([true, true])
    expect(await guesses(two, 1)).toBe(1)
    expect(await first.admit('a1')).toBe('waits')
    expect(await second.admit('a1')).toBe('admitted')
    expect(first.begin()).toBe(false)
    await second.end('succeeded')
    expect(first.begin()).toBe(true)
    expect(await first.admit('a1')).toBe('admitted')
    await first.end('failed')
    expect((await guesses(one, 20)) + (await guesses(two, 20))).toBe(8)
  })

  it('refuses an attempt of a custom route that has to wait', async () => {
    const { store, one, two } = twoProcesses()
    const held = await one.consume(...ALICE)
    const read = store.hold('get')
    const waiting = one.consume(...ALICE)
    await read.reached
    store.holds = undefined
    expect(await guesses(two, 1)).toBe(1)
    read.release()
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
    held.end('succeeded')
  })

  it('is called in two round trips for an attempt, and once more for a failure', async () => {
    const { store, one, two } = twoProcesses()
    const callsOf = async (run: () => Promise<unknown>) => {
      store.calls.length = 0
      await run()
      await settle()
      return store.calls.map((call) => call.split(' ')[0]).join(' ')
    }
    // The failures and the last reset: of the address, then of the address and of the account.
    const reads = 'get get get get get get'
    expect(await callsOf(async () => (await one.consume(...ALICE)).end('succeeded'))).toBe(reads)
    expect(await callsOf(() => guesses(one, 1))).toBe(`${reads} consume consume`)
    await guesses(one, 9)
    expect(await callsOf(() => guesses(two, 1))).toBe('get get')
  })

  it('is read once for simultaneous logins', async () => {
    const { store, one } = twoProcesses()
    await guesses(one, 10)
    store.calls.length = 0
    await Promise.all(Array.from({ length: 300 }, () => guesses(one, 1)))
    expect(store.calls).toHaveLength(2)
    expect(await guesses(one, 1)).toBe(0)
    expect(store.calls).toHaveLength(4)
  })

  it('knows a limit that another process reached while a password was checked', async () => {
    const { one, two } = twoProcesses()
    const spent = await two.consume(...ALICE)
    expect(await guesses(one, 9)).toBe(9)
    await spent.end('failed')
    for (const process of [one, two]) expect(await guesses(process, 1)).toBe(0)
  })

  it('whose response comes before that of a later failure counts no failure twice', async () => {
    const { store, one } = twoProcesses({ pair: { points: 3, duration: 900 }, address: false, account: false })
    const [first, second] = await Promise.all([one.consume(...ALICE), one.consume(...ALICE)])
    const counting = store.hold('consume')
    const ended = [first?.end('failed'), second?.end('failed')]
    await counting.reached
    await attemptOf(one).check()
    counting.release()
    await Promise.all(ended)
    expect(await guesses(one, 9)).toBe(1)
  })

  it('that tells of more failures than memory, or has lost them, counts as it says', async () => {
    const { store, one, two } = twoProcesses()
    expect(await guesses(one, 4)).toBe(4)
    expect(await guesses(two, 3)).toBe(3)
    store.forget()
    expect((await guesses(one, 20)) + (await guesses(two, 20))).toBe(10)
  })

  it('does not lower what memory has counted while the store was down', async () => {
    const { store, one, two } = twoProcesses()
    expect(await guesses(one, 2)).toBe(2)
    store.mode = 'down'
    expect(await guesses(one, 3)).toBe(3)
    store.mode = 'up'
    vi.advanceTimersByTime(1000)
    expect(await guesses(one, 20)).toBe(5)
    // It has counted the others.
    expect(await guesses(two, 20)).toBe(3)
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
    const limiter = (options: LimiterOptions) => ({
      ...store.limiter(options),
      consume: () => Promise.reject(new Error('read only')),
    })
    const other = createLimits({ limiter, limits: PAIR })
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
    expect(store.calls).toHaveLength(asked)
    vi.advanceTimersByTime(1)
    await guess()
    expect(store.calls.slice(asked).filter((call) => call.startsWith('consume'))).toHaveLength(5)
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
    expect(failed.mock.calls).toEqual([[new Error('limits: the store did not respond for 40 ms')]])
  })

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

  it('that answers other calls, but one call never, is given up for that call after a second', async () => {
    const { consume, answers, failed } = answering()
    const unanswered = consume()
    for (let i = 1; i <= 50; i++) {
      const other = consume()
      await vi.advanceTimersByTimeAsync(20)
      answers[i]?.(undefined)
      await other
    }
    expect(failed.mock.calls).toEqual([[new Error('limits: the store did not respond for 1000 ms')]])
    await unanswered
  })

  it('that fails counts a failure in memory, and keeps no attempt under way, although the observer throws', async () => {
    const { store, one } = twoProcesses({ ...PAIR, pair: { points: 3, duration: 900 } })
    const throwing = () => {
      throw new Error('of the host')
    }
    const attempt = await one.consume(ALICE[0], ALICE[1], throwing)
    store.mode = 'down'
    await attempt.end('failed')
    expect(await guesses(one, 5)).toBe(2)
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

  /** Creates limits with one limit, whose limiter responds when the test lets it. */
  function answering() {
    const answers: ((value: unknown) => void)[] = []
    const get = () => new Promise((resolve) => answers.push(resolve))
    const limiter = () => ({ get, consume: get, delete: get })
    const limits = createLimits({ limiter, limits: { ...PAIR, pair: false, account: PAIR.pair } })
    const failed = vi.fn()
    // Each has its own account, because simultaneous reads of one key are one call.
    const check = async () =>
      portOf(limits)
        .attempt({ email: `${answers.length}`, address: ALICE[1] }, failed)
        .check()
    return { consume: check, answers, failed }
  }
})

describe('reset', () => {
  const sizes = {
    address: { points: 40, duration: '1h' },
    pair: { points: 2, duration: '15m' },
    account: { points: 3, duration: '1h' },
  }
  const at = (address: string) => () => address
  const RESET = { id: 'a1', email: ALICE[0] }
  /** Fails from both addresses until both limits of the account are reached. */
  async function lockOut(limits: ReturnType<typeof createLimits>) {
    expect(await guesses(limits, 5, undefined, at('192.0.2.1'))).toBe(2)
    expect(await guesses(limits, 5, undefined, at('192.0.2.2'))).toBe(1)
    vi.advanceTimersByTime(1000)
  }

  it('lifts the limits of one account from all addresses, in each spelling, and no other limit', async () => {
    const limits = createLimits({ limits: { ...sizes, address: { points: 4, duration: '1h' } } })
    await lockOut(limits)
    expect(await guesses(limits, 5, bob, at('192.0.2.3'))).toBe(2)
    await limits.reset({ ...RESET, email: ' ALICE@\u200bExample.com' })
    expect(await guesses(limits, 5, bob, at('192.0.2.3'))).toBe(0)
    expect(await guesses(limits, 5, undefined, at('192.0.2.1'))).toBe(2)
    await limits.reset(RESET)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ limit: 'address' })
  })

  it('keeps the attempts that are under way, and counts those that fail', async () => {
    const limits = createLimits({ limits: sizes })
    const [first, second] = [await limits.consume(...ALICE), await limits.consume(...ALICE)]
    await limits.reset(RESET)
    await expect(limits.consume(...ALICE)).rejects.toMatchObject({ code: 'overloaded' })
    await first.end('failed')
    second.end('succeeded')
    expect(await guesses(limits, 5)).toBe(1)
  })

  it.each([0, 1, 2])('lifts them in all processes that share a store, once, when process %i resets', async (at) => {
    const store = sharedStore()
    const processes = [0, 1, 2].map(() => createLimits({ limiter: store.limiter, limits: sizes }))
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let round = 0; round < 3; round++) {
      await lockOut(one)
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.9']) {
        expect(await guesses(two, 1, undefined, () => address)).toBe(0)
      }
      store.calls.length = 0
      await processes[at]?.reset(RESET)
      expect(store.calls.filter((call) => call.includes('login-address'))).toEqual([])
      vi.advanceTimersByTime(1000)
      expect(await guesses(two, 2, undefined, () => '192.0.2.1')).toBe(2)
      expect(await guesses(two, 3, undefined, () => '192.0.2.1')).toBe(0)
      expect(await guesses(one, 5, undefined, () => '192.0.2.2')).toBe(1)
      expect(await guesses(two, 5, undefined, () => '192.0.2.2')).toBe(0)
      const restarted = createLimits({ limiter: store.limiter, limits: sizes })
      expect(await guesses(restarted, 1, undefined, () => '192.0.2.2')).toBe(0)
      vi.advanceTimersByTime(1)
      await processes[at]?.reset(RESET)
      vi.advanceTimersByTime(1000)
    }
    expect(await guesses(one, 50, userOf, () => '192.0.2.1')).toBe(28)
    await processes[at]?.reset(RESET)
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
    ['ends 20 s late, as the clock of the resetting process', 3, (one) => withEnd(one.msBeforeNext + 20_000)],
    ['ends 20 s early', 3, (one) => withEnd(one.msBeforeNext - 20_000)],
    ['has no end', 3, () => ({ consumedPoints: 1 })],
    ['has an end that is not known', 3, () => withEnd(-1)],
    ['never ends', 3, () => withEnd(Number.POSITIVE_INFINITY)],
    ['is refused', 6, (one) => Promise.reject(one)],
    ['is read late', 6, late],
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
    const processOn = () => createLimits({ limiter, limits: { pair: { points: 3, duration: '1h' }, account: false } })
    const one = processOn()
    let all = await guesses(one, 9)
    vi.advanceTimersByTime(1000)
    // It does not know the address, so only its mark lifts the limit.
    await processOn().reset(RESET)
    for (let round = 0; round < 9; round++) {
      vi.advanceTimersByTime(1000)
      all += await guesses(one, 9)
    }
    expect(all).toBe(passed)
  })

  it('allows exactly the limit again for an account that another process has counted', async () => {
    const store = sharedStore()
    const processOn = () => createLimits({ limiter: store.limiter, limits: { pair: false, account: sizes.account } })
    const one = processOn()
    expect(await guesses(one, 2)).toBe(2)
    vi.advanceTimersByTime(1000)
    await processOn().reset(RESET)
    expect(await guesses(one, 10)).toBe(3)
  })

  it('lifts a limit that this process has reached at the same moment', async () => {
    const limits = createLimits({ limiter: sharedStore().limiter, limits: sizes })
    expect(await guesses(limits, 5)).toBe(2)
    await limits.reset(RESET)
    expect(await guesses(limits, 5)).toBe(2)
  })

  it('does not lift a limit of the store that cannot be removed there', async () => {
    const store = sharedStore()
    const [one, two] = [0, 1].map(() => createLimits({ limiter: store.limiter, limits: { ...sizes, account: false } }))
    expect(await guesses(one as typeof two & {}, 5)).toBe(2)
    vi.advanceTimersByTime(1000)
    await two?.reset(RESET)
    store.mode = 'no deletes'
    const three = createLimits({ limiter: store.limiter, limits: { ...sizes, account: false } })
    await expect(three.consume(...ALICE)).rejects.toMatchObject({ limit: 'pair' })
    store.mode = 'up'
    vi.advanceTimersByTime(1000)
    expect(await guesses(createLimits({ limiter: store.limiter, limits: { ...sizes, account: false } }), 5)).toBe(2)
  })

  it.each([
    ['down', 'connection refused'],
    ['hangs', 'no result within 5000 ms'],
  ] as const)('lifts them in this process, and rejects, while the store is %s', async (mode, cause) => {
    const store = sharedStore()
    const limits = createLimits({ limiter: store.limiter, limits: sizes })
    await lockOut(limits)
    store.mode = mode
    const reset = expect(limits.reset(RESET)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^limits\.reset: the shared store failed.* Call reset again when the store works\.$/,
      ),
      cause: { message: cause },
    })
    await vi.advanceTimersByTimeAsync(5000)
    await reset
    const spending = limits.consume(...ALICE)
    await vi.advanceTimersByTimeAsync(50)
    ;(await spending).end('succeeded')
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an address', ALICE[0]],
    ['no id', { email: ALICE[0] }],
    ['an empty id', { ...RESET, id: '' }],
    ['no address', { id: 'a1' }],
    ['an empty address', { ...RESET, email: '' }],
    ['an address that is too long', { ...RESET, email: 'a'.repeat(321) }],
    ['an empty tenant', { ...RESET, tenant: '' }],
    ['a tenant that is no text', { ...RESET, tenant: 7 }],
  ])('rejects what is no account: %s', async (_, account) => {
    await createLimits().reset({ ...RESET, email: 'a'.repeat(320), tenant: undefined })
    const message = expect.stringContaining('limits.reset: pass the { id, email } of an account')
    const reset = createLimits().reset(account as typeof RESET)
    await expect(reset).rejects.toMatchObject({ constructor: TypeError, message })
  })

  it('lifts the limits of the account, with all its spellings, and only of its tenant', async () => {
    const limits = createLimits({ limits: { ...sizes, address: false, pair: false } })
    const about = { accountId: 'a1', tenant: 'north' }
    const fail = async (email: string, own: object = about) =>
      (await limits.consume(email, ALICE[1], silent, own)).end('failed')
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) await fail(email)
    await expect(fail('d@example.com')).rejects.toMatchObject({ limit: 'account' })
    await fail('d@example.com', { ...about, tenant: 'south' })
    for (const tenant of [undefined, 'south']) {
      await limits.reset({ id: 'a1', email: 'a@example.com', tenant })
      await expect(fail('d@example.com')).rejects.toMatchObject({ limit: 'account' })
    }
    await limits.reset({ id: 'a1', email: 'a@example.com', tenant: 'north' })
    await fail('d@example.com')
  })
})

describe('the second key, of the account', () => {
  const PAIR = { address: false, pair: { points: 3, duration: '15m' }, account: false } as const
  const about = { accountId: 'a1' }
  /** Begins an attempt, and returns it with its admission. */
  async function admitted(limits: ReturnType<typeof createLimits>, email: string, id: string | undefined) {
    const attempt = attemptOf(limits, email)
    expect(attempt.begin()).toBe(true)
    return { attempt, admission: await attempt.admit(id) }
  }

  it('gives no more guesses, however the address is spelled, and counts those that it refuses at the address only', async () => {
    const limits = createLimits({ limits: PAIR })
    for (const email of ['a@x.org', 'b@x.org', 'c@x.org']) {
      const { attempt, admission } = await admitted(limits, email, 'a1')
      expect(admission).toBe('admitted')
      await attempt.end('failed')
    }
    for (let i = 0; i < 3; i++) {
      const { attempt, admission } = await admitted(limits, 'd@x.org', 'a1')
      expect(admission).toBe('refused')
      await attempt.end('failed')
    }
    await expect(limits.consume('d@x.org', ALICE[1], silent)).rejects.toMatchObject({ limit: 'pair' })
    // A password that was not checked does not use up the limits of the account.
    vi.advanceTimersByTime(15 * MINUTE + 1)
    expect((await admitted(limits, 'e@x.org', 'a1')).admission).toBe('admitted')
  })

  it('refuses a custom route with the limit of the account, or for a moment', async () => {
    const limits = createLimits({ limits: PAIR })
    const held: Awaited<ReturnType<typeof limits.consume>>[] = []
    for (const email of ['a@x.org', 'b@x.org', 'c@x.org']) {
      held.push(await limits.consume(email, ALICE[1], silent, about))
    }
    const refused = () => limits.consume('d@x.org', ALICE[1], silent, about)
    await expect(refused()).rejects.toMatchObject({ code: 'overloaded' })
    for (const attempt of held) await attempt.end('failed')
    await expect(refused()).rejects.toMatchObject({ code: 'too_many_attempts', limit: 'pair' })
    // No attempt of the refused ones is under way.
    for (let i = 0; i < 3; i++) await limits.consume('d@x.org', ALICE[1], silent)
  })

  it('counts an account of its own for each address without one', async () => {
    const limits = createLimits({ limits: PAIR })
    expect(await guesses(limits, 9, userOf)).toBe(9)
    for (let i = 0; i < 9; i++) expect(await guesses(limits, 5, () => userOf(i))).toBe(2)
  })

  it('is narrow with a store for attempts with another spelling, and not for those with the same one', async () => {
    const limiter = sharedStore().limiter
    const limits = createLimits({ limiter, limits: PAIR })
    const [a, other] = [attemptOf(limits, 'a@x.org'), attemptOf(limits, 'b@x.org')]
    expect([a.begin(), other.begin()]).toEqual([true, true])
    expect(await a.admit('a1')).toBe('admitted')
    await (await createLimits({ limiter, limits: PAIR }).consume('c@x.org', ALICE[1], silent, about)).end('failed')
    expect(await other.admit('a1')).toBe('refused')
    const same = createLoginLimit('pair', { points: 3, duration: 10 }, sharedLimit(limiter(SIZE), ownState(), SIZE))
    await same.fail('id', silent)
    expect(['a', 'a', 'b', 'a'].map((spelling) => same.begin('id', spelling))).toEqual([true, true, false, false])
  })
})

const SIZE = { keyPrefix: 'login-pair', points: 3, duration: 10 }

describe('a limit', () => {
  const refusal = (seconds: number) =>
    expect.objectContaining({
      code: 'too_many_attempts',
      limit: 'pair',
      headers: expect.objectContaining({ 'Retry-After': String(seconds) }),
    })

  it('holds 60,000 keys in memory, and drops the least recently used key for another one', () => {
    const limit = createLoginLimit('pair', { points: 1, duration: 10 })
    for (let i = 0; i < 60_000; i++) void limit.fail(`key ${i}`, silent)
    expect(limit.reached('key 0')).toBeDefined()
    void limit.fail('one more', silent)
    const known = ['key 0', 'key 1', 'key 2', 'one more'].map((key) => limit.reached(key) !== undefined)
    expect(known).toEqual([true, false, true, true])
  })

  it.each([
    ['for as long as the store says', 5000, 5000],
    ['until the later end of the store', 20_000, 20_000],
    ['for a moment, also when the window ends now', 0, 1],
  ])('refuses after a count of the store that reaches it: %s', async (_, msBeforeNext, expected) => {
    const size = { points: 3, duration: 60 }
    const get = async () => ({ consumedPoints: 3, msBeforeNext })
    const { read, reached } = createLoginLimit(
      'pair',
      size,
      sharedLimit({ consume: get, get, delete: get }, ownState(), size),
    )
    await read('a', undefined, silent)
    expect(reached('a')).toEqual(refusal(Math.ceil(expected / 1000)))
    vi.advanceTimersByTime(expected - 1)
    expect(reached('a')).toEqual(refusal(1))
    vi.advanceTimersByTime(2)
    expect(reached('a')).toBeUndefined()
  })
})

it('keeps nothing of attempts that have ended', () => {
  const { made, maps } = withMaps(() => createLoginLimit('pair', { points: 2, duration: 10 }))
  const { begin, end } = made
  const kept = () => maps.reduce((sum, { size }) => sum + size, 0)
  expect([begin('a'), begin('a', 'x'), begin('b'), kept()]).toEqual([true, true, true, 2])
  end('a')
  end('a', 'x')
  end('b')
  expect(kept()).toBe(0)
})

it('limits that are turned off refuse nothing, and check every password', async () => {
  expect(NO_LIMITS.checkAddress('192.0.2.1')).toBeUndefined()
  const attempt = NO_LIMITS.attempt({ email: ALICE[0], address: ALICE[1] }, silent)
  attempt.check()
  expect([attempt.begin(), await attempt.admit('a1')]).toEqual([true, 'admitted'])
  await attempt.end('failed')
})

describe('the keys of a login', () => {
  it('hold no address in clear text, and are the same for all spellings that Unicode treats as equal', async () => {
    const store = sharedStore()
    const limits = createLimits({ limiter: store.limiter })
    const keysOf = async (email: string, address: string) => {
      store.calls.length = 0
      await (await limits.consume(email, address, silent, { accountId: 'alice' })).end('failed')
      return new Set(
        store.calls.map((call) => call.replace(/^.*:(?=[\w-])/, '').replace(/^reset$/, '')).filter(Boolean),
      )
    }
    const keys = await keysOf('alice@example.com', '192.0.2.1')
    for (const key of keys) expect(key).toMatch(/^[\w-]{22}([\w-]{22})?$/)
    // The address, and the pair and the account of both keys.
    expect(keys.size).toBe(5)
    expect(await keysOf('AL\u200bICE@example.com ', '::ffff:192.0.2.1')).toEqual(keys)
    expect(await keysOf('b'.repeat(1_000_000), '192.0.2.1')).toEqual(await keysOf('a'.repeat(321), '192.0.2.1'))
  })
})

describe('the memory of a process', () => {
  it('forgets the digests of a failed login within a minute after the end of their windows', async () => {
    const { made: limits, maps } = withMaps(() => createLimits())
    const kept = () => maps.reduce((sum, { size }) => sum + size, 0)
    expect(await guesses(limits, 3)).toBe(3)
    ;(await limits.consume(...ALICE)).end('disconnected')
    // The network's disconnects, and the failures at each limit, with two keys for pair and account.
    expect(kept()).toBe(6)
    vi.advanceTimersByTime(MINUTE)
    expect(kept()).toBe(5)
    vi.advanceTimersByTime(15 * MINUTE)
    expect(kept()).toBe(3)
    vi.advanceTimersByTime(45 * MINUTE)
    expect(kept()).toBe(0)
    // No timer runs for nothing.
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps no process alive', async () => {
    vi.useRealTimers()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => timers.mockRestore())
    createLoginLimit('pair', { points: 1, duration: 60 }).fail('key', silent)
    expect(timers.mock.results.map(({ value }) => value.hasRef())).toEqual([false])
  })

  it('counts a failure also where fake timers of a host are numbers', () => {
    const timers = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(1 as never)
    onTestFinished(() => timers.mockRestore())
    const limit = createLoginLimit('pair', { points: 1, duration: 60 })
    void limit.fail('key', silent)
    expect(limit.reached('key')).toBeDefined()
    expect(timers).toHaveBeenCalledOnce()
  })
})
