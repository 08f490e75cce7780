import { createThrottle } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { type CustomThrottle, NO_LIMITS, throttleOf } from '../../../src/limits/host-throttle.js'

const EMAIL = 'alice@example.com'
const ADDRESS = '192.0.2.1'
const storeFailed = () => {}
const LOGIN = [EMAIL, ADDRESS, storeFailed, 'd1ge5'] as const

describe("a host's throttle", () => {
  /** Returns a throttle with all methods, and what they return. */
  function complete() {
    const end = vi.fn(async () => {})
    const throttle = {
      checkAddress: vi.fn(async () => {}),
      digestPassword: vi.fn(async () => 'd1ge5'),
      check: vi.fn(async () => {}),
      consume: vi.fn(async () => ({ end })),
    } satisfies CustomThrottle
    return { throttle, end }
  }

  it('is asked at each step of a login, as an object with its own members', async () => {
    const { throttle, end } = complete()
    const { checkAddress, digestPassword, attempt } = throttleOf(throttle)
    await checkAddress(ADDRESS)
    expect(throttle.checkAddress.mock.calls).toEqual([[ADDRESS]])
    expect(await digestPassword?.('secret')).toBe('d1ge5')
    expect(throttle.digestPassword.mock.calls).toEqual([['secret']])
    const one = attempt(...LOGIN)
    await one.check()
    expect(throttle.check.mock.calls).toEqual([[EMAIL, ADDRESS, 'd1ge5']])
    expect(one.begin()).toBe(true)
    expect(throttle.consume).not.toHaveBeenCalled()
    await one.count()
    expect(throttle.consume.mock.calls).toEqual([LOGIN])
    await one.end('failed')
    expect(end.mock.calls).toEqual([['failed']])
    for (const method of Object.values(throttle)) expect(method.mock.contexts).toEqual([throttle])
  })

  it('needs only "consume", and then receives nothing of the password', async () => {
    const consume = vi.fn(complete().throttle.consume)
    const { checkAddress, digestPassword, attempt } = throttleOf({ consume })
    await checkAddress(ADDRESS)
    expect(digestPassword).toBeUndefined()
    const one = attempt(EMAIL, ADDRESS, storeFailed)
    await one.check()
    expect(one.begin()).toBe(true)
    await one.count()
    expect(consume.mock.calls).toEqual([[EMAIL, ADDRESS, storeFailed]])
  })

  it.each(['checkAddress', 'check', 'consume'] as const)('refuses a login with what %s rejects with', async (name) => {
    const refusal = new Error('refused')
    const { checkAddress, attempt } = throttleOf({ ...complete().throttle, [name]: () => Promise.reject(refusal) })
    const one = attempt(...LOGIN)
    const steps = [() => checkAddress(ADDRESS), () => one.check(), () => one.count()]
    const results = await Promise.allSettled(steps.map(async (step) => step()))
    const reasons = results.map((one) => (one.status === 'rejected' ? one.reason : undefined))
    expect(reasons).toEqual(['checkAddress', 'check', 'consume'].map((step) => (step === name ? refusal : undefined)))
  })

  it('is told of no end of a login that it has not counted', async () => {
    const { throttle, end } = complete()
    await throttleOf(throttle)
      .attempt(...LOGIN)
      .end('not_checked')
    expect(end).not.toHaveBeenCalled()
  })

  it('makes a failed login wait for what "end" returns', async () => {
    const { throttle, end } = complete()
    end.mockRejectedValue(new Error('the store failed'))
    const one = throttleOf(throttle).attempt(...LOGIN)
    await one.count()
    await expect(one.end('failed')).rejects.toThrow('the store failed')
  })
})

it('a throttle of createThrottle is called as it is', () => {
  const throttle = createThrottle()
  expect(throttleOf(throttle)).toBe(throttle)
})

it('without limits, every login may begin, and nothing of its password is asked for', async () => {
  const { checkAddress, digestPassword, attempt } = NO_LIMITS
  expect(digestPassword).toBeUndefined()
  for (let i = 0; i < 1000; i++) {
    await checkAddress(ADDRESS)
    const one = attempt(...LOGIN)
    await one.check()
    expect(one.begin()).toBe(true)
    await one.count()
    await one.end('failed')
  }
})
