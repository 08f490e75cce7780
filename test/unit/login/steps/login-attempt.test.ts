import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AuthError } from '../../../../src/errors/auth-error.js'
import { endRefusedAttempt } from '../../../../src/login/steps/login-attempt.js'
import { deferred, settled } from '../../../support/concurrency.js'
import { fatalErrors } from '../../../support/failures.js'

describe('the attempt of a login whose "beforeSignIn" takes longer than the time limit', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  async function late(end = vi.fn()) {
    const step = deferred<void>()
    const refused = new AuthError('unavailable', { dependency: 'internal' })
    await endRefusedAttempt({ timeout: 1000 }, { end } as never, refused, step.promise)
    return { end, step }
  }

  it('is under way until 12 time limits have passed, and then counts as no failed login', async () => {
    const { end } = await late()
    await vi.advanceTimersByTimeAsync(11_999)
    expect(end).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(end.mock.calls).toEqual([['not_checked']])
  })

  it.each([
    ['a failed login when it then refuses the password', 'invalid_credentials', 'failed'],
    ['no failed login when it then fails', 'unavailable', 'not_checked'],
  ] as const)('counts as %s', async (_, code, outcome) => {
    const { end, step } = await late()
    step.reject(new AuthError(code, { dependency: 'internal' } as never))
    await vi.advanceTimersByTimeAsync(0)
    expect(end.mock.calls).toEqual([[outcome]])
  })

  it('counts as no failed login when it then lets the account in, and an error of the limits does not end the process', async () => {
    const unhandled = fatalErrors()
    const { end, step } = await late(vi.fn(() => Promise.reject(new Error('down'))))
    step.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(end.mock.calls).toEqual([['not_checked']])
    vi.useRealTimers()
    await settled()
    expect(unhandled).toEqual([])
  })
})
