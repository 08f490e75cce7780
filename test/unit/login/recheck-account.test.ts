import { inspect } from 'node:util'
import { AuthError, createLimits, createPasswords, type MemoryAccount } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import type { LimitsPort } from '../../../src/limits/attempt.js'
import { logIn as logInWith } from '../../../src/login/log-in.js'
import type { LoginTask } from '../../../src/login/steps.js'
import type { QueuedPasswords } from '../../../src/passwords/passwords.js'
import { deferred, until } from '../../support/concurrency.js'
import { refusalOf } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, frozenClock, PASSWORD } from '../../support/fixtures.js'
import { hang } from '../../support/values/invalid-results.js'

const { alice, bob } = ACCOUNTS
const GOOD = { email: alice.email, password: PASSWORD }

/** A hasher whose hashes end with the password. */
function saltingHasher(prefix = 'plain:') {
  const hasher = countingHasher(prefix)
  const verify = (password: string, hash: string) => {
    hasher.asked.push(hash)
    return hash.endsWith(`:${password}`)
  }
  return { ...hasher, verify, hash: (password: string) => `${prefix}new:${password}` }
}

/** Logs in, with a store whose account a test changes afterwards. */
async function logIn(hash: string = alice.passwordHash, parts: object = {}, from: Partial<LoginTask> = {}) {
  const clock = frozenClock()
  const row: { account: unknown } = { account: { ...alice, passwordHash: hash } }
  const [hasher, old] = [saltingHasher(), saltingHasher('old:')]
  const store = {
    findByEmail: vi.fn((_email: string) => row.account as MemoryAccount),
    replacePasswordHash: vi.fn(async (_id: string, _from: string, to: string) => {
      Object.assign(row.account as object, { passwordHash: to })
      return true
    }),
  }
  const passwords = createPasswords({ hashers: [hasher, old], concurrency: 1, queue: 0 }) as QueuedPasswords
  const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
  const network = '192.0.2.1'
  const signal = new AbortController().signal
  const asking = { tenant: undefined, beforeSignIn: undefined, fields: {}, hasUnnamed: false, req: undefined }
  const context = { address: '192.0.2.1', network, signal, ...asking, dependencyFailed: vi.fn(), ...from }
  const dependencies = {
    accounts: store,
    passwords,
    limits: limits as unknown as LimitsPort,
    timeout: 60_000,
    clock,
    ...parts,
  }
  const login = () => logInWith({ ...dependencies, ...GOOD, ...context })
  const found = await login()
  const asked = [hasher, old].map((one) => one.asked)
  return { ...found, found, login, store, row, clock, passwords, asked }
}

/** Logs in. Then another hash is stored, and another login hashes until the test ends it. */
async function logInBeforeAnother(queue: number, signal = new AbortController().signal) {
  const hashing = deferred<boolean>()
  const { recheckAccount, row, passwords } = await logIn(undefined, {}, { signal })
  const hasher = { ...saltingHasher(), verify: () => hashing.promise }
  const busy = createPasswords({ hashers: [hasher], concurrency: 1, queue }) as QueuedPasswords
  Object.assign(passwords, { reserve: busy.reserve })
  row.account = { ...alice, passwordHash: 'plain:salt:x' }
  return { recheckAccount, hashing, busy, first: busy.verify(PASSWORD, alice.passwordHash) }
}

describe('the second check of an account', () => {
  it('looks the account up by the address that was sent, and hashes nothing while the hash is the same', async () => {
    const { recheckAccount, store, asked } = await logIn()
    expect(await recheckAccount()).toEqual({ current: alice.passwordHash, announced: undefined })
    expect(store.findByEmail.mock.calls).toEqual(Array(2).fill([alice.email, { req: undefined, fields: {} }]))
    expect(asked).toEqual([[alice.passwordHash], []])
  })

  it('knows the hash that the login itself has stored, also when the store failed afterwards', async () => {
    const row: { account: MemoryAccount } = { account: { ...alice, passwordHash: `old:0:${PASSWORD}` } }
    const replacePasswordHash = async (_id: string, _from: string, to: string) => {
      row.account.passwordHash = to
      throw new Error('down')
    }
    const hashers = [saltingHasher(), saltingHasher('old:')] as const
    const store = { findByEmail: () => row.account, replacePasswordHash }
    const { recheckAccount } = await logIn(undefined, {
      accounts: store,
      passwords: createPasswords({ hashers: [...hashers] }),
    })
    await recheckAccount()
    expect([row.account.passwordHash, ...hashers.map(({ asked }) => asked)]).toEqual([
      `plain:new:${PASSWORD}`,
      [],
      [`old:0:${PASSWORD}`],
    ])
  })

  it('verifies another hash once, because a login at the same time may have stored one of the same password', async () => {
    const { recheckAccount, row, asked } = await logIn()
    row.account = { ...alice, passwordHash: `plain:salt:${PASSWORD}` }
    await recheckAccount()
    expect(asked[0]).toEqual([alice.passwordHash, `plain:salt:${PASSWORD}`])
  })

  it.each<[string, unknown, string]>([
    ['another password', { ...alice, passwordHash: 'plain:another' }, 'superseded'],
    ['no password', { ...alice, passwordHash: null }, 'superseded'],
    ['tokensValidAfter after the look-up', { ...alice, tokensValidAfter: new Date(9e12) }, 'superseded'],
    ['been disabled', { ...alice, disabled: true }, 'account_disabled'],
    ['been deleted', null, 'unknown_account'],
    ['given its address to another account', { ...bob, passwordHash: alice.passwordHash }, 'unknown_account'],
  ])('refuses an account that has meanwhile %s, which is not a failed login', async (_what, account, reason) => {
    const { recheckAccount, row, login } = await logIn()
    row.account = account
    expect(await refusalOf(recheckAccount())).toMatchObject({
      code: 'invalid_credentials',
      reason,
      accountId: alice.id,
    })
    row.account = alice
    expect(await login()).toMatchObject({ user: { id: alice.id } })
  })

  it('accepts tokensValidAfter of the time of the look-up, and of before', async () => {
    const { recheckAccount, row, clock } = await logIn()
    for (const time of [clock(), clock() - 1]) {
      row.account = { ...alice, tokensValidAfter: new Date(time) }
      await recheckAccount()
    }
    row.account = { ...alice, tokensValidAfter: new Date(clock() + 1) }
    expect(await refusalOf(recheckAccount())).toMatchObject({ reason: 'superseded' })
  })

  it.each<[string, () => unknown, string]>([
    ['fails', () => Promise.reject(new Error('down')), 'accounts'],
    ['hangs', hang, 'accounts'],
    ['returns an invalid account', () => ({ ...alice, id: 7 }), 'accounts'],
    ['returns a hash that no hasher accepts', () => ({ ...alice, passwordHash: 'x' }), 'passwords'],
  ])('is unavailable, and no refusal, when the store %s', async (_what, find, dependency) => {
    const { recheckAccount, store } = await logIn(undefined, { timeout: 50 })
    store.findByEmail.mockImplementation(find as never)
    expect(await refusalOf(recheckAccount())).toMatchObject({ code: 'unavailable', status: 503, dependency })
  })

  it('waits in the queue for a thread, and is overloaded when the queue is full', async () => {
    const { recheckAccount, hashing, busy, first } = await logInBeforeAnother(0)
    expect(await refusalOf(recheckAccount())).toMatchObject({ code: 'overloaded' })
    hashing.resolve(true)
    await first
    await recheckAccount()
    expect(busy.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('waits no longer for a thread when the client disconnects', async () => {
    const client = new AbortController()
    const { recheckAccount, hashing, busy, first } = await logInBeforeAnother(1, client.signal)
    const refused = refusalOf(recheckAccount())
    await until(() => expect(busy.load()).toEqual({ active: 1, waiting: 1 }))
    client.abort()
    expect(await refused).toMatchObject({ code: 'client_closed_request' })
    hashing.resolve(true)
    await first
  })

  it('verifies no hash for a client that has disconnected', async () => {
    const client = new AbortController()
    const { recheckAccount, row, asked } = await logIn(undefined, {}, { signal: client.signal })
    row.account = { ...alice, passwordHash: `plain:salt:${PASSWORD}` }
    client.abort()
    expect(await refusalOf(recheckAccount())).toMatchObject({ code: 'client_closed_request' })
    expect(asked[0]).toHaveLength(1)
  })

  it('keeps the password and the hashes out of everything that can be printed', async () => {
    const { found, row } = await logIn(`old:0:${PASSWORD}`)
    expect(inspect(found, { showHidden: true, depth: 9 })).not.toContain(PASSWORD)
    row.account = { ...alice, passwordHash: 'plain:another' }
    const error = await refusalOf(found.recheckAccount())
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toMatch(/plain:|old:|correct horse/)
    expect(error).toBeInstanceOf(AuthError)
  })
})
