import { getEventListeners } from 'node:events'
import {
  type AccountStore,
  AuthError,
  createPasswords,
  createThrottle,
  type Hasher,
  type MemoryAccount,
  type Passwords,
  type Throttle,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { createLogin as createLoginOf, type Login, type LoginContext } from '../../../src/accounts/login.js'
import type { Attempt } from '../../../src/accounts/throttle/attempt.js'
import { settled } from '../../support/concurrency.js'
import { refusalOf } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeStore, PASSWORD } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { INVALID_ACCOUNTS, NOT_TRUE } from '../../support/invalid-results.js'

const { alice, bob, disabled, passwordless } = ACCOUNTS

const context = (
  dependencyFailed: LoginContext['dependencyFailed'] = () => expect.fail('a failed part'),
): LoginContext => ({
  address: '192.0.2.1',
  source: { network: '192.0.2.1', connection: undefined },
  signal: new AbortController().signal,
  dependencyFailed,
})

/** Returns the account that the login returns: a copy of the members of an `Account`. */
const accountOf = ({ email: _, ...account }: MemoryAccount) => account

type LoginParts = Parameters<typeof createLoginOf>[0]

/** Creates a login that returns only the account. */
const createLogin =
  (parts: LoginParts) =>
  (...asked: Parameters<Login>) =>
    createLoginOf(parts)(...asked).then(({ account }) => account)

/** Returns passwords without a queue, like an object of a host. */
function bare({ hash, verify, needsRehash }: Required<Passwords>): Passwords {
  return { hash, verify, needsRehash }
}

/** Creates a login whose dependencies record their calls in order. */
function recorded(parts: { store?: Partial<AccountStore>; passwords?: Partial<Passwords>; timeout?: number } = {}) {
  const calls: string[] = []
  const hasher = countingHasher()
  const store = { ...makeStore(), ...parts.store }
  const passwords = { ...bare(fastPasswords(hasher)), ...parts.passwords }
  const login = createLogin({
    store: {
      ...store,
      findByEmail: (email) => {
        calls.push(`find ${email}`)
        return store.findByEmail(email)
      },
    },
    passwords: {
      ...passwords,
      verify: (password, hash) => {
        calls.push(`verify ${hash}`)
        return passwords.verify(password, hash)
      },
    },
    throttle: undefined,
    timeout: parts.timeout ?? 1000,
  })
  const rehashFailed = vi.fn()
  const run = (email: string, password = PASSWORD) => login({ email, password }, context(rehashFailed))
  return { run, calls, hasher, rehashFailed, store }
}

describe('a good login', () => {
  it('gives the account, after one look-up and one verification', async () => {
    const { run, calls, hasher, rehashFailed } = recorded()
    expect(await run(alice.email)).toEqual(accountOf(alice))
    expect(calls).toEqual([`find ${alice.email}`, `verify ${alice.passwordHash}`])
    expect(hasher.asked).toHaveLength(1)
    expect(rehashFailed).not.toHaveBeenCalled()
  })

  it('leaves nothing at the client’s signal, which lasts as long as its connection', async () => {
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle: undefined, timeout: 1000 })
    const { signal } = new AbortController()
    await login({ email: alice.email, password: PASSWORD }, { ...context(), signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('says the time just before the look-up, which a later change of the account is compared with', async () => {
    let now = new Date(1000)
    const findByEmail = () => {
      now = new Date(2000)
      return alice
    }
    const parts = { store: { findByEmail }, passwords: fastPasswords(), throttle: undefined, timeout: 1000 }
    const credentials = { email: alice.email, password: PASSWORD }
    const login = createLoginOf({ ...parts, clock: { now: () => now } })
    expect((await login(credentials, context())).asOf).toEqual(new Date(1000))
    vi.useFakeTimers({ toFake: ['Date'], now: 5000 })
    try {
      expect((await createLoginOf(parts)(credentials, context())).asOf).toEqual(new Date(5000))
    } finally {
      vi.useRealTimers()
    }
  })

  it('is told when its throttle goes on without the shared store', async () => {
    const cause = new Error('connection refused')
    const throttle: Throttle = {
      async spend(_email, _address, storeFailed) {
        storeFailed(cause)
        return { giveBack() {} }
      },
    }
    const failed = vi.fn()
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle, timeout: 1000 })
    expect(await login({ email: alice.email, password: PASSWORD }, context(failed))).toMatchObject({ id: alice.id })
    expect(failed.mock.calls).toEqual([['throttle', cause]])
  })

  it.each([null, undefined, false])('also when disabled is %s', async (flag) => {
    const { run } = recorded({ store: { findByEmail: async () => ({ ...alice, disabled: flag }) } })
    expect(await run(alice.email)).toMatchObject({ id: alice.id })
  })
})

describe('a bad login', () => {
  const CASES = [
    ['an unknown e-mail', 'nobody@example.com', PASSWORD, 'unknown_account', undefined],
    ['an empty e-mail', '', PASSWORD, 'unknown_account', undefined],
    ['a wrong password', alice.email, 'wrong', 'wrong_password', alice.id],
    ['an empty password', alice.email, '', 'wrong_password', alice.id],
    ['a disabled account', disabled.email, PASSWORD, 'account_disabled', disabled.id],
    ['a disabled account and a wrong password', disabled.email, 'wrong', 'wrong_password', disabled.id],
    ['an account without a password', passwordless.email, PASSWORD, 'no_password', passwordless.id],
    ['an account without a password and an empty one', passwordless.email, '', 'no_password', passwordless.id],
  ] as const

  it.each(CASES)('is refused for %s, with its reason for the logs', async (_, email, password, reason, accountId) => {
    const error = await refusalOf(recorded().run(email, password))
    expect(error).toMatchObject({ code: 'invalid_credentials', status: 403, reason, headers: {} })
    expect(error.accountId).toBe(accountId)
  })

  it.each(CASES)('costs one look-up and one verification for %s', async (_, email, password) => {
    const { run, calls, hasher } = recorded()
    await refusalOf(run(email, password))
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['find', 'verify'])
    expect(hasher.asked).toHaveLength(1)
  })

  it('is told the client with the same words for all', async () => {
    const errors = await Promise.all(CASES.map(([, email, password]) => refusalOf(recorded().run(email, password))))
    expect(new Set(errors.map(({ message }) => message)).size).toBe(1)
  })

  it('never changes a hash', async () => {
    const replacePasswordHash = vi.fn(async () => true)
    const passwords = { needsRehash: () => true }
    for (const [, email, password] of CASES) {
      await refusalOf(recorded({ store: { replacePasswordHash }, passwords }).run(email, password))
    }
    expect(replacePasswordHash).not.toHaveBeenCalled()
  })

  it.each(NOT_TRUE)('is what a check that answers %s makes', async (answer) => {
    const { run } = recorded({ passwords: { verify: async () => answer as never } })
    expect(await refusalOf(run(alice.email))).toMatchObject({ code: 'invalid_credentials', reason: 'wrong_password' })
  })

  it('is what a check makes that finds a decoy good', async () => {
    const { run } = recorded({ passwords: { verify: async () => true } })
    expect(await refusalOf(run(passwordless.email))).toMatchObject({ reason: 'no_password' })
    expect(await refusalOf(run('nobody@example.com'))).toMatchObject({ reason: 'unknown_account' })
  })
})

describe('the e-mail address', () => {
  it.each([' Alice@Example.COM ', 'caf\u00e9@example.com', 'cafe\u0301@example.com', '\t', "' OR 1=1 --", '\ud800'])(
    'reaches the store as it was sent: %j',
    async (email) => {
      const findByEmail = vi.fn(async () => null)
      await refusalOf(recorded({ store: { findByEmail } }).run(email))
      expect(findByEmail.mock.calls).toEqual([[email]])
    },
  )

  it.each(['\0', 'alice@example.com\0', 'al\0ice@example.com'])(
    'with a NUL is not asked of the store: %j',
    async (email) => {
      const findByEmail = vi.fn(async () => alice)
      const { run, hasher } = recorded({ store: { findByEmail } })
      expect(await refusalOf(run(email))).toMatchObject({ code: 'invalid_credentials', reason: 'unknown_account' })
      expect(findByEmail).not.toHaveBeenCalled()
      expect(hasher.asked).toHaveLength(1)
    },
  )

  it('with more than 320 characters is not asked of the store', async () => {
    const findByEmail = vi.fn(async () => alice)
    const { run, hasher } = recorded({ store: { findByEmail } })
    expect(await refusalOf(run('a'.repeat(321)))).toMatchObject({ code: 'invalid_credentials' })
    expect(findByEmail).not.toHaveBeenCalled()
    expect(hasher.asked).toHaveLength(1)
    expect(await run('a'.repeat(320))).toEqual(accountOf(alice))
  })

  it('is looked up with the store as this', async () => {
    class Store implements AccountStore {
      readonly #accounts = [alice]
      findByEmail(email: string) {
        return this.#accounts.find((account) => account.email === email)
      }
    }
    const login = createLogin({ store: new Store(), passwords: fastPasswords(), throttle: undefined, timeout: 1000 })
    expect(await login({ email: alice.email, password: PASSWORD }, context())).toEqual(accountOf(alice))
  })
})

describe('a store that fails', () => {
  const cause = new Error('connection lost')

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw cause
      },
    ],
    ['rejects', () => Promise.reject(cause)],
  ])('is no refusal: it %s', async (_, findByEmail) => {
    const { run, calls } = recorded({ store: { findByEmail: findByEmail as never } })
    const error = await refusalOf(run(alice.email))
    expect(error).toMatchObject({ code: 'unavailable', status: 503, dependency: 'accounts' })
    expect(error.cause).toBe(cause)
    expect(calls).toEqual([`find ${alice.email}`])
  })

  it.each(INVALID_ACCOUNTS)('is no refusal: it returns %s', async (_, answer) => {
    const error = await refusalOf(recorded({ store: { findByEmail: async () => answer as never } }).run(alice.email))
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    expect(error.cause).toBeInstanceOf(TypeError)
    expect((error.cause as Error).message).toMatch(/^account: /)
  })

  it('is given up when it does not answer', async () => {
    vi.useFakeTimers()
    try {
      const { run } = recorded({ store: { findByEmail: () => new Promise(() => {}) }, timeout: 250 })
      const refused = refusalOf(run(alice.email))
      await vi.advanceTimersByTimeAsync(250)
      const error = await refused
      expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
      expect(error.cause).toMatchObject({ message: 'no result within 250 ms' })
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a password check that fails', () => {
  it.each<[string, Partial<Passwords>]>([
    ['throws', { verify: () => expect.fail('no memory') }],
    ['rejects', { verify: () => Promise.reject(new Error('no memory')) }],
  ])('is no refusal: it %s', async (_, passwords) => {
    const error = await refusalOf(recorded({ passwords }).run(alice.email))
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
    expect((error.cause as Error).message).toContain('no memory')
  })

  it('is no refusal: a stored hash of no known format', async () => {
    const { run } = recorded({ store: { findByEmail: async () => ({ ...alice, passwordHash: 'md5:x' }) } })
    expect(await refusalOf(run(alice.email))).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
  })

  it('is given up when it does not answer', async () => {
    vi.useFakeTimers()
    try {
      const { run } = recorded({ passwords: { verify: () => new Promise(() => {}) }, timeout: 250 })
      const refused = refusalOf(run(alice.email))
      await vi.advanceTimersByTimeAsync(250)
      expect(await refused).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a throttle', () => {
  const refused = new AuthError('too_many_attempts', { limit: 'address', retryAfter: 7 })
  const spent = { giveBack() {} }

  /** Creates a login with a throttle, and returns what the throttle and the store were called with. */
  function throttled(throttle: Partial<Throttle>, passwords = fastPasswords()) {
    const calls: unknown[][] = []
    const record = <K extends keyof Throttle>(name: K, result: Throttle[K]) =>
      ((...args: never[]) => {
        calls.push([name, ...args])
        return (result as (...args: never[]) => unknown)(...args)
      }) as never
    const found = vi.fn(async () => alice)
    const login = createLogin({
      store: { findByEmail: found },
      passwords,
      throttle: {
        ...(throttle.check && { check: record('check', throttle.check) }),
        ...(throttle.digestPassword && { digestPassword: record('digestPassword', throttle.digestPassword) }),
        spend: record('spend', throttle.spend ?? (async () => spent)),
      },
      timeout: 1000,
    })
    const run = () => login({ email: alice.email, password: PASSWORD }, context())
    return { run, calls, found }
  }

  it('checks and counts a digest that it made of the password, and nothing else sees the password', async () => {
    const { run, calls } = throttled({ digestPassword: () => 'd1ge5', check() {} })
    expect(await run()).toEqual(accountOf(alice))
    expect(calls).toEqual([
      ['digestPassword', PASSWORD],
      ['check', alice.email, '192.0.2.1', 'd1ge5'],
      ['spend', alice.email, '192.0.2.1', expect.any(Function), 'd1ge5'],
    ])
  })

  it('without digestPassword never sees a password', async () => {
    const { run, calls } = throttled({ check() {} })
    expect(await run()).toEqual(accountOf(alice))
    expect(calls).toEqual([
      ['check', alice.email, '192.0.2.1', undefined],
      ['spend', alice.email, '192.0.2.1', expect.any(Function), undefined],
    ])
  })

  it('that refuses in check ends the login before anything is counted or looked up', async () => {
    const check = () => {
      throw refused
    }
    const { run, calls, found } = throttled({ check })
    expect(await refusalOf(run())).toBe(refused)
    expect(calls.map(([name]) => name)).toEqual(['check'])
    expect(found).not.toHaveBeenCalled()
  })

  it('that refuses in spend ends the login before the password is checked', async () => {
    const hasher = countingHasher()
    const { run } = throttled({ spend: () => Promise.reject(refused) }, fastPasswords(hasher))
    expect(await refusalOf(run())).toBe(refused)
    expect(hasher.asked).toEqual([])
  })

  const down = new Error('down')
  const fail = () => {
    throw down
  }
  it.each<[keyof Throttle, Partial<Throttle>]>([
    ['digestPassword', { digestPassword: fail }],
    ['check', { check: fail }],
    ['spend', { spend: fail }],
  ])('whose %s fails is no refusal, and lets nobody in', async (_, throttle) => {
    const hasher = countingHasher()
    const error = await refusalOf(throttled(throttle, fastPasswords(hasher)).run())
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'throttle' })
    expect(error.cause).toBe(down)
    expect(hasher.asked).toEqual([])
  })
})

describe('a client that hangs up', () => {
  const PAIR = { address: { points: 3, duration: '1h' }, pair: { points: 2, duration: '1h' }, account: false } as const

  /** Creates a login whose look-ups end when the test says so. */
  function slow({ throttle, passwords = fastPasswords() }: { throttle?: Throttle; passwords?: Passwords } = {}) {
    const lookUps: { resolve(account: typeof alice): void; reject(error: Error): void }[] = []
    const findByEmail = vi.fn(() => new Promise<typeof alice>((resolve, reject) => lookUps.push({ resolve, reject })))
    const login = createLogin({ store: { findByEmail }, passwords, throttle, timeout: 60_000 })
    const attempt = ({ signal } = new AbortController()) =>
      login({ email: alice.email, password: PASSWORD }, { ...context(), signal })
    /** Disconnects when the store is called. */
    const hangUp = async () => {
      const client = new AbortController()
      const refused = refusalOf(attempt(client))
      await settled()
      client.abort()
      return { refused }
    }
    const end = async () => {
      lookUps.shift()?.resolve(alice)
      await settled()
    }
    return { attempt, hangUp, findByEmail, lookUps, end }
  }

  it('during the look-up keeps its slot until the look-up ends, so that look-ups are limited', async () => {
    const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 1, queue: 100 })
    const { attempt, hangUp, findByEmail, end } = slow({ passwords })
    const gone = await Promise.all(Array.from({ length: 32 }, hangUp))
    const owner = attempt()
    await settled()
    expect(findByEmail).toHaveBeenCalledTimes(32)
    expect(passwords.load()).toEqual({ active: 0, waiting: 33 })
    for (let i = 0; i < 33; i++) await end()
    for (const { refused } of gone) {
      expect(await refused).toMatchObject({ code: 'client_closed_request', status: 499, headers: {} })
    }
    expect(await owner).toEqual(accountOf(alice))
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('during the look-up has no password checked, and counts against its address only', async () => {
    const hasher = countingHasher()
    const throttle = createThrottle({ budgets: PAIR })
    const { attempt, hangUp, end } = slow({ throttle, passwords: fastPasswords(hasher) })
    for (let i = 0; i < 3; i++) {
      const { refused } = await hangUp()
      await end()
      expect(await refused).toMatchObject({ code: 'client_closed_request' })
    }
    expect(hasher.asked).toEqual([])
    expect(await refusalOf(attempt())).toMatchObject({ code: 'too_many_attempts', limit: 'address' })
    expect(await throttle.spend(alice.email, '192.0.2.2', () => {})).toHaveProperty('giveBack')
  })

  it('during the look-up leaves nothing unhandled when that fails later, and an event tells of the store', async () => {
    const rejections = unhandledRejections()
    const { hangUp, lookUps } = slow()
    const { refused } = await hangUp()
    lookUps[0]?.reject(new Error('connection lost'))
    expect(await refused).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    await settled()
    expect(rejections).toEqual([])
  })

  it('while it waits for a thread counts against its address only', async () => {
    const throttle = createThrottle({ budgets: PAIR })
    const hasher = { ...countingHasher(), verify: () => new Promise<never>(() => {}) }
    const passwords = createPasswords({ hashers: [hasher], concurrency: 1 })
    const { hangUp, end } = slow({ throttle, passwords })
    void passwords.verify('x', alice.passwordHash)
    for (let i = 0; i < 3; i++) {
      const { refused } = await hangUp()
      await end()
      expect(await refused).toMatchObject({ code: 'client_closed_request' })
    }
    expect(() => throttle.checkAddress('192.0.2.1')).toThrow(expect.objectContaining({ limit: 'address' }))
    expect(() => throttle.check(alice.email, '192.0.2.2')).not.toThrow()
  })

  it('before anything is done has nothing done', async () => {
    const throttle = { spend: vi.fn() }
    const { attempt, findByEmail } = slow({ throttle })
    const client = new AbortController()
    client.abort()
    expect(await refusalOf(attempt(client))).toMatchObject({ code: 'client_closed_request' })
    expect(throttle.spend).not.toHaveBeenCalled()
    expect(findByEmail).not.toHaveBeenCalled()
  })
})

describe('the attempt of a login', () => {
  const cause = new Error('down')
  const credentials = { email: alice.email, password: PASSWORD }

  /** Creates an attempt that records its calls. */
  function recordedAttempt(changes: Partial<Pick<Attempt, 'begin' | 'count'>> = {}) {
    const calls: string[] = []
    const attempt: Attempt = {
      check: () => void calls.push('check'),
      begin: () => calls.push('begin') > 0,
      count: async () => void calls.push('count'),
      giveBack: (except) => void calls.push(except ? `giveBack but ${except}` : 'giveBack'),
      failed: () => void calls.push('failed'),
    }
    const { begin, count = async () => {} } = attempt
    if (changes.begin) attempt.begin = () => begin() && changes.begin?.() === true
    if (changes.count) attempt.count = () => count().then(changes.count)
    const throttle: Throttle = { attempt: () => attempt, spend: () => expect.fail('spend') }
    return { calls, throttle }
  }

  it.each<[string, string[], object, Partial<LoginParts>]>([
    ['right password', ['check', 'begin', 'count', 'giveBack'], alice, {}],
    [
      'wrong password',
      ['check', 'begin', 'count', 'failed'],
      { code: 'invalid_credentials' },
      { store: { findByEmail: () => null } },
    ],
    [
      'store that fails',
      ['check', 'begin', 'giveBack'],
      { dependency: 'accounts' },
      { store: { findByEmail: () => Promise.reject(cause) } },
    ],
    [
      'check that fails',
      ['check', 'begin', 'count', 'giveBack'],
      { dependency: 'passwords', accountId: alice.id },
      { passwords: { ...bare(fastPasswords()), verify: () => Promise.reject(cause) } },
    ],
    [
      'queue without room',
      ['check', 'giveBack'],
      { code: 'overloaded' },
      { passwords: { ...fastPasswords(), reserve: () => Promise.reject(new AuthError('overloaded')) } },
    ],
  ])('ends as the login does: %s', async (_, expected, outcome, parts) => {
    const { calls, throttle } = recordedAttempt()
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle, timeout: 60_000, ...parts })
    const result = await login(credentials, context()).catch((error) => error)
    expect(result).toMatchObject(outcome === alice ? accountOf(alice) : outcome)
    expect(calls).toEqual(expected)
  })

  it('counts after the look-up, when a thread is free, and before the password is checked', async () => {
    const { calls, throttle } = recordedAttempt()
    const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 1 })
    const reserve: Passwords['reserve'] = async (request) => {
      const slot = await passwords.reserve(request)
      return {
        ...slot,
        start() {
          calls.push('start')
          return slot.start?.() ?? Promise.resolve()
        },
        verify(password, hash) {
          calls.push('verify')
          return slot.verify(password, hash)
        },
      }
    }
    const findByEmail = () => {
      calls.push('look-up')
      return alice
    }
    const login = createLogin({
      store: { findByEmail },
      passwords: { ...passwords, reserve },
      throttle,
      timeout: 60_000,
    })
    await login(credentials, context())
    expect(calls).toEqual(['check', 'begin', 'look-up', 'start', 'count', 'verify', 'giveBack'])
  })

  it.each<[string, Passwords]>([
    ['no queue', bare(fastPasswords())],
    [
      'a queue that never asks whether a login may begin',
      { ...fastPasswords(), reserve: async () => ({ ...bare(fastPasswords()), leave() {} }) },
    ],
  ])('without room is a short 503, with passwords that have %s', async (_, passwords) => {
    const { calls, throttle } = recordedAttempt({ begin: () => false })
    const findByEmail = vi.fn(() => alice)
    const login = createLogin({ store: { findByEmail }, passwords, throttle, timeout: 60_000 })
    expect(await refusalOf(login(credentials, context()))).toMatchObject({
      code: 'overloaded',
      headers: { 'Retry-After': '1' },
    })
    expect(calls).toEqual(['check', 'begin', 'giveBack'])
    expect(findByEmail).not.toHaveBeenCalled()
  })

  it('that is refused in the queue has no slot', async () => {
    const refusal = new AuthError('too_many_attempts', { limit: 'pair', retryAfter: 7 })
    const refuse = () => {
      throw refusal
    }
    const { throttle } = recordedAttempt({ begin: refuse })
    const passwords = fastPasswords()
    const login = createLogin({ store: makeStore(), passwords, throttle, timeout: 60_000 })
    expect(await refusalOf(login(credentials, context()))).toBe(refusal)
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('that is refused when it is counted leaves its slot and its thread, and no password is checked', async () => {
    const hasher = countingHasher()
    const passwords = fastPasswords(hasher)
    for (const code of ['too_many_attempts', 'overloaded'] as const) {
      const { calls, throttle } = recordedAttempt({ count: () => Promise.reject(new AuthError(code)) })
      const login = createLogin({ store: makeStore(), passwords, throttle, timeout: 60_000 })
      expect(await refusalOf(login(credentials, context()))).toMatchObject({ code })
      expect(calls.at(-1)).toBe('giveBack')
    }
    expect(hasher.asked).toEqual([])
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('waits in the queue while others fill a limit, and a right login is never refused because of them', async () => {
    const throttle = createThrottle({ budgets: { pair: { points: 2, duration: '1h' } } })
    const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 4 })
    const login = createLogin({ store: makeStore(), passwords, throttle, timeout: 60_000 })
    const all = await Promise.all(Array.from({ length: 40 }, () => login(credentials, context())))
    expect(all).toEqual(Array(40).fill(accountOf(alice)))
  })

  it('waits in the queue while others fill a limit, and is refused when they have failed', async () => {
    const throttle = createThrottle({ budgets: { pair: { points: 2, duration: '1h' } } })
    const hasher = countingHasher()
    const passwords = createPasswords({ hashers: [hasher], concurrency: 4 })
    const login = createLogin({ store: makeStore(), passwords, throttle, timeout: 60_000 })
    const guess = () => refusalOf(login({ ...credentials, password: 'guess' }, context()))
    const codes = (await Promise.all(Array.from({ length: 40 }, guess))).map(({ code }) => code)
    expect(codes.toSorted()).toEqual([...Array(2).fill('invalid_credentials'), ...Array(38).fill('too_many_attempts')])
    expect(hasher.asked).toHaveLength(2)
  })

  it.each([
    ['a wrong password', alice.email, 'wrong', 1],
    ['an unknown address', 'nobody@example.com', PASSWORD, 1],
    ['a right password', alice.email, PASSWORD, 0],
  ])('is told of the failure before the login ends: %s', async (_, email, password, times) => {
    const told: string[] = []
    const failed = async () => {
      await settled()
      told.push('failed')
    }
    const throttle = { spend: async () => ({ giveBack() {}, failed }) }
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle, timeout: 60_000 })
    await login({ email, password }, context()).catch(() => {})
    expect(told).toHaveLength(times)
  })

  it.each<[string, Awaited<ReturnType<Throttle['spend']>>['failed'], object]>([
    ['absent', undefined, { code: 'invalid_credentials' }],
    ['rejects', () => Promise.reject(new Error('down')), { code: 'unavailable', dependency: 'throttle' }],
  ])('ends a wrong login when `failed` of a host %s', async (_, failed, refusal) => {
    const throttle = { spend: async () => ({ giveBack() {}, failed }) }
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle, timeout: 60_000 })
    await expect(login({ email: alice.email, password: 'wrong' }, context())).rejects.toMatchObject(refusal)
  })

  it('of a host that only has spend is given back after a right login', async () => {
    const giveBack = vi.fn()
    const throttle = { spend: async () => ({ giveBack }) }
    const login = createLogin({ store: makeStore(), passwords: fastPasswords(), throttle, timeout: 60_000 })
    await login(credentials, context())
    expect(giveBack.mock.calls).toEqual([[undefined]])
  })
})

describe('checkAddress', () => {
  const parts = { store: makeStore(), passwords: fastPasswords(), timeout: 60_000 }

  it('refuses a client whose address has reached its limit, without waiting', async () => {
    const throttle = createThrottle({ budgets: { address: { points: 1, duration: '1h' } } })
    const { checkAddress } = createLoginOf({ ...parts, throttle })
    checkAddress('192.0.2.1')
    await (await throttle.spend(alice.email, '192.0.2.1', () => {})).failed?.()
    expect(() => checkAddress('192.0.2.1')).toThrow(expect.objectContaining({ limit: 'address' }))
    checkAddress('192.0.2.2')
  })

  it('waits for a throttle of the host, whose failure is no refusal', async () => {
    const checkOf = (checkAddress: () => Promise<never>) =>
      createLoginOf({ ...parts, throttle: { spend: () => expect.fail('spend'), checkAddress } }).checkAddress(
        '192.0.2.1',
      )
    const refusal = new AuthError('too_many_attempts')
    await expect(checkOf(() => Promise.reject(refusal))).rejects.toBe(refusal)
    const failing = checkOf(() => Promise.reject(new Error('down')))
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', dependency: 'throttle' })
  })

  it('refuses nobody without a throttle, or with one that cannot tell', () => {
    for (const throttle of [undefined, { spend: () => expect.fail('spend') }]) {
      createLoginOf({ ...parts, throttle }).checkAddress('192.0.2.1')
    }
  })
})

describe('rehash on login', () => {
  const old = { ...alice, passwordHash: `old:${PASSWORD}` }
  const passwordsOf = (first: Hasher) => bare(createPasswords({ hashers: [first, countingHasher('old:')] }))
  const passwords = passwordsOf(countingHasher('new:'))
  const found = { findByEmail: async () => old }

  it('swaps the hash that was verified for one of the first hasher', async () => {
    const store = makeStore([old, bob])
    const { run, rehashFailed } = recorded({ store, passwords })
    expect(await run(old.email)).toMatchObject({ id: old.id })
    expect(await store.findById(old.id)).toMatchObject({ passwordHash: `new:${PASSWORD}` })
    expect(rehashFailed).not.toHaveBeenCalled()
  })

  it('is a compare and swap: it says which hash it replaces', async () => {
    const replacePasswordHash = vi.fn(async () => false)
    const { run, rehashFailed } = recorded({ store: { ...found, replacePasswordHash }, passwords })
    expect(await run(old.email)).toEqual(accountOf(old))
    expect(replacePasswordHash.mock.calls).toEqual([[old.id, old.passwordHash, `new:${PASSWORD}`]])
    expect(rehashFailed).not.toHaveBeenCalled()
  })

  it('does nothing when the hash is of today', async () => {
    const replacePasswordHash = vi.fn(async () => true)
    const { run } = recorded({ store: { replacePasswordHash } })
    await run(alice.email)
    expect(replacePasswordHash).not.toHaveBeenCalled()
  })

  it('does nothing when the store cannot', async () => {
    const hash = vi.fn(async () => 'new:x')
    const login = createLogin({ store: found, passwords: { ...passwords, hash }, throttle: undefined, timeout: 1000 })
    expect(await login({ email: old.email, password: PASSWORD }, context())).toEqual(accountOf(old))
    expect(hash).not.toHaveBeenCalled()
  })

  it('does nothing when the password checks cannot tell', async () => {
    const replacePasswordHash = vi.fn(async () => true)
    const { hash, verify } = passwords
    const login = createLogin({
      store: { ...found, replacePasswordHash },
      passwords: { hash, verify },
      throttle: undefined,
      timeout: 1000,
    })
    expect(await login({ email: old.email, password: PASSWORD }, context())).toEqual(accountOf(old))
    expect(replacePasswordHash).not.toHaveBeenCalled()
  })

  const cause = new Error('down')
  const reject = () => Promise.reject(cause)
  const fail = () => {
    throw cause
  }

  it.each<[string, { store?: Partial<AccountStore>; passwords?: Partial<Passwords> }, string]>([
    ['hashing rejects', { passwords: { ...passwords, hash: reject } }, 'passwords'],
    ['hashing throws', { passwords: { ...passwords, hash: fail } }, 'passwords'],
    ['the store rejects', { store: { replacePasswordHash: reject } }, 'accounts'],
    ['the store throws', { store: { replacePasswordHash: fail } }, 'accounts'],
  ])('never fails the login, and is told: %s', async (_, parts, dependency) => {
    const { run, rehashFailed } = recorded({ passwords, ...parts, store: { ...found, ...parts.store } })
    expect(await run(old.email)).toEqual(accountOf(old))
    expect(rehashFailed).toHaveBeenCalledOnce()
    expect(rehashFailed).toHaveBeenCalledWith(dependency, cause)
  })

  it('never fails the login: needsRehash throws', async () => {
    const { run, rehashFailed } = recorded({ store: found, passwords: { ...passwords, needsRehash: fail } })
    expect(await run(old.email)).toEqual(accountOf(old))
    expect(rehashFailed.mock.calls).toEqual([['passwords', cause]])
  })

  it('never holds the login up for longer than the timeout', async () => {
    vi.useFakeTimers()
    try {
      const store = { ...found, replacePasswordHash: () => new Promise<never>(() => {}) }
      const { run, rehashFailed } = recorded({ store, passwords, timeout: 250 })
      const account = run(old.email)
      await vi.advanceTimersByTimeAsync(250)
      expect(await account).toEqual(accountOf(old))
      expect(rehashFailed.mock.calls).toEqual([
        ['accounts', expect.objectContaining({ message: expect.stringContaining('250 ms') })],
      ])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a dependency that returns after the timeout', () => {
  const credentials = { email: alice.email, password: PASSWORD }
  const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 30, value))

  it('a slot is left', async () => {
    const leave = vi.fn()
    const passwords = bare(fastPasswords())
    const reserve = () => later({ ...passwords, leave })
    const login = createLogin({
      store: makeStore(),
      passwords: { ...passwords, reserve },
      throttle: undefined,
      timeout: 10,
    })
    expect(await refusalOf(login(credentials, context()))).toMatchObject({
      code: 'unavailable',
      dependency: 'passwords',
    })
    await vi.waitFor(() => expect(leave).toHaveBeenCalledOnce())
  })

  it('an attempt is given back', async () => {
    const giveBack = vi.fn()
    const throttle = { spend: () => later({ giveBack }) }
    const login = createLogin({ store: makeStore(), passwords: bare(fastPasswords()), throttle, timeout: 10 })
    expect(await refusalOf(login(credentials, context()))).toMatchObject({ code: 'unavailable' })
    await vi.waitFor(() => expect(giveBack.mock.calls).toEqual([[undefined]]))
  })
})
