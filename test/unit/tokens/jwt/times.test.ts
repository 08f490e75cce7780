import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectInvalidToken, expectMisuse, rejectionOf } from '../../../support/failures.js'
import { decodePayload, frozenClock, issueNow, makeIssuer } from '../../../support/fixtures.js'
import { atFrozenMoment, someToken } from '../../../support/tokens.js'

describe('expiry', () => {
  it('is an hour after the issue, to the millisecond', async () => {
    const { clock, issuer } = atFrozenMoment()
    const token = someToken(issuer)
    clock.advance(3_599_999)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    clock.advance(1)
    await expectInvalidToken(issuer.verify(token), 'expired')
  })

  it.each([
    ['a number of seconds', 90, 90],
    ['a string', '15m', 900],
    ['the least', 1, 1],
    ['a fraction, cut to whole seconds', 1.9, 1],
    ['the most', '366 days', 366 * 86_400],
  ])('is set by lifetime: %s', (_, lifetime, seconds) => {
    const payload = decodePayload(someToken(makeIssuer({ lifetime })))
    expect((payload['exp'] as number) - (payload['iat'] as number)).toBe(seconds)
  })

  it('comes later by clockTolerance', async () => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock, clockTolerance: '30s' })
    const token = someToken(issuer)
    clock.advance(3_629_999)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    clock.advance(1)
    await expectInvalidToken(issuer.verify(token), 'expired')
  })
})

describe('iat and nbf in the future', () => {
  it.each(['iat', 'nbf'])('%s is refused a millisecond before its second', async (name) => {
    const { clock, now, issuer, forged } = atFrozenMoment()
    const token = forged({ payload: { [name]: now + 1 } })
    clock.advance(999)
    await expectInvalidToken(issuer.verify(token), 'not_yet_valid')
    clock.advance(1)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
  })

  it.each(['iat', 'nbf'])('%s may be ahead by clockTolerance', async (name) => {
    const { clock, now, forged } = atFrozenMoment()
    const issuer = makeIssuer({ clock, clockTolerance: 30 })
    expect(await issuer.verify(forged({ payload: { [name]: now + 30 } }))).toMatchObject({ accountId: 'acc-1' })
    await expectInvalidToken(issuer.verify(forged({ payload: { [name]: now + 31 } })), 'not_yet_valid')
  })
})

describe('the clock', () => {
  it('may give a Date', async () => {
    const { clock, issuer } = atFrozenMoment()
    const byDate = makeIssuer({ clock: () => new Date(clock()) })
    expect(decodePayload(someToken(byDate))['iat']).toBe(clock.seconds())
    expect(await byDate.verify(someToken(issuer))).toMatchObject({ accountId: 'acc-1' })
  })

  it.each([new Date(Number.NaN), new Date('later')])('issues nothing as of a moment that is none', (issuedAt) => {
    expectMisuse(
      () => issueNow(makeIssuer(), { accountId: 'acc-1', issuedAt }),
      'issue: "issuedAt" must be a valid Date',
    )
  })

  it.each([-5000, 1e300])('issues nothing at a time that no token can hold: %d', (time) => {
    expect(() => someToken(makeIssuer({ clock: () => time }))).toThrow(TypeError)
  })

  it('may be at the epoch', () => {
    expect(decodePayload(someToken(makeIssuer({ clock: () => 0 })))['iat']).toBe(0)
  })

  it('is Date.now unless set', async () => {
    const before = Math.floor(Date.now() / 1000)
    const iat = decodePayload(someToken(makeIssuer()))['iat'] as number
    expect(iat).toBeGreaterThanOrEqual(before)
    expect(iat).toBeLessThanOrEqual(Math.floor(Date.now() / 1000))
  })

  it('is that of a test runner that puts a Date of its own in place', async () => {
    const issuer = makeIssuer()
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-05-01T00:00:00Z') })
    onTestFinished(() => void vi.useRealTimers())
    expect(issuer.now()).toEqual(new Date('2031-05-01T00:00:00Z'))
    const token = someToken(issuer)
    vi.setSystemTime('2031-05-01T01:00:00Z')
    await expectInvalidToken(issuer.verify(token), 'expired')
  })

  it.each([
    ['NaN', Number.NaN],
    ['undefined', undefined],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['minus Infinity', Number.NEGATIVE_INFINITY],
    ['a Date that is none', new Date(Number.NaN)],
    ['a word', 'later'],
    ['an object', {}],
    ['null', null],
    ['an empty text', ''],
    ['a number as text', '5'],
    ['an empty array', []],
    ['true', true],
    ['false', false],
  ])('fails, and verifies and issues nothing, when it gives %s', async (_, time) => {
    const { issuer } = atFrozenMoment()
    const broken = makeIssuer({ clock: (() => time) as never })
    const error = await rejectionOf(broken.verify(someToken(issuer)))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain('clock')
    expectMisuse(() => someToken(broken), 'clock')
  })
})
