import { AuthError } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { emitter, refusalEvent } from '../../../src/shared/events.js'

const told = { type: 'token.refused', code: 'invalid_credentials' } as const

describe('emitter', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-03-01T12:00:00.123Z') }))
  afterEach(() => void vi.useRealTimers())

  it('adds the time and the address', () => {
    const observer = vi.fn()
    emitter(observer)({ address: '192.0.2.1' }, told)
    emitter(observer)({ address: undefined }, told)
    const time = new Date('2026-03-01T12:00:00.123Z')
    expect(observer.mock.calls).toEqual([
      [{ ...told, time, address: '192.0.2.1' }],
      [{ ...told, time, address: undefined }],
    ])
  })

  it('gives each observer an object of its own', () => {
    const event = { ...told }
    emitter((seen) => Object.assign(seen, { code: 'changed' }))({ address: '192.0.2.1' }, event)
    expect(event).toEqual(told)
  })

  it('without an observer, warns of the first failure of each dependency, and of nothing else', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const emit = emitter(undefined)
    const fail = (dependency: 'accounts' | 'keys', error: unknown) =>
      emit({ address: '192.0.2.1' }, { type: 'dependency.failed', dependency, refused: true, error })
    expect(emit({ address: '192.0.2.1' }, told)).toBeUndefined()
    fail('accounts', new Error('no connection'))
    fail('accounts', new Error('again'))
    fail('keys', 'gone')
    const type = 'ExpressTokenEndpointWarning'
    const place = expect.stringMatching(
      /^accounts failed: Error at .*events\.test\.ts:\d+:\d+\. Set onEvent to receive/,
    )
    expect(warned.mock.calls).toEqual([
      [place, type],
      ['keys failed: what was thrown is not an Error. Set onEvent to receive every failure', type],
    ])
  })
})

describe('an observer harms nothing', () => {
  it.each([
    ['that throws', () => expect.fail('observer')],
    ['that rejects', () => Promise.reject(new Error('observer'))],
    ['that rejects later', async () => Promise.resolve().then(() => expect.fail('observer'))],
    ['that never ends', () => new Promise(() => {})],
    ['that gives something else', () => 7],
  ])('%s', async (_, failing) => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    // Uses no vi.fn(), because it would handle the rejection of the promises that it returns.
    let asked = 0
    const observer = () => {
      asked += 1
      return failing()
    }
    expect(emitter(observer)({ address: '192.0.2.1' }, told)).toBeUndefined()
    await new Promise(setImmediate)
    process.off('unhandledRejection', unhandled)
    expect(asked).toBe(1)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('refusalEvent', () => {
  it('tells the code, the reason, the account and the token, where there are such', () => {
    const about = { reason: 'revoked', accountId: 'acc-1', tokenId: 'j' } as const
    expect(refusalEvent('guard', new AuthError('invalid_token', about))).toStrictEqual({
      type: 'bearer.refused',
      code: 'invalid_token',
      ...about,
    })
    expect(refusalEvent('token', new AuthError('invalid_body'))).toStrictEqual({
      type: 'token.refused',
      code: 'invalid_body',
    })
  })

  it.each(['token', 'guard'] as const)('tells a failed part as such, of the %s', (part) => {
    const cause = new Error('connection lost')
    const error = new AuthError('unavailable', { dependency: 'accounts', cause })
    expect(refusalEvent(part, error)).toStrictEqual({
      type: 'dependency.failed',
      dependency: 'accounts',
      refused: true,
      error: cause,
    })
  })

  it.each([
    ['too_many_attempts', 'token.throttled'],
    ['overloaded', 'token.overloaded'],
    ['client_closed_request', 'token.refused'],
  ] as const)('tells %s as %s', (code, type) => {
    expect(refusalEvent('token', new AuthError(code))).toStrictEqual({ type, code })
  })

  it('tells which limit is used up', () => {
    expect(refusalEvent('token', new AuthError('too_many_attempts', { limit: 'pair' }))).toStrictEqual({
      type: 'token.throttled',
      code: 'too_many_attempts',
      limit: 'pair',
    })
  })

  it('tells of a refusal by the guard as such, for every code', () => {
    expect(refusalEvent('guard', new AuthError('overloaded'))).toStrictEqual({
      type: 'bearer.refused',
      code: 'overloaded',
    })
  })
})
