import { createHash, createHmac } from 'node:crypto'
import { createThrottle, type Limiter, type LimiterOptions, type ThrottleOptions } from 'express-token-endpoint'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { polluted } from '../../../support/pollution.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const KEY = 'a key of at least thirty-two bytes'
const SPRAYED = '123456'
const OFF = { address: false, pair: false, account: false } as const

type Throttle = ReturnType<typeof createThrottle>

const silent = () => {}
const emailOf = (i: number) => `user${i}@example.com`
const addressOf = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`

const spend = (
  throttle: Throttle,
  password: string,
  email: string,
  address: string,
  failed: (error: unknown) => void = silent,
) => throttle.spend(email, address, failed, throttle.digestPassword?.(password))

const check = (throttle: Throttle, password: string, email: string, address: string) =>
  throttle.check(email, address, throttle.digestPassword?.(password))

/** A login with a wrong password. */
async function guess(...login: Parameters<typeof spend>) {
  await (await spend(...login)).failed?.()
}

/** Guesses a password at accounts `from` to `to`, each time from another network or from the given one. Returns how many passed. */
async function spray(throttle: Throttle, from: number, to: number, password = SPRAYED, address?: string) {
  let passed = 0
  for (let i = from; i < to; i++) {
    await guess(throttle, password, emailOf(i), address ?? addressOf(i)).then(
      () => passed++,
      (error) => expect(error).toMatchObject({ code: 'too_many_attempts', status: 429, limit: 'spraying' }),
    )
  }
  return passed
}

/** Returns a throttle on which a password has failed at 20 accounts. */
async function underAttack(options: ThrottleOptions = {}) {
  const throttle = createThrottle({ spraying: true, ...options })
  expect(await spray(throttle, 0, 20)).toBe(20)
  return throttle
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => {
  vi.useRealTimers()
})

describe('without the option', () => {
  it.each([
    ['no options', undefined],
    ['undefined', { spraying: undefined }],
    ['false', { spraying: false }],
  ])('no password is digested and nothing is limited: %s', async (_, options) => {
    const throttle = createThrottle(options)
    expect(throttle.digestPassword).toBeUndefined()
    expect(await spray(throttle, 0, 1000)).toBe(1000)
  })

  it('a digest from the host is ignored', async () => {
    const throttle = createThrottle()
    for (let i = 0; i < 100; i++) {
      expect(() => throttle.check(emailOf(i), addressOf(i), 'd1ge5')).not.toThrow()
      expect(await throttle.spend(emailOf(i), addressOf(i), silent, 'd1ge5')).toHaveProperty('giveBack')
    }
  })

  it('no password is passed to a function from a polluted prototype', async () => {
    const received: unknown[] = []
    const throttle = createThrottle()
    await polluted({ digestPassword: (password: string) => received.push(password) }, () => {
      throttle.digestPassword?.(SPRAYED)
    })
    expect(received).toEqual([])
  })
})

describe('a password that failed at 20 accounts', () => {
  it('may fail 3 times more from one client network, and other networks have their own 3', async () => {
    const throttle = await underAttack()
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    expect(await spray(throttle, 200, 300, SPRAYED, '192.0.2.2')).toBe(3)
    expect(await spray(throttle, 300, 400, SPRAYED, '2001:db8:1:2::1')).toBe(3)
    expect(await spray(throttle, 300, 400, SPRAYED, '2001:db8:1:2::2')).toBe(0)
  })

  it('shares these 3 failures with all other such passwords', async () => {
    const throttle = await underAttack()
    expect(await spray(throttle, 0, 20, 'qwerty')).toBe(20)
    expect(await spray(throttle, 100, 102, SPRAYED, '192.0.2.1')).toBe(2)
    expect(await spray(throttle, 100, 200, 'qwerty', '192.0.2.1')).toBe(1)
  })

  it('leaves other passwords alone, also on a network that is refused', async () => {
    const throttle = await underAttack()
    await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')
    expect(await spray(throttle, 200, 219, 'my own password', '192.0.2.1')).toBe(19)
  })

  it('is the right one for its owner on a network without such failures', async () => {
    const throttle = await underAttack()
    for (let i = 0; i < 100; i++) {
      expect(() => check(throttle, SPRAYED, 'owner@example.com', '203.0.113.7')).not.toThrow()
      const spent = await spend(throttle, SPRAYED, 'owner@example.com', '203.0.113.7')
      spent.giveBack()
    }
  })

  it('is not counted for accounts that fail again and again: only for different accounts', async () => {
    const throttle = createThrottle({ spraying: true, budgets: OFF })
    const again = () => guess(throttle, SPRAYED, emailOf(0), '192.0.2.1')
    for (let i = 0; i < 1000; i++) await again()
    expect(await spray(throttle, 1, 20)).toBe(19)
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    await expect(again()).rejects.toMatchObject({ limit: 'spraying' })
  })

  it('is counted for accounts whose owners have logged in with it before', async () => {
    const throttle = createThrottle({ spraying: true, budgets: OFF })
    for (let i = 0; i < 20; i++) (await spend(throttle, SPRAYED, emailOf(i), addressOf(i))).giveBack()
    expect(await spray(throttle, 0, 20, SPRAYED, '192.0.2.9')).toBe(20)
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it('stays counted for an account that logs in with it after a failure', async () => {
    const throttle = createThrottle({ spraying: true, budgets: OFF })
    expect(await spray(throttle, 0, 19)).toBe(19)
    const spent = await spend(throttle, SPRAYED, emailOf(0), addressOf(0))
    expect(() => spent.giveBack()).not.toThrow()
    expect(await spray(throttle, 19, 20)).toBe(1)
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it('stays sprayed when an attacker also logs in to own accounts', async () => {
    const throttle = await underAttack()
    let passed = 0
    for (let i = 0; i < 100; i++) {
      const own = await spend(throttle, 'own password', 'attacker@example.com', '192.0.2.1')
      own.giveBack()
      const same = await spend(throttle, SPRAYED, 'attacker@example.com', '192.0.2.2')
      same.giveBack()
      passed += await spray(throttle, 100 + i, 101 + i, SPRAYED, '192.0.2.1')
    }
    expect(passed).toBe(3)
  })

  it('may fail 3 times also when all guesses come at once', async () => {
    const throttle = await underAttack()
    const all = Array.from({ length: 90 }, (_, i) => spend(throttle, SPRAYED, emailOf(100 + i), '192.0.2.1'))
    const passed = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled')
    expect(passed).toHaveLength(3)
    // The others are not failures: they may try again in a moment.
    await expect(spend(throttle, SPRAYED, emailOf(99), '192.0.2.1')).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('is counted for logins that had to wait for room in another limit', async () => {
    const budgets = { ...OFF, pair: { points: 1, duration: '1h' } } as const
    const throttle = createThrottle({ spraying: true, budgets })
    for (let i = 0; i < 20; i++) {
      const under = await spend(throttle, 'other', emailOf(i), addressOf(i))
      const waiting = throttle.attempt(emailOf(i), addressOf(i), silent, throttle.digestPassword?.(SPRAYED))
      expect(waiting.begin()).toBe(false)
      under.giveBack()
      expect(waiting.begin()).toBe(true)
      await waiting.failed?.()
    }
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it('is none because of simultaneous right logins: 60 of one network with one password', async () => {
    const throttle = createThrottle({ spraying: true })
    const pending = await Promise.all(
      Array.from({ length: 60 }, (_, i) => spend(throttle, SPRAYED, emailOf(i), '192.0.2.1')),
    )
    expect(pending).toHaveLength(60)
    for (const { giveBack } of pending) giveBack()
    expect(await spray(throttle, 0, 20)).toBe(20)
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it('counts simultaneous first failures for their network, after the 20 that make it a sprayed one', async () => {
    const throttle = createThrottle({ spraying: true })
    const pending = await Promise.all(
      Array.from({ length: 40 }, (_, i) => spend(throttle, SPRAYED, emailOf(i), '192.0.2.1')),
    )
    for (const { failed } of pending) await failed?.()
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(0)
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.2')).toBe(3)
  })

  it('is known before the queue: check refuses, and counts nothing', async () => {
    const throttle = await underAttack()
    for (let i = 0; i < 10; i++) check(throttle, SPRAYED, emailOf(100), '192.0.2.1')
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    expect(() => check(throttle, SPRAYED, emailOf(100), '192.0.2.1')).toThrow(
      expect.objectContaining({ code: 'too_many_attempts', limit: 'spraying', headers: { 'Retry-After': '86400' } }),
    )
    expect(() => check(throttle, 'other', emailOf(100), '192.0.2.1')).not.toThrow()
    expect(() => check(throttle, SPRAYED, emailOf(100), '192.0.2.2')).not.toThrow()
  })

  it('is refused without counting for any other limit', async () => {
    const throttle = await underAttack({ budgets: { ...OFF, address: { points: 10, duration: '1h' } } })
    expect(await spray(throttle, 100, 300, SPRAYED, '192.0.2.1')).toBe(3)
    expect(await spray(throttle, 300, 307, 'other', '192.0.2.1')).toBe(7)
  })

  it('is an ordinary one again after a day, and the network keeps its failures as long as the option says', async () => {
    const throttle = await underAttack({ spraying: { address: { points: 3, duration: '7 days' } } })
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    vi.advanceTimersByTime(DAY - 1)
    await expect(spend(throttle, SPRAYED, emailOf(500), '192.0.2.1')).rejects.toMatchObject({ limit: 'spraying' })
    vi.advanceTimersByTime(2)
    expect(await spray(throttle, 0, 25)).toBe(25)
    expect(await spray(throttle, 1100, 1110, SPRAYED, '192.0.2.1')).toBe(0)
    vi.advanceTimersByTime(6 * DAY + 1)
    expect(await spray(throttle, 2000, 2020)).toBe(20)
    expect(await spray(throttle, 2100, 2110, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it.each(['90s', '7 days'])('is refused with the wait of the network alone, which is %s', async (duration) => {
    const throttle = await underAttack({ spraying: { address: { points: 1, duration } } })
    vi.advanceTimersByTime(HOUR)
    expect(await spray(throttle, 100, 101, SPRAYED, '192.0.2.1')).toBe(1)
    const headers = { 'Retry-After': duration === '90s' ? '90' : '604800' }
    await expect(spend(throttle, SPRAYED, emailOf(101), '192.0.2.1')).rejects.toMatchObject({ headers })
    expect(() => check(throttle, SPRAYED, emailOf(101), '192.0.2.1')).toThrow(expect.objectContaining({ headers }))
  })

  it('leaves 40,000 networks their failures in memory, more than the other limits hold', async () => {
    const throttle = createThrottle({
      budgets: OFF,
      spraying: { password: { points: 1, duration: '1d' }, address: { points: 1, duration: '1d' } },
    })
    expect(await spray(throttle, 0, 1)).toBe(1)
    expect(await spray(throttle, 1, 40_001)).toBe(40_000)
    expect(await spray(throttle, 1, 11)).toBe(0)
  }, 30_000)
})

it('logins without a digest are limited only by the other limits', async () => {
  const throttle = await underAttack()
  for (let i = 100; i < 150; i++) {
    expect(() => throttle.check(emailOf(i), '192.0.2.1')).not.toThrow()
    expect(await throttle.spend(emailOf(i), '192.0.2.1', silent)).toHaveProperty('failed')
  }
})

describe('the digest of a password', () => {
  const digestWith = (key: string | Uint8Array | undefined, password: string) =>
    createThrottle({ spraying: key === undefined ? true : { key } }).digestPassword?.(password) ?? ''

  it('has 20 bits', () => {
    const { digestPassword } = createThrottle({ spraying: true })
    for (let i = 0; i < 100; i++) expect(digestPassword?.(`password ${i}`)).toMatch(/^[0-9a-f]{5}$/)
  })

  it('is the same with the same key, as text or as bytes', () => {
    for (const password of ['', SPRAYED, 'x'.repeat(5000)]) {
      expect(digestWith(KEY, password)).toBe(digestWith(Buffer.from(KEY), password))
    }
  })

  it('stays the same in later versions, because several versions may share a store', () => {
    expect([SPRAYED, '', 'caf\u00e9'].map((password) => digestWith(KEY, password))).toEqual(['3dbf2', 'f2ef4', '76c38'])
  })

  it('is another one with another key, and in each process without a key', () => {
    const passwords = Array.from({ length: 8 }, (_, i) => `password ${i}`)
    const all = (key?: string) => {
      const { digestPassword } = createThrottle({ spraying: key === undefined ? true : { key } })
      return passwords.map((password) => digestPassword?.(password)).join()
    }
    expect(new Set([all(KEY), all(`${KEY}!`), all(), all()]).size).toBe(4)
  })

  it('is neither a plain digest nor one with the key itself', () => {
    const digest = digestWith(KEY, SPRAYED)
    expect(createHash('sha256').update(SPRAYED).digest('hex')).not.toContain(digest)
    expect(createHmac('sha256', KEY).update(SPRAYED).digest('hex').slice(0, 5)).not.toBe(digest)
  })

  it('counts every byte of the password', () => {
    const { digestPassword } = createThrottle({ spraying: { key: KEY } })
    const forms = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'caf\u00e9 ', ' caf\u00e9', 'caf\u00e9\0']
    expect(new Set(forms.map((form) => digestPassword?.(form))).size).toBe(forms.length)
  })

  it('is computed from the key as it was when the throttle was created', () => {
    const key = Buffer.from(KEY)
    const { digestPassword } = createThrottle({ spraying: { key } })
    const before = digestPassword?.(SPRAYED)
    key.fill(0)
    expect(digestPassword?.(SPRAYED)).toBe(before)
  })
})

describe('any order of logins, failures and successes', () => {
  const POINTS = { password: 3, address: 2 }
  const login = fc.record({
    password: fc.integer({ min: 0, max: 2 }),
    account: fc.integer({ min: 0, max: 7 }),
    network: fc.integer({ min: 0, max: 2 }),
  })
  const end = fc.record({ ends: fc.nat(30), failed: fc.boolean() })

  it('refuses exactly what the rule refuses', async () => {
    const refusedInRun: number[] = []
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(login, end), { minLength: 40, maxLength: 80 }), async (steps) => {
        const window = '1d'
        const throttle = createThrottle({
          budgets: OFF,
          spraying: {
            password: { points: POINTS.password, duration: window },
            address: { points: POINTS.address, duration: window },
          },
        })
        // The rule: a password counts its failures at different accounts. A network counts unfinished and failed logins with sprayed
        // passwords, and failures with passwords that became sprayed ones meanwhile.
        const seen = new Set<string>()
        const accounts = new Map<number, number>()
        const networks = new Map<number, number>()
        const add = <K>(counts: Map<K, number>, key: K, by: number) => counts.set(key, (counts.get(key) ?? 0) + by)
        const isSprayed = (password: number) => (accounts.get(password) ?? 0) >= POINTS.password
        const isFull = (network: number) => (networks.get(network) ?? 0) >= POINTS.address
        const pending: ((failed: boolean) => Promise<void>)[] = []
        let refusals = 0
        for (const step of steps) {
          if ('ends' in step) {
            const [one] = pending.splice(step.ends % Math.max(1, pending.length), 1)
            await one?.(step.failed)
            continue
          }
          const { password, account, network } = step
          const sprayed = isSprayed(password)
          const refused = sprayed && isFull(network)
          const spent = await spend(throttle, `${password}`, emailOf(account), addressOf(network)).catch(
            () => undefined,
          )
          expect(spent === undefined).toBe(refused)
          if (refused) refusals++
          if (!spent) continue
          if (sprayed) add(networks, network, 1)
          pending.push(async (failed) => {
            if (!failed) {
              spent.giveBack()
              if (sprayed) add(networks, network, -1)
              return
            }
            await spent.failed?.()
            const guess = `${password} ${account}`
            if (sprayed || seen.has(guess)) return
            seen.add(guess)
            if (!isSprayed(password)) add(accounts, password, 1)
            else add(networks, network, 1)
          })
        }
        refusedInRun.push(refusals)
      }),
      { numRuns: 100 },
    )
    expect(refusedInRun.filter((count) => count > 0).length).toBeGreaterThan(10)
  })
})

describe('a shared store', () => {
  /** A store that stays for several processes, in memory. */
  function store({ reads = true } = {}) {
    const limiters = new Map<string, RateLimiterMemory>()
    const made: LimiterOptions[] = []
    const keys = new Set<string>()
    let down = false
    const limiter = (options: LimiterOptions): Limiter => {
      made.push(options)
      const one = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
      limiters.set(options.keyPrefix, one)
      const failing = async () => {
        throw new Error('connection refused')
      }
      return {
        consume(key) {
          keys.add(`${options.keyPrefix}:${key}`)
          return down ? failing() : one.consume(key)
        },
        reward: (key) => (down ? failing() : one.reward(key)),
        ...(reads && { get: (key: string) => (down ? failing() : one.get(key)) }),
      }
    }
    const fail = () => {
      down = true
    }
    return { limiter, made, keys, fail }
  }

  const processOn = ({ limiter }: ReturnType<typeof store>) => createThrottle({ limiter, spraying: { key: KEY } })

  it('has a limiter for passwords and one for networks', () => {
    const shared = store()
    processOn(shared)
    expect(shared.made.slice(3)).toEqual([
      { keyPrefix: 'login-password', points: 20, duration: 86_400 },
      { keyPrefix: 'login-sprayed', points: 3, duration: 86_400 },
    ])
  })

  it('counts for all processes together', async () => {
    const shared = store()
    const [one, two] = [processOn(shared), processOn(shared)]
    expect((await spray(one, 0, 10)) + (await spray(two, 10, 20))).toBe(20)
    expect(await spray(one, 100, 102, SPRAYED, '192.0.2.1')).toBe(2)
    expect(await spray(two, 102, 200, SPRAYED, '192.0.2.1')).toBe(1)
    expect(await spray(one, 200, 210, SPRAYED, '192.0.2.1')).toBe(0)
  })

  it('gets back what a login did not use, and what was refused', async () => {
    const shared = store()
    const [one, two] = [processOn(shared), processOn(shared)]
    for (let i = 0; i < 50; i++) (await spend(one, SPRAYED, emailOf(i), addressOf(i))).giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect(await spray(two, 0, 20)).toBe(20)
    for (let i = 0; i < 10; i++) (await spend(one, SPRAYED, emailOf(i), '192.0.2.1')).giveBack()
    await vi.advanceTimersByTimeAsync(0)
    expect(await spray(two, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    await vi.advanceTimersByTimeAsync(0)
    expect(await spray(one, 300, 310, 'other', '192.0.2.1')).toBe(10)
  })

  it('never sees the digest of a right password', async () => {
    const shared = store()
    const throttle = processOn(shared)
    for (let i = 0; i < 30; i++) (await spend(throttle, SPRAYED, emailOf(i), '192.0.2.1')).giveBack()
    expect([...shared.keys].filter((key) => key.startsWith('login-password'))).toEqual([])
    await guess(throttle, SPRAYED, emailOf(0), '192.0.2.1')
    expect(shared.keys).toContain(`login-password:${throttle.digestPassword?.(SPRAYED)}`)
  })

  it('is read when memory does not know the password, and memory then knows it as long as the store', async () => {
    const shared = store()
    await spray(processOn(shared), 0, 20)
    vi.advanceTimersByTime(HOUR)
    const restarted = processOn(shared)
    expect(await spray(restarted, 100, 110, SPRAYED, '192.0.2.1')).toBe(3)
    vi.advanceTimersByTime(DAY - HOUR - 1)
    expect(await spray(restarted, 100, 110, SPRAYED, '192.0.2.1')).toBe(0)
    vi.advanceTimersByTime(2)
    expect(await spray(restarted, 110, 120, SPRAYED, '192.0.2.1')).toBe(10)
  })

  it('that failed is not read again for a second', async () => {
    const get = vi.fn(() => Promise.reject(new Error('no permission')))
    const limiter = () => ({ consume: async () => ({}), reward: async () => ({}), get })
    const throttle = createThrottle({ limiter, budgets: OFF, spraying: { key: KEY } })
    const read = () => spend(throttle, SPRAYED, emailOf(0), '192.0.2.1')
    for (let i = 0; i < 5; i++) await read()
    expect(get).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(1001)
    await read()
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('that has no get has not failed', async () => {
    const throttle = processOn(store({ reads: false }))
    const failed = vi.fn()
    await spend(throttle, SPRAYED, emailOf(0), '192.0.2.1', failed)
    expect(failed).not.toHaveBeenCalled()
  })

  it('that cannot be read tells each process at its first failure', async () => {
    const shared = store({ reads: false })
    await spray(processOn(shared), 0, 20)
    const restarted = processOn(shared)
    expect(await spray(restarted, 100, 110, SPRAYED, '192.0.2.1')).toBe(3)
    const again = processOn(shared)
    expect(await spray(again, 200, 210, SPRAYED, '192.0.2.1')).toBe(1)
  })

  it('never sees a password, an e-mail address or a network, and never a digest with an account', async () => {
    const shared = store()
    const throttle = processOn(shared)
    await spray(throttle, 0, 30)
    await spray(throttle, 100, 110, SPRAYED, '192.0.2.1')
    const keys = [...shared.keys].filter((key) => /password|sprayed/.test(key))
    // One password, and the failures and the attempts under way of 11 networks.
    expect(keys).toHaveLength(1 + 2 * (10 + 1))
    for (const key of keys) expect(key).toMatch(/^(login-password:[0-9a-f]{5}|login-sprayed:[\w-]{22}(:\d+)?)$/)
  })

  it('that fails is reported, and memory continues with the failures of this process', async () => {
    const shared = store()
    const throttle = processOn(shared)
    expect(await spray(throttle, 0, 20)).toBe(20)
    expect(await spray(throttle, 100, 102, SPRAYED, '192.0.2.1')).toBe(2)
    shared.fail()
    const failures: unknown[] = []
    await guess(throttle, SPRAYED, emailOf(500), '192.0.2.1', (error) => failures.push(error))
    expect(failures).toEqual([new Error('connection refused')])
    expect(await spray(throttle, 501, 510, SPRAYED, '192.0.2.1')).toBe(0)
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('connection refused')), 'connection refused'],
    ['hangs', () => new Promise<never>(() => {}), 'throttle: the store did not respond for 40 ms'],
  ])('that %s while it is read is reported once, and the login continues', async (_, get, message) => {
    const limiter = () => ({ consume: async () => ({}), reward: async () => ({}), get })
    const throttle = createThrottle({ limiter, budgets: OFF, spraying: { key: KEY } })
    const failures: unknown[] = []
    const failed = (error: unknown) => failures.push(error)
    const both = Promise.all([0, 1].map((i) => spend(throttle, SPRAYED, emailOf(i), '192.0.2.1', failed)))
    await vi.advanceTimersByTimeAsync(100)
    expect(await both).toHaveLength(2)
    expect(failures).toEqual([new Error(message)])
  })

  const unreadable = Object.defineProperty({}, 'consumedPoints', {
    get() {
      throw new Error('unreadable')
    },
  })

  it.each<[string, unknown, number]>([
    ['nothing', null, 0],
    ['text', '20', 0],
    ['unreadable', unreadable, 0],
    ['a count as text', { consumedPoints: '20', msBeforeNext: 1000 }, 0],
    ['one failure less', { consumedPoints: 19, msBeforeNext: 1000 }, 0],
    ['20 failures', { consumedPoints: 20, msBeforeNext: 1000 }, 1000],
    ['20 failures that end now', { consumedPoints: 20, msBeforeNext: 0 }, 1],
    ['20 failures without an end', { consumedPoints: 20 }, DAY],
    ['20 failures that end too late', { consumedPoints: 20, msBeforeNext: 2 * DAY }, DAY],
  ])('whose first count is %s', async (_, count, wait) => {
    const counts = [count]
    const limiter = () => ({ async consume() {}, async reward() {}, get: async () => counts.shift() })
    const throttle = createThrottle({ limiter, budgets: OFF, spraying: { key: KEY } })
    const isSprayed = () => spray(throttle, 0, 4, SPRAYED, '192.0.2.1').then((passed) => passed < 4)
    expect(await isSprayed()).toBe(wait > 0)
    vi.advanceTimersByTime(Math.max(0, wait - 1))
    expect(await isSprayed()).toBe(wait > 0)
    vi.advanceTimersByTime(2)
    expect(await isSprayed()).toBe(false)
  })

  it('that can count but not be read counts for the other limits', async () => {
    const shared = store()
    const get = () => Promise.reject(new Error('no permission'))
    const processes = Array.from({ length: 8 }, () =>
      createThrottle({ limiter: (options) => ({ ...shared.limiter(options), get }), spraying: { key: KEY } }),
    )
    let passed = 0
    for (let i = 0; i < 80; i++) {
      await spend(processes[i % 8] as Throttle, `${i}`, emailOf(0), '192.0.2.1').then(() => passed++, silent)
    }
    expect(passed).toBe(10)
  })

  it.skipIf(NO_REDIS)('in Redis: two processes with one key count together, and agree after a restart', async () => {
    vi.useRealTimers()
    const redis = new Redis((await startRedis()).url)
    onTestFinished(() => redis.disconnect())
    const processOnRedis = (key = KEY) =>
      createThrottle({
        limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }),
        spraying: { key },
      })
    const [one, two] = [processOnRedis(), processOnRedis()]
    expect((await spray(one, 0, 10)) + (await spray(two, 10, 20))).toBe(20)
    expect(
      (await spray(one, 100, 102, SPRAYED, '192.0.2.1')) + (await spray(two, 200, 202, SPRAYED, '192.0.2.1')),
    ).toBe(3)
    await vi.waitFor(async () => expect(await spray(processOnRedis(), 300, 310, SPRAYED, '192.0.2.1')).toBe(0))
    expect(await spray(processOnRedis('another key, which has 32 bytes too'), 300, 310, SPRAYED, '192.0.2.1')).toBe(10)
    const keys = (await redis.keys('login-password:*')).sort()
    expect(keys).toContain(`login-password:${one.digestPassword?.(SPRAYED)}`)
    for (const key of keys) {
      expect(key).toMatch(/^login-password:[0-9a-f]{5}$/)
      expect(await redis.ttl(key)).toBeGreaterThan(0)
    }
  })
})

describe('an invalid option', () => {
  const limiter = () => ({ consume() {}, reward() {} })
  it.each<[string, unknown, string]>([
    [
      'a number',
      { spraying: 1 },
      'createThrottle: option "spraying" must be { key, password, address }, true or false',
    ],
    ['null', { spraying: null }, 'option "spraying" must be { key, password, address }, true or false, but is null'],
    ['a short key', { spraying: { key: 'x'.repeat(31) } }, 'option "key" must be text or bytes, at least 32 bytes'],
    ['a key that is a number', { spraying: { key: 1234567890 } }, 'keygen --alg HS256'],
    ['short bytes', { spraying: { key: new Uint8Array(31) } }, 'but is an object'],
    ['a secret', { spraying: { secret: KEY } }, 'unknown option "secret". Did you mean "key"?'],
    ['an ip', { spraying: { ip: {} } }, 'unknown option "ip". Did you mean "address"?'],
    ['a network', { spraying: { network: {} } }, 'unknown option "network". Did you mean "address"?'],
    ['a digest', { spraying: { digest: {} } }, 'unknown option "digest". Did you mean "password"?'],
    [
      'no points of the address',
      { spraying: { address: { duration: '1h' } } },
      'createThrottle: option "spraying".address: option "points" must be a number of failures, a whole number from 1 to 1000000',
    ],
    [
      'no points',
      { spraying: { password: { duration: '1h' } } },
      'option "spraying".password: option "points" must be',
    ],
    ['a limit that is false', { spraying: { address: false } }, 'option "address" must be { points, duration }'],
    ['another name', { spray: true }, 'unknown option "spray". Did you mean "spraying"?'],
    [
      'a fourth budget',
      { budgets: { password: { points: 1, duration: 1 } } },
      'unknown option "password". Did you mean "spraying"?',
    ],
    [
      'a store whose get is no function',
      { limiter: () => ({ ...limiter(), get: true }), spraying: { key: KEY } },
      'what "limiter" returned must be a limiter whose "get" is a function, or missing',
    ],
    ['a store without a key', { limiter, spraying: true }, 'option "spraying" needs a "key" with "limiter"'],
  ])('is a TypeError: %s', (_, options, message) => {
    expect(() => createThrottle(options as ThrottleOptions)).toThrow(TypeError)
    expect(() => createThrottle(options as ThrottleOptions)).toThrow(message)
  })

  it.each<[string, string | Uint8Array]>([
    ['text', 'x'.repeat(32)],
    ['text of letters with two bytes each', 'é'.repeat(16)],
    ['bytes', new Uint8Array(32)],
  ])('is no key of exactly 32 bytes: %s', (_, key) => {
    expect(() => createThrottle({ spraying: { key } })).not.toThrow()
  })

  it('never shows the key', () => {
    const secret = 'a short secret'
    expect(() => createThrottle({ spraying: { key: secret } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(secret) }),
    )
  })
})
