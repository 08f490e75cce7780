import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ask, timeoutOption } from '../../../src/shared/host-call.js'
import { named } from '../../../src/shared/options.js'
import { expectMisuse, refusalOf } from '../../support/failures.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})

describe('ask gives the answer', () => {
  it.each([
    ['a value', () => 7],
    ['a promise', async () => 7],
    // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
    ['a thenable that is no Promise', () => ({ then: (resolve: (value: number) => void) => resolve(7) })],
    ['a promise of a promise', async () => Promise.resolve(7)],
  ])('%s', async (_, question) => {
    expect(await ask('accounts', 1000, question as () => number)).toBe(7)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([undefined, null, 0, '', false])('also %j', async (answer) => {
    expect(await ask('accounts', 1000, () => answer)).toBe(answer)
    expect(await ask('accounts', 1000, async () => answer)).toBe(answer)
  })

  it('in the last millisecond', async () => {
    const answer = ask('accounts', 1000, () => new Promise((resolve) => setTimeout(resolve, 999, 7)))
    await vi.advanceTimersByTimeAsync(999)
    expect(await answer).toBe(7)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('ask fails as unavailable, with the part and the cause', () => {
  const cause = new Error('connection lost')

  it.each<[string, unknown, () => unknown]>([
    ['throws', cause, () => expectThrow(cause)],
    ['rejects', cause, () => Promise.reject(cause)],
    ['throws what is no Error', 'gone', () => expectThrow('gone')],
    ['rejects with null', null, () => Promise.reject(null)],
    // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
    ['has a then that throws', cause, () => ({ then: () => expectThrow(cause) })],
  ])('when it %s', async (_, expected, question) => {
    const error = await refusalOf(ask('revocation', 1000, question))
    expect(error).toMatchObject({ code: 'unavailable', status: 503, dependency: 'revocation' })
    expect(error.cause).toBe(expected)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('when there is no answer in time', async () => {
    const refused = refusalOf(ask('accounts', 1000, never))
    await vi.advanceTimersByTimeAsync(1000)
    const error = await refused
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    expect(error.cause).toMatchObject({ message: 'no response within 1000 ms' })
  })

  it('and not before', async () => {
    let settled = false
    const refused = refusalOf(ask('accounts', 1000, never)).finally(() => {
      settled = true
    })
    await vi.advanceTimersByTimeAsync(999)
    expect(settled).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await refused
  })

  it('a late failure is dropped, and reaches no unhandledRejection', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    let reject: (error: Error) => void = () => {}
    const late = new Promise<never>((_, fail) => {
      reject = fail
    })
    const refused = refusalOf(ask('accounts', 1000, () => late))
    await vi.advanceTimersByTimeAsync(1000)
    await refused
    reject(cause)
    vi.useRealTimers()
    await new Promise(setImmediate)
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

function expectThrow(what: unknown): never {
  throw what
}

describe('the timeout option', () => {
  const read = (value: unknown) => named('x: option "timeout"', timeoutOption, value)

  it.each([
    [undefined, 5000],
    [1, 1000],
    ['1ms', 1],
    ['250ms', 250],
    [60, 60_000],
    ['1m', 60_000],
  ])('%j is %i ms', (value, ms) => expect(read(value)).toBe(ms))

  it.each([0, -1, '0s', 61, 5000, '5000', null, Number.POSITIVE_INFINITY, 'never'])('refuses %j', (value) => {
    expectMisuse(() => read(value), 'x: option "timeout" must be a number of seconds or a string')
  })
})
