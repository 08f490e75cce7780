import { describe, expect, it } from 'vitest'
import { ISSUED_FORM, type TokenForm, TYP } from '../../../../src/tokens/jwt/claims.js'
import { idTokenForm } from '../../../../src/tokens/jwt/id-token-claims.js'
import { providerForm } from '../../../../src/tokens/jwt/provider-claims.js'
import { expectInvalidToken, expectMisuse, rejectionOf } from '../../../support/failures.js'
import { decodePayload, frozenClock, goodParts, ISSUER, issueNow, makeIssuer } from '../../../support/fixtures.js'
import { atFrozenMoment, someToken } from '../../../support/tokens.js'

describe('readClaims', () => {
  const now = 1_772_366_400
  const { payload } = goodParts(now)
  const expected = { issuer: ISSUER, audience: ISSUER, now: now * 1000, tolerance: 0 }
  const readClaims = (value: unknown, form: TokenForm<unknown> = ISSUED_FORM) =>
    form.readClaims(value, expected, { typ: TYP, signed: '' } as never)

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['text', JSON.stringify(payload)],
    ['a number', 7],
    ['an array', [payload]],
    ['an array with all the claims on it', Object.assign([], payload)],
  ])('refuses a payload that is no object: %s', (_, value) => {
    const ofProviders = providerForm({ scopes: undefined, accountId: undefined, authorizedParties: undefined })
    const forms = [ISSUED_FORM, ofProviders, idTokenForm(new Set([ISSUER]))]
    for (const form of forms) expect(readClaims(value, form)).toBe('claims')
  })

  it.each([
    ['the environment before the audience', { iss: 'https://a.example', aud: 'b' }, 'issuer'],
    ['the environment before the times', { iss: 'https://a.example', iat: 0, exp: 1 }, 'issuer'],
    ['the audience before the times', { aud: 'b', iat: 0, exp: 1 }, 'audience'],
    ['an issuer with a slash at its end', { iss: `${ISSUER}/` }, 'issuer'],
    ['the types before all', { iss: 'https://a.example', jti: 7 }, 'claims'],
    ['the type of the session before all', { iss: 'https://a.example', sid: 7 }, 'claims'],
    ['an empty session before all', { iss: 'https://a.example', sid: '' }, 'claims'],
    ['the types of times before all', { iss: 'https://a.example', iat: '0' }, 'claims'],
  ])('names %s', (_, changes, reason) => {
    expect(readClaims({ ...payload, ...changes })).toBe(reason)
  })
})

it('accepts a token with a session', async () => {
  const issuer = makeIssuer()
  const { token } = await issuer.issue({ accountId: 'acc-1', sessionId: 's1' })
  expect(await issuer.verify(token)).toMatchObject({ sessionId: 's1' })
})

describe('expiry', () => {
  it.each([0, 30])('is an hour and the clockTolerance of %i s after the issue, to the millisecond', async (seconds) => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock, clockTolerance: seconds })
    const token = someToken(issuer)
    clock.advance(3_599_999 + seconds * 1000)
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
})

describe.each(['iat', 'nbf'])('%s in the future', (name) => {
  it('is refused a millisecond before its second', async () => {
    const { clock, now, issuer, forged } = atFrozenMoment()
    const token = forged({ payload: { [name]: now + 1 } })
    clock.advance(999)
    await expectInvalidToken(issuer.verify(token), 'not_yet_valid')
    clock.advance(1)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('may be ahead by clockTolerance', async () => {
    const { clock, now, forged } = atFrozenMoment()
    const issuer = makeIssuer({ clock, clockTolerance: 30 })
    expect(await issuer.verify(forged({ payload: { [name]: now + 30 } }))).toMatchObject({ accountId: 'acc-1' })
    await expectInvalidToken(issuer.verify(forged({ payload: { [name]: now + 31 } })), 'not_yet_valid')
  })
})

describe('the clock', () => {
  it.each([new Date(Number.NaN), new Date('later'), 1234, '2026-11-23', true] as unknown as Date[])(
    'issues nothing as of a moment that is none',
    (issuedAt) => {
      expectMisuse(
        () => issueNow(makeIssuer(), { accountId: 'acc-1', issuedAt }),
        'issue: "issuedAt" must be a valid Date',
      )
    },
  )

  it('may be at the epoch', () => {
    expect(decodePayload(someToken(makeIssuer({ clock: () => 0 })))['iat']).toBe(0)
  })

  it.each([-5000, 1e300, Number.NaN, 'later'])(
    'fails, and verifies and issues nothing, when it gives %s',
    async (time) => {
      const { issuer } = atFrozenMoment()
      const broken = makeIssuer({ clock: (() => time) as never })
      const error = await rejectionOf(broken.verify(someToken(issuer)))
      expect(error).toBeInstanceOf(TypeError)
      expect((error as Error).message).toContain('clock')
      expectMisuse(() => someToken(broken), 'clock')
    },
  )
})
