import { createThrottle, type Limiter, type LimiterOptions, type ThrottleOptions } from 'express-token-endpoint'
import fc from 'fast-check'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLimit } from '../../../src/limits/limit.js'
import { sprayLimit } from '../../../src/limits/spraying.js'
import { expectMisuse } from '../../support/failures.js'
import { polluted } from '../../support/pollution.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const KEY = 'a key of at least thirty-two bytes'
const SPRAYED = '123456'
const OFF = { address: false, pair: false, account: false } as const

type Throttle = ReturnType<typeof createThrottle>

const silent = () => {}
const emailOf = (i: number) => `user${i}@example.com`
const addressOf = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`

const digestOf = (throttle: Throttle, password: string) => throttle.digestPassword?.(password) as string | undefined

const consume = (
  throttle: Throttle,
  password: string,
  email: string,
  address: string,
  failed: (error: unknown) => void = silent,
) => throttle.consume(email, address, failed, digestOf(throttle, password))

const check = async (throttle: Throttle, password: string, email: string, address: string) =>
  throttle.attempt(email, address, silent, digestOf(throttle, password)).check()

/** A login with a wrong password. */
async function guess(...login: Parameters<typeof consume>) {
  await (await consume(...login)).end('failed')
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
  it.each([undefined, { spraying: undefined }, { spraying: false }])(
    'no password is digested and nothing is limited: %j',
    async (options) => {
      const throttle = createThrottle(options)
      expect(throttle.digestPassword).toBeUndefined()
      expect(await spray(throttle, 0, 100)).toBe(100)
      for (let i = 0; i < 100; i++) {
        await (await throttle.consume(emailOf(i), addressOf(i), silent, 'd1ge5')).end('failed')
      }
    },
  )

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

  it('may fail 3 times also when all guesses come at once', async () => {
    const throttle = await underAttack()
    const all = Array.from({ length: 90 }, (_, i) => consume(throttle, SPRAYED, emailOf(100 + i), '192.0.2.1'))
    const passed = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled')
    expect(passed).toHaveLength(3)
    // The others are not failures: they may try again in a moment.
    await expect(consume(throttle, SPRAYED, emailOf(99), '192.0.2.1')).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('is counted for logins that had to wait for room in another limit', async () => {
    const limits = { ...OFF, pair: { points: 1, duration: '1h' } } as const
    const throttle = createThrottle({ spraying: true, limits })
    for (let i = 0; i < 20; i++) {
      const under = await consume(throttle, 'other', emailOf(i), addressOf(i))
      const waiting = throttle.attempt(emailOf(i), addressOf(i), silent, digestOf(throttle, SPRAYED))
      expect(waiting.begin()).toBe(false)
      under.end('succeeded')
      expect(waiting.begin()).toBe(true)
      await waiting.end('failed')
    }
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
  })

  it('is known before the queue: check refuses, and counts nothing', async () => {
    const throttle = await underAttack()
    for (let i = 0; i < 10; i++) await check(throttle, SPRAYED, emailOf(100), '192.0.2.1')
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    const refusal = { code: 'too_many_attempts', limit: 'spraying', headers: { 'Retry-After': '86400' } }
    await expect(check(throttle, SPRAYED, emailOf(100), '192.0.2.1')).rejects.toMatchObject(refusal)
    await check(throttle, 'other', emailOf(100), '192.0.2.1')
    await check(throttle, SPRAYED, emailOf(100), '192.0.2.2')
  })

  it('is refused without counting for any other limit', async () => {
    const throttle = await underAttack({ limits: { ...OFF, address: { points: 10, duration: '1h' } } })
    expect(await spray(throttle, 100, 300, SPRAYED, '192.0.2.1')).toBe(3)
    expect(await spray(throttle, 300, 307, 'other', '192.0.2.1')).toBe(7)
  })

  it('is an ordinary one again after a day, and the network keeps its failures as long as the option says', async () => {
    const throttle = await underAttack({ spraying: { address: { points: 3, duration: '7 days' } } })
    expect(await spray(throttle, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    vi.advanceTimersByTime(DAY - 1)
    await expect(consume(throttle, SPRAYED, emailOf(500), '192.0.2.1')).rejects.toMatchObject({ limit: 'spraying' })
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
    await expect(consume(throttle, SPRAYED, emailOf(101), '192.0.2.1')).rejects.toMatchObject({ headers })
    await expect(check(throttle, SPRAYED, emailOf(101), '192.0.2.1')).rejects.toMatchObject({ headers })
  })

  it('leaves 40,000 networks their failures in memory, more than the other limits hold', () => {
    const once = { points: 1, duration: 86_400 }
    const { networks } = sprayLimit({ key: KEY, password: once, address: once }, (_, size, mostKeys) =>
      createLimit('spraying', size, undefined, mostKeys),
    )
    for (let i = 0; i < 40_000; i++) networks.fail(`network ${i}`)
    expect(networks.reached('network 0')).toBeDefined()
  })
})

it('logins without a digest are limited only by the other limits', async () => {
  const throttle = await underAttack()
  for (let i = 100; i < 150; i++) {
    await (await throttle.consume(emailOf(i), '192.0.2.1', silent)).end('failed')
  }
})

describe('the digest of a password', () => {
  const digests = (key?: string | Uint8Array) => {
    const { digestPassword } = createThrottle({ spraying: key === undefined ? true : { key } })
    return (...passwords: string[]) => passwords.map((password) => digestPassword?.(password) ?? '')
  }

  it('has 20 bits, and stays the same in later versions, because several versions may share a store', () => {
    const passwords = [SPRAYED, '', 'caf\u00e9']
    for (const key of [KEY, Buffer.from(KEY)]) expect(digests(key)(...passwords)).toEqual(['3dbf2', 'f2ef4', '76c38'])
  })

  it('is another one with another key, and in each process without a key', () => {
    const passwords = Array.from({ length: 8 }, (_, i) => `password ${i}`)
    const all = [KEY, `${KEY}!`, undefined, undefined].map((key) => digests(key)(...passwords).join())
    expect(new Set(all).size).toBe(4)
  })

  it('counts every byte of the password', () => {
    const forms = ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'caf\u00e9 ', ' caf\u00e9', 'caf\u00e9\0']
    expect(new Set(digests(KEY)(...forms)).size).toBe(forms.length)
  })

  it('is computed from the key as it was when the throttle was created', () => {
    const key = Buffer.from(KEY)
    const digest = digests(key)
    key.fill(0)
    expect(digest(SPRAYED)).toEqual(['3dbf2'])
  })
})

it('any order of logins, failures and successes refuses exactly what the rule refuses', async () => {
  const POINTS = { password: 3, address: 2 }
  const login = fc.record({
    password: fc.integer({ min: 0, max: 2 }),
    account: fc.integer({ min: 0, max: 7 }),
    network: fc.integer({ min: 0, max: 2 }),
  })
  const end = fc.record({ ends: fc.nat(30), failed: fc.boolean() })
  const refusedInRun: number[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(login, end), { minLength: 40, maxLength: 80 }), async (steps) => {
      const budget = (points: number) => ({ points, duration: '1d' })
      const spraying = { password: budget(POINTS.password), address: budget(POINTS.address) }
      const throttle = createThrottle({ limits: OFF, spraying })
      // The rule: a password counts its failures at different accounts. A network counts unfinished and failed logins with sprayed
      // passwords, and failures with passwords that became sprayed ones meanwhile.
      const seen = new Set<string>()
      const accounts = [0, 0, 0]
      const networks = [0, 0, 0]
      const add = (counts: number[], at: number, by: number) => counts.splice(at, 1, (counts[at] ?? 0) + by)
      const isSprayed = (password: number) => (accounts[password] ?? 0) >= POINTS.password
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
        const refused = sprayed && (networks[network] ?? 0) >= POINTS.address
        const spent = await consume(throttle, `${password}`, emailOf(account), addressOf(network)).catch(
          () => undefined,
        )
        expect(spent === undefined).toBe(refused)
        if (refused) refusals++
        if (!spent) continue
        if (sprayed) add(networks, network, 1)
        pending.push(async (failed) => {
          if (!failed) {
            spent.end('succeeded')
            // It has ended.
            await spent.end('failed')
            if (sprayed) add(networks, network, -1)
            return
          }
          await spent.end('failed')
          const guess = `${password} ${account}`
          if (sprayed || seen.has(guess)) return
          seen.add(guess)
          if (isSprayed(password)) add(networks, network, 1)
          else add(accounts, password, 1)
        })
      }
      refusedInRun.push(refusals)
    }),
    { numRuns: 100 },
  )
  expect(refusedInRun.filter((count) => count > 0).length).toBeGreaterThan(10)
})

describe('a shared store', () => {
  /** A store that stays for several processes, in memory. */
  function store() {
    const limiters = new Map<string, RateLimiterMemory>()
    const made: LimiterOptions[] = []
    const keys = new Set<string>()
    const limiter = (options: LimiterOptions) => {
      made.push(options)
      const one = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
      limiters.set(options.keyPrefix, one)
      const count = (key: string) => {
        keys.add(`${options.keyPrefix}:${key}`)
        return one.consume(key)
      }
      return { consume: count, reward: (key: string) => one.reward(key), get: (key: string) => one.get(key) }
    }
    return { limiter, made, keys }
  }

  const processOn = ({ limiter }: Required<Pick<ThrottleOptions, 'limiter'>>) =>
    createThrottle({ limiter, spraying: { key: KEY } })

  it('has a limiter for passwords and one for networks', () => {
    const shared = store()
    processOn(shared)
    expect(shared.made.slice(3)).toEqual([
      { keyPrefix: 'login-password', points: 20, duration: 86_400 },
      { keyPrefix: 'login-sprayed', points: 3, duration: 86_400 },
    ])
  })

  it('refuses a password that only another process knows, on a network that has reached its limit', async () => {
    const shared = store()
    const [one, two] = [processOn(shared), processOn(shared)]
    for (const password of [SPRAYED, 'qwerty']) await spray(one, 0, 20, password)
    expect(await spray(two, 100, 200, SPRAYED, '192.0.2.1')).toBe(3)
    await expect(consume(two, 'qwerty', emailOf(0), '192.0.2.1')).rejects.toMatchObject({ code: 'too_many_attempts' })
  })

  it('lets 3 guesses of a password that only another process knows pass at once', async () => {
    const shared = store()
    await spray(processOn(shared), 0, 20)
    const restarted = processOn(shared)
    const all = Array.from({ length: 9 }, (_, i) => consume(restarted, SPRAYED, emailOf(100 + i), '192.0.2.1'))
    const results = await Promise.allSettled(all)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const reasons = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(reasons).toEqual(Array(6).fill('overloaded'))
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

  it('that cannot be read has not failed, and tells each process at its first failure', async () => {
    const { limiter } = store()
    const shared = { limiter: (options: LimiterOptions): Limiter => ({ ...limiter(options), get: undefined as never }) }
    await spray(processOn(shared), 0, 20)
    const [restarted, again, failed] = [processOn(shared), processOn(shared), vi.fn()]
    await consume(restarted, 'other', emailOf(0), '192.0.2.2', failed)
    expect(failed).not.toHaveBeenCalled()
    expect(await spray(restarted, 100, 110, SPRAYED, '192.0.2.1')).toBe(3)
    expect(await spray(again, 200, 210, SPRAYED, '192.0.2.1')).toBe(1)
  })

  it('never sees a password, an e-mail address or a network, nor the digest of a right password', async () => {
    const shared = store()
    const throttle = processOn(shared)
    for (let i = 0; i < 30; i++) (await consume(throttle, SPRAYED, emailOf(i), '192.0.2.1')).end('succeeded')
    expect([...shared.keys].filter((key) => key.startsWith('login-password'))).toEqual([])
    await (await throttle.consume(emailOf(0), '192.0.2.1', silent)).end('failed')
    await spray(throttle, 0, 30)
    await spray(throttle, 100, 110, SPRAYED, '192.0.2.1')
    const keys = [...shared.keys].filter((key) => /password|sprayed/.test(key))
    expect(keys).toContain(`login-password:${throttle.digestPassword?.(SPRAYED)}`)
    // One password, and the failures and the attempts under way of 11 networks.
    expect(keys).toHaveLength(1 + 2 * (10 + 1))
    for (const key of keys) expect(key).toMatch(/^(login-password:[0-9a-f]{5}|login-sprayed:[\w-]{22}(:\d+)?)$/)
  })

  it('that fails while it is read is reported once, rests for a second, and the login continues', async () => {
    const get = vi.fn(() => Promise.reject(new Error('connection refused')))
    const limiter = () => ({ consume: async () => ({}), reward: async () => ({}), get })
    const throttle = createThrottle({ limiter, limits: OFF, spraying: { key: KEY } })
    const failed = vi.fn()
    const login = (i: number) => consume(throttle, SPRAYED, emailOf(i), '192.0.2.1', failed)
    expect(await Promise.all([0, 1].map(login))).toHaveLength(2)
    await login(2)
    expect(get).toHaveBeenCalledTimes(2)
    expect(failed.mock.calls).toEqual([[new Error('connection refused')]])
    vi.advanceTimersByTime(1001)
    // Without a digest, there is nothing to read.
    await throttle.consume(emailOf(3), '192.0.2.1', failed)
    expect(get).toHaveBeenCalledTimes(2)
    await login(3)
    expect(get).toHaveBeenCalledTimes(3)
  })

  it('that can count but not be read counts for the other limits', async () => {
    const shared = store()
    const get = () => Promise.reject(new Error('no permission'))
    const processes = Array.from({ length: 8 }, () =>
      createThrottle({ limiter: (options) => ({ ...shared.limiter(options), get }), spraying: { key: KEY } }),
    )
    let passed = 0
    for (let i = 0; i < 80; i++) {
      await consume(processes[i % 8] as Throttle, `${i}`, emailOf(0), '192.0.2.1').then(() => passed++, silent)
    }
    expect(passed).toBe(10)
  })
})

describe('an invalid option', () => {
  const limiter = () => ({ consume() {}, reward() {} })
  const unreadable = () => ({ ...limiter(), get: true })
  const DAILY = { duration: '1d' }
  it.each<[string, unknown, string]>([
    ['a number', { spraying: 1 }, 'option "spraying" must be { key, password, address }, true or false'],
    ['null', { spraying: null }, 'true or false, but is null'],
    ['a short key', { spraying: { key: 'x'.repeat(31) } }, 'option "key" must be text or bytes, at least 32 bytes'],
    ['a key that is a number', { spraying: { key: 1234567890 } }, 'keygen --alg HS256'],
    ['short bytes', { spraying: { key: new Uint8Array(31) } }, 'but is an object'],
    ['a secret', { spraying: { secret: KEY } }, 'unknown option "secret". Did you mean "key"?'],
    ['an ip', { spraying: { ip: {} } }, 'unknown option "ip". Did you mean "address"?'],
    ['a network', { spraying: { network: {} } }, 'unknown option "network". Did you mean "address"?'],
    ['a digest', { spraying: { digest: {} } }, 'unknown option "digest". Did you mean "password"?'],
    [
      'no points',
      { spraying: { password: DAILY } },
      'createThrottle: option "spraying".password: option "points" must',
    ],
    ['no points of the address', { spraying: { address: DAILY } }, 'option "spraying".address: option "points" must'],
    ['a limit that is false', { spraying: { address: false } }, 'option "address" must be { points, duration }'],
    ['another name', { spray: true }, 'unknown option "spray". Did you mean "spraying"?'],
    [
      'a store whose get is no function',
      { limiter: unreadable },
      'must be a limiter whose "get" is a function, or missing',
    ],
    ['a store without a key', { limiter, spraying: true }, 'option "spraying" needs a "key" with "limiter"'],
  ])('is a TypeError that does not show the key: %s', (_, options, message) => {
    expectMisuse(() => createThrottle(options as ThrottleOptions), message, ['xxx', KEY])
  })

  it.each(['x'.repeat(32), 'é'.repeat(16), new Uint8Array(32)])('is no key of exactly 32 bytes: %o', (key) => {
    expect(() => createThrottle({ spraying: { key } })).not.toThrow()
  })
})
