// Tests login/steps.ts

import {
  type AccountStore,
  AuthError,
  createLimits,
  createPasswords,
  type Limits,
  type MemoryAccount,
  type Passwords,
} from 'express-token-endpoint'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Attempt, type AttemptAdmission, type LimitsPort, NO_LIMITS } from '../../../src/limits/attempt.js'
import { logIn } from '../../../src/login/log-in.js'
import type { LoginDependencies, LoginTask } from '../../../src/login/steps.js'
import type { PasswordsSlot, QueuedPasswords } from '../../../src/passwords/passwords.js'
import { refusalOf } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeStore, PASSWORD } from '../../support/fixtures.js'
import { NOT_TRUE } from '../../support/values/invalid-results.js'

const { alice, disabled, passwordless } = ACCOUNTS
const CREDENTIALS = { email: alice.email, password: PASSWORD }

type Failed = LoginTask['dependencyFailed']
const context = (dependencyFailed: Failed = () => expect.fail('a failure')) => ({
  address: '192.0.2.1',
  network: '192.0.2.1',
  signal: new AbortController().signal,
  fields: {},
  hasUnnamed: false,
  req: undefined,
  tenant: undefined,
  beforeSignIn: undefined,
  dependencyFailed,
})

/** Returns the object of an account that the login returns. */
const accountOf = ({ passwordHash: _, ...user }: MemoryAccount) => user

/** The dependencies as a host passes them. */
interface Parts {
  store?: AccountStore
  passwords?: Passwords
  limits?: Limits | LimitsPort | undefined
  timeout?: number
}

const withDefaults = ({ store, passwords, limits, timeout = 60_000 }: Parts): LoginDependencies => ({
  accounts: store ?? makeStore(),
  passwords: (passwords ?? fastPasswords()) as QueuedPasswords,
  limits: (limits as LimitsPort | undefined) ?? NO_LIMITS,
  timeout,
  clock: Date.now,
})

/** Creates a login that returns only the account. */
const createLogin =
  (parts: Parts) =>
  (credentials = CREDENTIALS, from = context()) =>
    logIn({ ...withDefaults(parts), ...credentials, ...from }).then(({ user }) => user)

const never = () => new Promise<never>(() => {})
const cause = new Error('down')
const reject = (_?: unknown) => Promise.reject(cause)
const throwing = (error: unknown) => () => {
  throw error
}
const fail = throwing(cause)

afterEach(() => void vi.useRealTimers())

/** Returns an object whose methods note their calls, and need their `this`. */
function noting<T extends object>(calls: string[], methods: T): T {
  const object: Record<string, unknown> = {}
  for (const [name, run] of Object.entries(methods).filter(([, run]) => run !== undefined)) {
    object[name] = function (this: unknown, ...args: unknown[]) {
      calls.push(this === object ? [name, ...args.filter((one) => !isContext(one))].join(' ') : `${name} without this`)
      return run(...args)
    }
  }
  return object as T
}

interface Changes {
  email?: string
  password?: string
  store?: object
  attempt?: Partial<Attempt>
  slot?: object
  passwords?: Partial<QueuedPasswords>
  /** Aborted when the client disconnects. */
  client?: AbortController
}

/** Runs a login whose parts note their calls. */
async function run({ email = alice.email, password = PASSWORD, client = new AbortController(), ...changes }: Changes) {
  vi.useFakeTimers()
  const calls: string[] = []
  const store: AccountStore = noting(calls, { ...makeStore(), ...changes.store })
  const ready: Attempt = { check() {}, begin: () => true, admit: () => 'admitted', end() {} }
  const attempt: Attempt = noting(calls, { ...ready, ...changes.attempt })
  const { hash, verify } = fastPasswords()
  const slot: PasswordsSlot = noting(calls, { async start() {}, hash, verify, leave() {}, ...changes.slot })
  const reserve: QueuedPasswords['reserve'] = async ({ admit } = {}) => {
    admit?.()
    return slot
  }
  const passwords = { ...fastPasswords(), reserve, ...changes.passwords }
  const limits = { ...NO_LIMITS, attempt: () => attempt }
  const failed = vi.fn()
  const login = createLogin({ store, passwords, limits, timeout: 250 })
  const from = { ...context(failed), signal: client.signal }
  const ended = login({ email, password }, from).catch((error) => error)
  await vi.advanceTimersByTimeAsync(250)
  const names = calls.map((call) => (call.startsWith('end ') ? call : call.split(' ')[0]))
  return { outcome: await ended, calls, names, failures: failed.mock.calls }
}

/** Returns whether an argument is the context of a look-up. */
const isContext = (argument: unknown) => Object.hasOwn(Object(argument), 'fields')

const CHECKED = ['check', 'begin', 'findByEmail', 'start', 'admit', 'verify']
const unavailable = (dependency: string, error: unknown = cause) =>
  expect.objectContaining({ code: 'unavailable', dependency, cause: error })
const CHECK_FAILED = expect.objectContaining({ dependency: 'passwords', cause, accountId: alice.id })
const GONE = expect.objectContaining({ code: 'client_closed_request', status: 499 })
const OVERLOADED = new AuthError('overloaded')
const TOO_MANY = new AuthError('too_many_attempts')
const hung = new Error('no result within 250 ms')

describe('a login', () => {
  const DECOY_MATCHES = { verify: async () => true }
  it.each<[string, Changes, reason: string, accountId?: string]>([
    ['an unknown e-mail', { email: 'nobody@example.com' }, 'unknown_account'],
    ['an unknown e-mail, and a decoy that matches', { email: 'nobody@', slot: DECOY_MATCHES }, 'unknown_account'],
    ['a wrong password', { password: 'wrong' }, 'wrong_password', alice.id],
    ['an empty password', { password: '' }, 'wrong_password', alice.id],
    ['a disabled account', { email: disabled.email }, 'account_disabled', disabled.id],
    ['an account without a password', { email: passwordless.email }, 'no_password', passwordless.id],
    ['a decoy that matches', { email: passwordless.email, slot: DECOY_MATCHES }, 'no_password', passwordless.id],
    ...NOT_TRUE.map((answer): [string, Changes, string, string] => {
      return [`a check that answers ${answer}`, { slot: { verify: async () => answer } }, 'wrong_password', alice.id]
    }),
  ])('fails after the same work, and has a reason for the logs: %s', async (_, changes, ...reason) => {
    const { outcome, names } = await run({ ...changes, passwords: { needsRehash: () => true } })
    const { code, reason: told, accountId } = outcome as AuthError
    expect([code, told, accountId]).toEqual(['invalid_credentials', ...reason, ...(reason[1] ? [] : [undefined])])
    expect(names).toEqual([...CHECKED, 'end failed', 'leave'])
  })

  const BEGUN = ['check', 'begin']
  const NOT_COUNTED = [...CHECKED, 'end failed', 'leave']
  const LOOKED_UP = [...BEGUN, 'findByEmail']
  const NOT_CHECKED = ['end not_checked', 'leave']
  const LEFT = [...LOOKED_UP, ...NOT_CHECKED]
  it.each<[string, Changes, string[], unknown]>([
    ['check refuses', { attempt: { check: throwing(TOO_MANY) } }, ['check'], TOO_MANY],
    [
      'the queue has no room',
      { passwords: { reserve: throwing(OVERLOADED) } },
      ['check', 'end not_checked'],
      OVERLOADED,
    ],
    ['begin refuses', { attempt: { begin: throwing(TOO_MANY) } }, [...BEGUN, 'end not_checked'], TOO_MANY],
    ['the store throws', { store: { findByEmail: fail } }, LEFT, unavailable('accounts')],
    ['the store hangs', { store: { findByEmail: never } }, LEFT, unavailable('accounts', hung)],
    ...[TOO_MANY, OVERLOADED].map((error): [string, Changes, string[], unknown] => [
      `admit refuses: ${error.code}`,
      { attempt: { admit: throwing(error) } },
      [...LOOKED_UP, 'start', 'admit', ...NOT_CHECKED],
      error,
    ]),
    ['the hashing thread fails', { slot: { start: reject } }, [...LOOKED_UP, 'start', ...NOT_CHECKED], CHECK_FAILED],
    ['the check throws', { slot: { verify: fail } }, [...CHECKED, ...NOT_CHECKED], CHECK_FAILED],
    ['counting hangs', { password: '', attempt: { end: never } }, NOT_COUNTED, unavailable('limits', hung)],
    ['a failure is not counted', { password: '', attempt: { end: reject } }, NOT_COUNTED, unavailable('limits')],
  ])('ends without more work: %s', async (_, changes, expected, error) => {
    const { outcome, names } = await run(changes)
    expect(outcome).toEqual(error)
    expect(names).toEqual(expected)
  })

  it.each([
    [alice.email, 'limited'],
    ['nobody@example.com', 'unknown_account'],
  ])(
    'checks a decoy where the limits of the account are used up, also of the right password: %s',
    async (email, reason) => {
      const { outcome, calls, names } = await run({ email, attempt: { admit: () => 'refused' } })
      expect(outcome).toMatchObject({ code: 'invalid_credentials', reason })
      expect(calls).toContain(`verify ${PASSWORD} `)
      expect(names).toEqual([...CHECKED, 'end failed', 'leave'])
    },
  )

  it('begins again where failures in other processes leave no room, and looks the account up again', async () => {
    const admissions: AttemptAdmission[] = ['waits', 'waits', 'admitted']
    const { outcome, calls, names } = await run({ attempt: { admit: () => admissions.shift() as AttemptAdmission } })
    expect(outcome).toEqual(accountOf(alice))
    const AGAIN = ['begin', 'findByEmail', 'start', 'admit', 'leave']
    expect(names).toEqual(['check', ...AGAIN, ...AGAIN, ...CHECKED.slice(1), 'end succeeded', 'leave'])
    expect(calls).toContain(`admit ${alice.id}`)
  })

  it('refuses a wrong password without limits', async () => {
    const refused = refusalOf(createLogin({})({ ...CREDENTIALS, password: 'wrong' }))
    expect((await refused).code).toBe('invalid_credentials')
  })

  type Leaving<T> = (leave: () => void) => T
  const lookUp = (ends: Leaving<unknown>) => (leave: () => void) => ({ store: { findByEmail: () => ends(leave) } })
  const goneInWait = { slot: { start: throwing(new AuthError('client_closed_request')) } }
  it.each<[string, Leaving<Changes>, string[], unknown]>([
    ['at once', (leave) => ({ passwords: leave() as never }), [], GONE],
    ['during the look-up', lookUp(async (leave) => leave()), [...LOOKED_UP, 'end disconnected', 'leave'], GONE],
    ['during a failing look-up', lookUp((leave) => reject(leave())), LEFT, unavailable('accounts')],
    ['during the wait for a thread', () => goneInWait, [...LOOKED_UP, 'start', 'end disconnected', 'leave'], GONE],
  ])('tells the limits that its client has disconnected, and only then: %s', async (_, changes, expected, error) => {
    const client = new AbortController()
    const { outcome, calls } = await run({ client, ...changes(() => client.abort()) })
    expect(outcome).toEqual(error)
    expect(calls.map((call) => call.replace(` ${alice.email}`, ''))).toEqual(expected)
  })

  const TOO_LONG = new AuthError('weak_password', { reason: 'too_long' })
  const outdated = { needsRehash: () => true }
  const REPLACED = ['hash', 'replacePasswordHash']
  const ACCOUNTS_FAILED = [['accounts', cause]]
  it.each<[string, Changes, string[], unknown[]]>([
    ['the hash is of today', {}, [], []],
    ['it is outdated', { passwords: outdated }, REPLACED, []],
    ['the store cannot', { passwords: outdated, store: { replacePasswordHash: undefined } }, [], []],
    ['needsRehash throws', { passwords: { needsRehash: fail } }, [], [['passwords', cause]]],
    ['no thread is free', { passwords: outdated, slot: { hash: throwing(OVERLOADED) } }, ['hash'], []],
    [
      'the password is too long for the hasher',
      { passwords: outdated, slot: { hash: throwing(TOO_LONG) } },
      ['hash'],
      [],
    ],
    ['hashing rejects', { passwords: outdated, slot: { hash: reject } }, ['hash'], [['passwords', cause]]],
    ['the store rejects', { passwords: outdated, store: { replacePasswordHash: reject } }, REPLACED, ACCOUNTS_FAILED],
    ['the store hangs', { passwords: outdated, store: { replacePasswordHash: never } }, REPLACED, [['accounts', hung]]],
  ])('with the right password replaces the hash if it can, and never fails: %s', async (_, changes, more, failures) => {
    const { outcome, calls, names, failures: reported } = await run(changes)
    expect(outcome).toEqual(accountOf(alice))
    expect(names).toEqual([...CHECKED, 'end succeeded', ...more, 'leave'])
    expect(calls).toContain(`verify ${PASSWORD} ${alice.passwordHash}`)
    if (more.length > 1) expect(calls.at(-2)).toMatch(`replacePasswordHash ${alice.id} ${alice.passwordHash} plain:`)
    expect(reported).toEqual(failures)
  })

  it.each([
    ...[' Alice@Example.COM ', 'cafe\u0301@example.com', "' OR 1=1 --", '\ud800', 'a'.repeat(320)],
    ...['\0', 'alice@example.com\0', 'a'.repeat(321)],
  ])('asks the store for the e-mail as it was sent, unless it is too long or has a NUL: %j', async (email) => {
    const { outcome, calls, names } = await run({ email })
    expect(outcome).toMatchObject({ reason: 'unknown_account' })
    expect(calls.includes(`findByEmail ${email}`)).toBe(!email.includes('\0') && email.length <= 320)
    expect(names).toContain('verify')
  })

  it('waits in the queue while others fill a limit, and a right login is never refused because of them', async () => {
    const limits = createLimits({ limits: { pair: { points: 2, duration: '1h' } } })
    const login = createLogin({ passwords: createPasswords({ hashers: [countingHasher()], concurrency: 4 }), limits })
    expect(await Promise.all(Array.from({ length: 40 }, () => login()))).toEqual(Array(40).fill(accountOf(alice)))
  })
})
