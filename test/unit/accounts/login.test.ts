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
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLogin as createLoginOf, type LoginContext } from '../../../src/accounts/login.js'
import type { PasswordsSlot } from '../../../src/accounts/passwords/passwords.js'
import type { Attempt } from '../../../src/accounts/throttle/attempt.js'
import { settled } from '../../support/concurrency.js'
import { refusalOf } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeStore, PASSWORD } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { NOT_TRUE } from '../../support/invalid-results.js'

const { alice, disabled, passwordless } = ACCOUNTS
const CREDENTIALS = { email: alice.email, password: PASSWORD }

const context = (
  dependencyFailed: LoginContext['dependencyFailed'] = () => expect.fail('a failure'),
): LoginContext => ({
  address: '192.0.2.1',
  source: { network: '192.0.2.1', connection: undefined },
  signal: new AbortController().signal,
  dependencyFailed,
})

/** Returns the account that the login returns: a copy of the members of an `Account`. */
const accountOf = ({ email: _, ...account }: MemoryAccount) => account

type LoginParts = Parameters<typeof createLoginOf>[0]

const withDefaults = (parts: Partial<LoginParts>): LoginParts => ({
  store: makeStore(),
  passwords: fastPasswords(),
  throttle: undefined,
  timeout: 60_000,
  clock: { now: () => new Date() },
  ...parts,
})

/** Creates a login that returns only the account. */
const createLogin =
  (parts: Partial<LoginParts>) =>
  (credentials = CREDENTIALS, from = context()) =>
    createLoginOf(withDefaults(parts))(credentials, from).then(({ account }) => account)

/** Returns passwords without a queue, like an object of a host. */
function bare({ hash, verify, needsRehash }: Required<Passwords> = fastPasswords()): Passwords {
  return { hash, verify, needsRehash }
}

const never = () => new Promise<never>(() => {})
const cause = new Error('down')
const reject = () => Promise.reject(cause)
const fail = () => {
  throw cause
}

afterEach(() => void vi.useRealTimers())

/** Creates a login whose dependencies record their calls in order. */
function recorded(parts: { store?: Partial<AccountStore>; passwords?: Partial<Passwords>; timeout?: number } = {}) {
  const calls: string[] = []
  const hasher = countingHasher()
  const store = { ...makeStore(), ...parts.store }
  const passwords = { ...bare(fastPasswords(hasher)), ...parts.passwords }
  const findByEmail = (email: string) => {
    calls.push(`find ${email}`)
    return store.findByEmail(email)
  }
  const verify: Passwords['verify'] = (password, hash) => {
    calls.push(`verify ${hash}`)
    return passwords.verify(password, hash)
  }
  const login = createLogin({
    ...parts,
    store: { ...store, findByEmail },
    passwords: { ...passwords, verify },
  })
  const rehashFailed = vi.fn()
  const run = (email = alice.email, password = PASSWORD) => login({ email, password }, context(rehashFailed))
  return { run, calls, hasher, rehashFailed }
}

describe('a good login', () => {
  it('gives the account, after one look-up and one verification', async () => {
    const { run, calls, hasher, rehashFailed } = recorded()
    expect(await run()).toEqual(accountOf(alice))
    expect(calls).toEqual([`find ${alice.email}`, `verify ${alice.passwordHash}`])
    expect(hasher.asked).toHaveLength(1)
    expect(rehashFailed).not.toHaveBeenCalled()
  })

  it('says the time just before the look-up, which a later change of the account is compared with', async () => {
    let now = new Date(1000)
    const findByEmail = () => {
      now = new Date(2000)
      return alice
    }
    const parts = withDefaults({ store: { findByEmail } })
    const login = createLoginOf({ ...parts, clock: { now: () => now } })
    expect((await login(CREDENTIALS, context())).asOf).toEqual(new Date(1000))
  })

  it('is told when its throttle goes on without the shared store', async () => {
    const spend: Throttle['spend'] = async (_email, _address, storeFailed) => {
      storeFailed(cause)
      return { giveBack() {} }
    }
    const failed = vi.fn()
    expect(await createLogin({ throttle: { spend } })(CREDENTIALS, context(failed))).toEqual(accountOf(alice))
    expect(failed.mock.calls).toEqual([['throttle', cause]])
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

  it.each(CASES)('costs the same work, changes no hash and has a reason for the logs: %s', async (...row) => {
    const [, email, password, reason, accountId] = row
    const replacePasswordHash = vi.fn(async () => true)
    const passwords = { needsRehash: () => true }
    const { run, calls, hasher } = recorded({ store: { replacePasswordHash }, passwords })
    const error = await refusalOf(run(email, password))
    expect(error).toMatchObject({ code: 'invalid_credentials', status: 403, reason, headers: {} })
    expect([error.accountId, error.message]).toEqual([accountId, 'The e-mail address or the password is wrong.'])
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['find', 'verify'])
    expect(hasher.asked).toHaveLength(1)
    expect(replacePasswordHash).not.toHaveBeenCalled()
  })

  it.each(NOT_TRUE)('is what a check that answers %s makes', async (answer) => {
    const { run } = recorded({ passwords: { verify: async () => answer as never } })
    expect(await refusalOf(run())).toMatchObject({ code: 'invalid_credentials', reason: 'wrong_password' })
  })

  it('is what a check makes that finds a decoy good', async () => {
    const { run } = recorded({ passwords: { verify: async () => true } })
    expect(await refusalOf(run(passwordless.email))).toMatchObject({ reason: 'no_password' })
    expect(await refusalOf(run('nobody@example.com'))).toMatchObject({ reason: 'unknown_account' })
  })
})

describe('the e-mail address', () => {
  it.each([
    ...[' Alice@Example.COM ', 'cafe\u0301@example.com', "' OR 1=1 --", '\ud800', 'a'.repeat(320)],
    ...['\0', 'alice@example.com\0', 'a'.repeat(321)],
  ])('reaches the store as it was sent, unless it is too long or has a NUL: %j', async (email) => {
    const findByEmail = vi.fn(async () => null)
    const { run, hasher } = recorded({ store: { findByEmail } })
    expect(await refusalOf(run(email))).toMatchObject({ reason: 'unknown_account' })
    expect(findByEmail.mock.calls).toEqual(email.includes('\0') || email.length > 320 ? [] : [[email]])
    expect(hasher.asked).toHaveLength(1)
  })
})

describe('a dependency that fails is no refusal', () => {
  const passwordsThat = (verify: () => unknown) => ({ passwords: { verify: verify as Passwords['verify'] } })
  const storeThat = (findByEmail: () => unknown) => ({ store: { findByEmail: findByEmail as never } })

  it.each([
    ['a store throws', 'accounts', 1, storeThat(fail)],
    ['a store rejects', 'accounts', 1, storeThat(reject)],
    ['a store hangs', 'accounts', 1, storeThat(never)],
    ['a check throws', 'passwords', 2, passwordsThat(fail)],
    ['a check rejects', 'passwords', 2, passwordsThat(reject)],
    ['a check hangs', 'passwords', 2, passwordsThat(never)],
  ])('%s', async (what, dependency, count, parts) => {
    vi.useFakeTimers()
    const { run, calls } = recorded({ ...parts, timeout: 250 })
    const refused = refusalOf(run())
    await vi.advanceTimersByTimeAsync(250)
    const error = await refused
    expect(error).toMatchObject({ code: 'unavailable', status: 503, dependency })
    expect(error.cause).toEqual(what.includes('hangs') ? new Error('no result within 250 ms') : cause)
    expect(calls).toHaveLength(count)
  })

  it('a stored hash is of no known format', async () => {
    const { run } = recorded(storeThat(async () => ({ ...alice, passwordHash: 'md5:x' })))
    expect(await refusalOf(run())).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
  })
})

describe('a throttle', () => {
  const refused = new AuthError('too_many_attempts', { limit: 'address', retryAfter: 7 })
  const refuse = () => {
    throw refused
  }

  /** Creates a login with a throttle, and returns what the throttle, the store and the hasher were called with. */
  function throttled({ digestPassword, check, spend = async () => ({ giveBack() {} }) }: Partial<Throttle>) {
    const throttle = { spend: vi.fn(spend), ...(check && { check: vi.fn(check) }) }
    const found = vi.fn(async () => alice)
    const hasher = countingHasher()
    const login = createLogin({
      store: { findByEmail: found },
      passwords: fastPasswords(hasher),
      throttle: { ...throttle, digestPassword },
    })
    return { login, throttle, found, hasher }
  }

  it.each([
    ['a digest that it made of the password', () => 'd1ge5', 'd1ge5'],
    ['nothing of the password without digestPassword', undefined, undefined],
  ])('checks and counts %s', async (_, digestPassword, digest) => {
    const { login, throttle } = throttled({ digestPassword, check() {} })
    expect(await login()).toEqual(accountOf(alice))
    expect(throttle.check?.mock.calls).toEqual([[alice.email, '192.0.2.1', digest]])
    expect(throttle.spend.mock.calls).toEqual([[alice.email, '192.0.2.1', expect.any(Function), digest]])
  })

  it.each([
    ['check', refuse, 0, refused],
    ['spend', refuse, 1, refused],
    ['digestPassword', fail, 0, { code: 'unavailable', dependency: 'throttle', cause }],
    ['check', fail, 0, { code: 'unavailable', dependency: 'throttle', cause }],
    ['spend', fail, 1, { code: 'unavailable', dependency: 'throttle', cause }],
  ])('whose %s throws ends the login before the password is checked: %o', async (name, run, lookUps, error) => {
    const { login, found, hasher } = throttled({ [name]: run })
    expect(await refusalOf(login())).toMatchObject(error)
    expect(found).toHaveBeenCalledTimes(lookUps)
    expect(hasher.asked).toEqual([])
  })
})

describe('a client that hangs up', () => {
  const PAIR = { address: { points: 3, duration: '1h' }, pair: { points: 2, duration: '1h' }, account: false } as const

  /** Creates a login whose look-ups end when the test says so. */
  function slow(parts: Partial<LoginParts> = {}) {
    const lookUps: { resolve(account: typeof alice): void; reject(error: Error): void }[] = []
    const findByEmail = vi.fn(() => new Promise<typeof alice>((resolve, reject) => lookUps.push({ resolve, reject })))
    const login = createLogin({ store: { findByEmail }, ...parts })
    /** Disconnects when the store is called. */
    const hangUp = async (client = new AbortController()) => {
      const refused = refusalOf(login(CREDENTIALS, { ...context(), signal: client.signal }))
      await settled()
      client.abort()
      return { refused }
    }
    return { hangUp, findByEmail, lookUps }
  }

  it.each([
    ['the look-up', true, true],
    ['the look-up, with passwords that have no queue', true, false],
    ['the wait for a thread', false, true],
  ])('during %s counts against its address only', async (_, isFree, hasQueue) => {
    const throttle = createThrottle({ budgets: PAIR })
    const hasher = countingHasher()
    const verify = vi.fn(isFree ? hasher.verify : never)
    const passwords = createPasswords({ hashers: [{ ...hasher, verify }], concurrency: 1 })
    if (!isFree) void passwords.verify('x', alice.passwordHash)
    const { hangUp, lookUps } = slow({ throttle, passwords: hasQueue ? passwords : bare(passwords) })
    for (let i = 0; i < 3; i++) {
      const { refused } = await hangUp()
      lookUps.shift()?.resolve(alice)
      expect(await refused).toMatchObject({ code: 'client_closed_request' })
    }
    expect(verify).toHaveBeenCalledTimes(isFree ? 0 : 1)
    expect(() => throttle.checkAddress('192.0.2.1')).toThrow(expect.objectContaining({ limit: 'address' }))
    expect(await throttle.spend(alice.email, '192.0.2.2', () => {})).toHaveProperty('giveBack')
  })

  it('during the look-up leaves nothing unhandled when that fails later, and an event tells of the store', async () => {
    const rejections = unhandledRejections()
    const { hangUp, lookUps } = slow()
    const { refused } = await hangUp()
    lookUps[0]?.reject(cause)
    expect(await refused).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    await settled()
    expect(rejections).toEqual([])
  })

  it('before anything is done has nothing done', async () => {
    const throttle = { spend: vi.fn() }
    const { hangUp, findByEmail } = slow({ throttle })
    const client = new AbortController()
    client.abort()
    const { refused } = await hangUp(client)
    expect(await refused).toMatchObject({ code: 'client_closed_request', status: 499, headers: {} })
    expect(throttle.spend).not.toHaveBeenCalled()
    expect(findByEmail).not.toHaveBeenCalled()
  })
})

describe('the attempt of a login', () => {
  /** Creates an attempt that records its calls. */
  function recordedAttempt(changes: Partial<Pick<Attempt, 'begin' | 'count'>> = {}) {
    const calls: string[] = []
    /** The members of a class need their `this`. */
    class Recorded implements Attempt {
      readonly #calls = calls
      check() {
        this.#calls.push('check')
      }
      begin() {
        this.#calls.push('begin')
        return changes.begin?.() ?? true
      }
      async count() {
        this.#calls.push('count')
        await changes.count?.()
      }
      giveBack(except?: 'address') {
        this.#calls.push(except ? `giveBack but ${except}` : 'giveBack')
      }
      failed() {
        this.#calls.push('failed')
      }
    }
    const throttle: Throttle = { attempt: () => new Recorded(), spend: () => expect.fail('spend') }
    return { calls, throttle }
  }

  it.each<[string, string[], object, Partial<LoginParts>]>([
    ['right password', ['check', 'begin', 'count', 'giveBack'], accountOf(alice), {}],
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
      { store: { findByEmail: reject } },
    ],
    [
      'check that fails',
      ['check', 'begin', 'count', 'giveBack'],
      { dependency: 'passwords', accountId: alice.id },
      { passwords: { ...bare(), verify: reject } },
    ],
    [
      'queue without room',
      ['check', 'giveBack'],
      { code: 'overloaded' },
      { passwords: { ...bare(), reserve: () => Promise.reject(new AuthError('overloaded')) } },
    ],
  ])('ends as the login does: %s', async (_, expected, outcome, parts) => {
    const { calls, throttle } = recordedAttempt()
    expect(await createLogin({ throttle, ...parts })().catch((error) => error)).toMatchObject(outcome)
    expect(calls).toEqual(expected)
  })

  it('counts after the look-up, when a thread is free, and before the password is checked', async () => {
    const { calls, throttle } = recordedAttempt()
    class Slot implements PasswordsSlot {
      readonly #passwords = fastPasswords()
      hash = this.#passwords.hash
      async start() {
        calls.push('start')
        await this.#passwords.load()
      }
      verify(password: string, hash: string) {
        calls.push('verify')
        return this.#passwords.verify(password, hash)
      }
      leave() {
        calls.push('leave')
      }
    }
    class Store implements AccountStore {
      readonly #account = alice
      findByEmail() {
        calls.push('look-up')
        return this.#account
      }
    }
    const passwords = { ...bare(), reserve: async () => new Slot() }
    await createLogin({ store: new Store(), passwords, throttle })()
    expect(calls).toEqual(['check', 'begin', 'look-up', 'start', 'count', 'verify', 'giveBack', 'leave'])
  })

  it.each<[string, Passwords]>([
    ['no queue', bare()],
    [
      'a queue that never asks whether a login may begin',
      { ...bare(), reserve: async () => ({ ...bare(), leave() {} }) },
    ],
  ])('without room is a short 503, with passwords that have %s', async (_, passwords) => {
    const { calls, throttle } = recordedAttempt({ begin: () => false })
    const findByEmail = vi.fn(() => alice)
    const refused = await refusalOf(createLogin({ store: { findByEmail }, passwords, throttle })())
    expect(refused).toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
    expect(calls).toEqual(['check', 'begin', 'giveBack'])
    expect(findByEmail).not.toHaveBeenCalled()
  })

  it.each([
    ['begin', 'too_many_attempts'],
    ['count', 'too_many_attempts'],
    ['count', 'overloaded'],
  ] as const)(
    'that %s refuses with %s leaves its slot and its thread, and no password is checked',
    async (at, code) => {
      const refusal = new AuthError(code)
      const { calls, throttle } = recordedAttempt({
        [at]: () => {
          throw refusal
        },
      })
      const hasher = countingHasher()
      const passwords = fastPasswords(hasher)
      expect(await refusalOf(createLogin({ passwords, throttle })())).toBe(refusal)
      expect(calls.at(-1)).toBe('giveBack')
      expect(hasher.asked).toEqual([])
      expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
    },
  )

  /** Runs 40 logins at once, with room for two. */
  function crowd(credentials: typeof CREDENTIALS) {
    const throttle = createThrottle({ budgets: { pair: { points: 2, duration: '1h' } } })
    const hasher = countingHasher()
    const passwords = createPasswords({ hashers: [hasher], concurrency: 4 })
    const login = createLogin({ passwords, throttle })
    return { hasher, logins: Array.from({ length: 40 }, () => login(credentials)) }
  }

  it('waits in the queue while others fill a limit, and a right login is never refused because of them', async () => {
    expect(await Promise.all(crowd(CREDENTIALS).logins)).toEqual(Array(40).fill(accountOf(alice)))
  })

  it('waits in the queue while others fill a limit, and is refused when they have failed', async () => {
    const { hasher, logins } = crowd({ ...CREDENTIALS, password: 'guess' })
    const codes = (await Promise.all(logins.map(refusalOf))).map(({ code }) => code)
    expect(codes.toSorted()).toEqual([...Array(2).fill('invalid_credentials'), ...Array(38).fill('too_many_attempts')])
    expect(hasher.asked).toHaveLength(2)
  })

  it.each([
    ['a wrong password', alice.email, 'wrong', ['failed']],
    ['an unknown address', 'nobody@example.com', PASSWORD, ['failed']],
    ['a right password', alice.email, PASSWORD, ['giveBack undefined']],
  ])('of a host that only has spend is told of the end before the login ends: %s', async (_, email, password, end) => {
    const told: string[] = []
    const failed = async () => {
      await settled()
      told.push('failed')
    }
    const giveBack = (except?: string) => void told.push(`giveBack ${except}`)
    await createLogin({ throttle: { spend: async () => ({ giveBack, failed }) } })({ email, password }).catch(() => {})
    expect(told).toEqual(end)
  })

  it.each<[string, Awaited<ReturnType<Throttle['spend']>>['failed'], object]>([
    ['absent', undefined, { code: 'invalid_credentials' }],
    ['rejects', reject, { code: 'unavailable', dependency: 'throttle' }],
  ])('ends a wrong login when `failed` of a host %s', async (_, failed, refusal) => {
    const login = createLogin({ throttle: { spend: async () => ({ giveBack() {}, failed }) } })
    await expect(login({ ...CREDENTIALS, password: 'wrong' })).rejects.toMatchObject(refusal)
  })
})

describe('checkAddress', () => {
  it('refuses a client whose address has reached its limit, without waiting', async () => {
    const throttle = createThrottle({ budgets: { address: { points: 1, duration: '1h' } } })
    const { checkAddress } = createLoginOf(withDefaults({ throttle }))
    checkAddress('192.0.2.1')
    await (await throttle.spend(alice.email, '192.0.2.1', () => {})).failed?.()
    expect(() => checkAddress('192.0.2.1')).toThrow(expect.objectContaining({ limit: 'address' }))
    checkAddress('192.0.2.2')
    // Nobody is refused without a throttle, or with one that cannot tell.
    for (const other of [undefined, { spend: throttle.spend }]) {
      createLoginOf(withDefaults({ throttle: other })).checkAddress('192.0.2.1')
    }
  })

  it('waits for a throttle of the host, whose failure is no refusal', async () => {
    const checkOf = (checkAddress: () => Promise<never>) =>
      createLoginOf(withDefaults({ throttle: { spend: () => expect.fail('spend'), checkAddress } })).checkAddress(
        '192.0.2.1',
      )
    const refusal = new AuthError('too_many_attempts')
    await expect(checkOf(() => Promise.reject(refusal))).rejects.toBe(refusal)
    const failing = checkOf(() => Promise.reject(new Error('down')))
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', dependency: 'throttle' })
  })
})

describe('rehash on login', () => {
  const old = { ...alice, passwordHash: `old:${PASSWORD}` }
  const passwordsOf = (first: Hasher) => bare(createPasswords({ hashers: [first, countingHasher('old:')] }))
  const passwords = passwordsOf(countingHasher('new:'))
  const found = { findByEmail: async () => old }

  it('swaps the hash that was verified for one of the first hasher, and says which one it replaces', async () => {
    const replacePasswordHash = vi.fn(async () => false)
    const { run, rehashFailed } = recorded({ store: { ...found, replacePasswordHash }, passwords })
    expect(await run()).toEqual(accountOf(old))
    expect(replacePasswordHash.mock.calls).toEqual([[old.id, old.passwordHash, `new:${PASSWORD}`]])
    expect(rehashFailed).not.toHaveBeenCalled()
  })

  it.each<[string, boolean, AccountStore['findByEmail'], Passwords]>([
    ['the hash is of today', true, async () => alice, bare()],
    ['the store cannot', false, found.findByEmail, passwords],
    ['the password checks cannot tell', true, found.findByEmail, { hash: passwords.hash, verify: passwords.verify }],
  ])('does nothing when %s', async (_, canReplace, findByEmail, checks) => {
    const replacePasswordHash = vi.fn(async () => true)
    const hash = vi.fn(checks.hash)
    const store = { findByEmail, ...(canReplace && { replacePasswordHash }) }
    expect(await createLogin({ store, passwords: { ...checks, hash } })()).toMatchObject({ id: alice.id })
    expect(hash).not.toHaveBeenCalled()
    expect(replacePasswordHash).not.toHaveBeenCalled()
  })

  it.each<[string, { store?: Partial<AccountStore>; passwords?: Partial<Passwords> }, string]>([
    ['hashing rejects', { passwords: { ...passwords, hash: reject } }, 'passwords'],
    ['hashing throws', { passwords: { ...passwords, hash: fail } }, 'passwords'],
    ['needsRehash throws', { passwords: { ...passwords, needsRehash: fail } }, 'passwords'],
    ['the store rejects', { store: { replacePasswordHash: reject } }, 'accounts'],
    ['the store throws', { store: { replacePasswordHash: fail } }, 'accounts'],
  ])('never fails the login, and is told: %s', async (_, parts, dependency) => {
    const { run, rehashFailed } = recorded({ passwords, ...parts, store: { ...found, ...parts.store } })
    expect(await run()).toEqual(accountOf(old))
    expect(rehashFailed.mock.calls).toEqual([[dependency, cause]])
  })

  it('never holds the login up for longer than the timeout', async () => {
    vi.useFakeTimers()
    const { run, rehashFailed } = recorded({ store: { ...found, replacePasswordHash: never }, passwords, timeout: 250 })
    const account = run()
    await vi.advanceTimersByTimeAsync(250)
    expect(await account).toEqual(accountOf(old))
    expect(rehashFailed.mock.calls).toEqual([['accounts', new Error('no result within 250 ms')]])
  })
})

it.each(['slot', 'attempt'])('a %s that comes after the timeout is left or given back', async (late) => {
  vi.useFakeTimers()
  const release = vi.fn()
  const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 30, value))
  const login = createLogin({
    passwords: { ...bare(), ...(late === 'slot' && { reserve: () => later({ ...bare(), leave: () => release() }) }) },
    throttle: late === 'slot' ? undefined : { spend: () => later({ giveBack: () => release() }) },
    timeout: 10,
  })
  const refused = refusalOf(login())
  await vi.advanceTimersByTimeAsync(10)
  expect(await refused).toMatchObject({ code: 'unavailable', dependency: late === 'slot' ? 'passwords' : 'throttle' })
  expect(release).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(20)
  expect(release).toHaveBeenCalledOnce()
})
