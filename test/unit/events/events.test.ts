// Tests events/{emitter,report-refusal}.ts

import { AuthError } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { emitter } from '../../../src/events/emitter.js'
import { refusalEvent } from '../../../src/events/report-refusal.js'
import { settled } from '../../support/concurrency.js'
import { unhandledRejections } from '../../support/host.js'

const told = { type: 'token.refused', code: 'invalid_credentials' } as const

describe('an event', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-03-01T12:00:00.123Z') }))
  afterEach(() => void vi.useRealTimers())

  it('has the time and the address', () => {
    const observer = vi.fn()
    emitter(observer)({ address: '192.0.2.1' }, told)
    emitter(observer)({ address: undefined }, told)
    const time = new Date('2026-03-01T12:00:00.123Z')
    const event = { ...told, time }
    expect(observer.mock.calls).toEqual([[{ ...event, address: '192.0.2.1' }], [{ ...event, address: undefined }]])
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
    for (const option of ['respond', 'allow', 'respond'] as const)
      emit({ address: undefined }, { type: 'dependency.failed', dependency: 'hook', option, refused: true, error: 1 })
    const type = 'ExpressTokenEndpointWarning'
    const place = expect.stringMatching(/^accounts failed: Error at .*events\.test\.ts:\d+:\d+\. Set onEvent to/)
    expect(warned.mock.calls).toEqual([
      [place, type],
      ...['keys', 'respond', 'allow'].map((name) => [
        `${name} failed: what was thrown is not an Error. Set onEvent to receive every failure`,
        type,
      ]),
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
    const rejections = unhandledRejections()
    // Uses no vi.fn(), because it would handle the rejection of the promises that it returns.
    let asked = 0
    const observer = () => {
      asked += 1
      return failing()
    }
    expect(emitter(observer)({ address: '192.0.2.1' }, told)).toBeUndefined()
    await settled()
    expect([asked, rejections]).toEqual([1, []])
  })
})

describe('the event of a refusal', () => {
  const cause = new Error('connection lost')
  const about = { reason: 'revoked', accountId: 'acc-1', tokenId: 'j' } as const
  const failed = { type: 'dependency.failed', dependency: 'accounts', refused: true, error: cause }
  const unavailable = new AuthError('unavailable', { dependency: 'accounts', cause })
  const spent = new AuthError('too_many_attempts', { limit: 'pair' })

  it.each([
    ['what is known', 'bearer', new AuthError('invalid_token', about), { type: 'bearer.refused', ...about }],
    ['nothing more', 'token', new AuthError('invalid_body'), { type: 'token.refused' }],
    ['a gone client', 'token', new AuthError('client_closed_request'), { type: 'token.refused' }],
    ['a flood of logins', 'token', new AuthError('overloaded'), { type: 'token.overloaded' }],
    ['a flood of requests', 'bearer', new AuthError('overloaded'), { type: 'bearer.refused' }],
    ['a reached limit', 'token', new AuthError('too_many_attempts'), { type: 'token.throttled' }],
    ['which limit is reached', 'token', spent, { type: 'token.throttled', limit: 'pair' }],
  ] as const)('tells %s', (_, type, error, event) => {
    expect(refusalEvent(type, error)).toStrictEqual({ code: error.code, ...event })
  })

  it.each(['token', 'bearer', 'failures'] as const)('tells a failed part as such, of a %s', (type) => {
    expect(refusalEvent(type, unavailable)).toStrictEqual(failed)
    const account = new AuthError('unavailable', { dependency: 'accounts', cause, accountId: 'acc-1' })
    expect(refusalEvent(type, account)).toStrictEqual({ ...failed, accountId: 'acc-1' })
  })
})
