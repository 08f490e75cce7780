import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AuthError } from '../../../src/errors/auth-error.js'
import { allowSignIn, BY_PASSWORD } from '../../../src/login/before-sign-in.js'
import { endRefusedAttempt } from '../../../src/login/steps.js'
import { deferred, settled } from '../../support/concurrency.js'
import { fatalErrors, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS } from '../../support/fixtures.js'
import { hang } from '../../support/values/invalid-results.js'

const { alice } = ACCOUNTS
const origin = { req: undefined, address: undefined, source: { network: 'x', connection: undefined } }

/** Asks a step of the host, and ends the attempt of its refusal. */
async function ended(beforeSignIn: () => Promise<never>, fields: object, end = vi.fn()) {
  const task = { ...origin, beforeSignIn, fields, signal: new AbortController().signal, timeout: 1000 }
  const found = { account: alice, original: alice, user: alice }
  const refused = rejectionOf(allowSignIn(task as never, found, BY_PASSWORD))
  await vi.advanceTimersByTimeAsync(1000)
  const error = await refused
  await endRefusedAttempt(task as never, { end } as never, error)
  return { error, end }
}

describe('the attempt of a login whose "beforeSignIn" takes longer than the time limit', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['a failed login when the client sent further fields', { code: '1' }, 'failed'],
    ['no failed login when it sent none', {}, 'not_checked'],
  ])('counts at once as %s', async (_, fields, outcome) => {
    const { error, end } = await ended(hang, fields)
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'hook', option: 'beforeSignIn' })
    expect(end.mock.calls).toEqual([[outcome]])
  })

  it('counts once, whatever the step does later', async () => {
    const step = deferred<never>()
    const { end } = await ended(() => step.promise, { code: '1' })
    step.reject(new AuthError('invalid_credentials'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(end.mock.calls).toEqual([['failed']])
  })
})

describe('the attempt of a login that is refused in another way', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['a step that throws in time', new Error('down')],
    ['a step whose own call timed out', new DOMException('too long', 'TimeoutError')],
  ])('counts as no failed login: %s', async (_, thrown) => {
    const { error, end } = await ended(() => Promise.reject(thrown), { code: '1' })
    expect(error).toMatchObject({ code: 'unavailable', option: 'beforeSignIn' })
    expect(end.mock.calls).toEqual([['not_checked']])
  })

  it('counts as no failed login when another call of the host is late', async () => {
    const { error } = await ended(hang, {})
    const other = new AuthError('unavailable', { dependency: 'accounts', cause: (error as Error).cause })
    const end = vi.fn()
    await endRefusedAttempt({ timeout: 1000, fields: { code: '1' } }, { end } as never, other)
    expect(end.mock.calls).toEqual([['not_checked']])
  })

  it('ends although the limits fail, and the process goes on', async () => {
    const unhandled = fatalErrors()
    const { end } = await ended(
      () => Promise.reject(new Error('down')),
      {},
      vi.fn(() => Promise.reject(new Error('x'))),
    )
    expect(end.mock.calls).toEqual([['not_checked']])
    vi.useRealTimers()
    await settled()
    expect(unhandled).toEqual([])
  })
})
