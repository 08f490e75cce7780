import Bluebird from 'bluebird'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { callHost, timeoutOption } from '../../../src/concurrency/host-call.js'
import { AuthError } from '../../../src/errors/auth-error.js'
import { named } from '../../../src/options/read-options.js'
import { deferred, settled } from '../../support/concurrency.js'
import { expectMisuse, refusalOf } from '../../support/failures.js'
import { unhandledRejections } from '../../support/host.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('callHost returns the result', () => {
  it.each([
    ['a value', () => 7],
    ['a promise', async () => 7],
    // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
    ['a thenable that is no Promise', () => ({ then: (resolve: (value: number) => void) => resolve(7) })],
    ['a promise of Bluebird', () => Bluebird.resolve(7)],
    ['a promise of a promise', async () => Promise.resolve(7)],
  ])('%s', async (_, question) => {
    expect(await callHost('accounts', question as () => number, { timeout: 1000 })).toBe(7)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([undefined, null, 0, '', false])('also %j', async (result) => {
    expect(await callHost('accounts', () => result, { timeout: 1000 })).toBe(result)
    expect(await callHost('accounts', async () => result, { timeout: 1000 })).toBe(result)
  })
})

describe('callHost rejects with unavailable, the dependency and the cause', () => {
  const cause = new Error('connection lost')

  it.each<[string, unknown, () => unknown]>([
    ['throws', cause, () => expectThrow(cause)],
    ['rejects', cause, () => Promise.reject(cause)],
    ['rejects with undefined', undefined, () => Promise.reject(undefined)],
    // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
    ['has a then that throws', cause, () => ({ then: () => expectThrow(cause) })],
  ])('when it %s', async (_, expected, question) => {
    const error = await refusalOf(callHost('revocation', question, { timeout: 1000 }))
    expect(error).toMatchObject({ code: 'unavailable', status: 503, dependency: 'revocation' })
    expect(error.cause).toBe(expected)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('when there is no result in time, and not before', async () => {
    const sevenAfter = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms, 7))
    const inTime = callHost('accounts', () => sevenAfter(999), { timeout: 1000 })
    const unlimited = callHost('accounts', () => sevenAfter(1001))
    const refused = refusalOf(callHost('accounts', () => sevenAfter(1001), { timeout: 1000 }))
    await vi.advanceTimersByTimeAsync(1001)
    expect([await inTime, await unlimited]).toEqual([7, 7])
    const error = await refused
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    expect(error.cause).toMatchObject({ message: 'no result within 1000 ms' })
  })

  it('a late failure is dropped, and reaches no unhandledRejection', async () => {
    const rejections = unhandledRejections()
    const { promise, reject } = deferred<never>()
    const refused = refusalOf(callHost('accounts', () => promise, { timeout: 1000 }))
    await vi.advanceTimersByTimeAsync(1000)
    await refused
    reject(cause)
    vi.useRealTimers()
    await settled()
    expect(rejections).toEqual([])
  })
})

it('names the account that a call is about, when the call fails', async () => {
  const about = { accountId: 'acc-1' }
  const failed = refusalOf(callHost('passwords', () => Promise.reject(new Error('down')), { about }))
  expect(await failed).toMatchObject({ code: 'unavailable', dependency: 'passwords', accountId: 'acc-1' })
})

describe('a refusal of this package', () => {
  const refusal = new AuthError('overloaded')
  const refuse = () => Promise.reject(refusal)

  it('is passed on when the caller names its code', async () => {
    expect(await refusalOf(callHost('passwords', refuse, { passThrough: ['overloaded'] }))).toBe(refusal)
  })

  it.each([[undefined], [[]], [['invalid_token' as const]]])(
    'is a failure when the caller names: %j',
    async (passThrough) => {
      const error = await refusalOf(callHost('passwords', refuse, passThrough && { passThrough }))
      expect(error).toMatchObject({ code: 'unavailable', dependency: 'passwords', cause: refusal })
    },
  )
})

function expectThrow(what: unknown): never {
  throw what
}

describe('the timeout option', () => {
  const read = (value: unknown) => named('tokenRouter: option "timeout"', timeoutOption, value)

  it.each([
    [undefined, 5000],
    ['1ms', 1],
    ['1m', 60_000],
  ])('%j is %i ms', (value, ms) => expect(read(value)).toBe(ms))

  it.each([0, 61])('refuses %j', (value) => {
    expectMisuse(() => read(value), 'tokenRouter: option "timeout" must be a number of seconds or a string')
  })
})
