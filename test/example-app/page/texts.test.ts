import { TokenClientError } from 'express-token-endpoint/client'
import fc from 'fast-check'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { decimalOf } from '../../../example-app/data/reports.js'
import { failureOfError, failureOfResponse, SessionOver } from '../../../example-app/page/call-failure.js'
import { milestoneText, runDown } from '../../../example-app/page/countdown.js'
import { callFailureText, signInFailureText } from '../../../example-app/page/messages.js'
import { centsOf, moneyText, wholeMoneyText } from '../../../example-app/page/money.js'
import { claimRows, claimsOf } from '../../../example-app/page/token-claims.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('a failed call', () => {
  const NOW = Date.UTC(2013, 4, 6)
  const REPORT = { what: 'daily totals', api: 'online reporting API' }
  const laterBy = (seconds: number) => new Date(NOW + seconds * 1000 + 999)
  const challenged = (parameters: string) => ({ headers: { 'WWW-Authenticate': `Bearer realm="r", ${parameters}` } })

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  test.each<[string, TokenClientError]>([
    ['E-mail or password is wrong.', new TokenClientError('refused', 403)],
    ['Too many failed attempts. Try again in 14 minutes.', new TokenClientError('try_later', 429, laterBy(14 * 60))],
    ['You cannot sign in at the moment. Try again in 3 seconds.', new TokenClientError('try_later', 503, laterBy(3))],
    [
      'Cannot reach the clearing-house API. Check your connection. Try again in 12 seconds.',
      new TokenClientError('unreachable', undefined, laterBy(12)),
    ],
    [
      'Cannot load the token. The clearing-house API sent an unexpected response (status 500).',
      new TokenClientError('unexpected', 500),
    ],
  ])('of a sign-in: %s', (text, error) => {
    expect(signInFailureText(failureOfError(error))).toBe(text)
  })

  const REFUSED = 'Cannot load the daily totals. The online reporting API refused the request.'
  const UNREACHABLE = 'Cannot reach the online reporting API. Check your connection. Try again later.'
  const UNAVAILABLE = 'The online reporting API is not available at the moment.'
  test.each<[string, Error | ResponseInit]>([
    [REFUSED, { status: 401 }],
    [REFUSED, new SessionOver()],
    [
      'You may not see the daily totals. Your token lacks the scope reports:read.',
      { status: 403, ...challenged('error="insufficient_scope", scope="reports:read"') },
    ],
    ['You may not see the daily totals.', { status: 403, ...challenged('error="x"') }],
    [`${UNAVAILABLE} Try again in a second.`, { status: 503, headers: { 'Retry-After': '1' } }],
    [`${UNAVAILABLE} Try again later.`, { status: 503 }],
    [`${UNAVAILABLE} Try again later.`, { status: 503, headers: { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' } }],
    [UNREACHABLE, new TypeError('Failed to fetch')],
    [UNREACHABLE, new TokenClientError('signed_out')],
    [
      'Cannot load the daily totals. The online reporting API sent an unexpected response (status 500).',
      { status: 500 },
    ],
  ])('of an API: %s', (text, given) => {
    const failure = given instanceof Error ? failureOfError(given) : failureOfResponse(new Response(null, given))
    expect(callFailureText(failure, REPORT)).toBe(text)
  })
})

describe('the time left', () => {
  test('is announced at five minutes and at one, once each, and after a long sleep only at the last', () => {
    expect(milestoneText(5 * MINUTE + 1, 5 * MINUTE)).toMatch(/^Five minutes/)
    expect(milestoneText(5 * MINUTE, 5 * MINUTE - 1000)).toBeUndefined()
    expect(milestoneText(HOUR, 1000)).toMatch(/^One minute/)
  })

  test.each<[string, number, () => unknown, (number | string)[]]>([
    ['at every full second', 2500, () => vi.advanceTimersByTime(10_000), [2500, 2000, 1000, 'end']],
    [
      'with an announcement',
      MINUTE + 1000,
      () => vi.advanceTimersByTime(1000),
      [MINUTE + 1000, MINUTE, 'One minute left until the token expires.'],
    ],
    [
      'to its end after a long sleep',
      HOUR,
      () => vi.setSystemTime(Date.now() + 2 * HOUR).advanceTimersByTime(1000),
      [HOUR, 'end'],
    ],
  ])('runs down %s', (_what, ms, pass, expected) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const seen: (string | number)[] = []
    const stop = runDown(Date.now() + ms, {
      tick: (left) => seen.push(left),
      milestone: (text) => seen.push(text),
      end: () => seen.push('end'),
    })
    pass()
    stop()
    expect(seen).toEqual(expected)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('an amount', () => {
  test('of the reporting API is shown whole', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (cents) => {
        expect(centsOf(decimalOf(String(cents)))).toBe(cents)
        const shown = moneyText(cents)
        expect(shown).toMatch(/^−?\d{1,3}(,\d{3})*\.\d\d$/)
        expect(centsOf(shown.replaceAll(',', '').replace('−', '-'))).toBe(cents)
      }),
    )
    expect(moneyText(centsOf('-1000000.05'))).toBe('−1,000,000.05')
    expect([0n, 100_000n, -50_000n, 150n].map(wholeMoneyText)).toEqual(['0', '1,000', '−500', '1.50'])
  })

  test.each(['', ' 1.00', '1.00\n', ...'1 1.5 1.555 1,00 +1.00 −1.00 1e3 .50 NaN 0x1.00'.split(' ')])(
    'is not %j',
    (text) => {
      expect(() => centsOf(text)).toThrow(SyntaxError)
    },
  )
})

describe('the claims of a token', () => {
  const tokenOf = (claims: string) => `e30.${Buffer.from(claims, 'latin1').toString('base64url')}.c2ln`

  test.each(['opaque', '', 'e30.{}.c2ln', ...['null', '{', '{"iat":1,"x":"\xff"}'].map(tokenOf)])(
    'of %s are none',
    (token) => {
      expect(claimsOf(token)).toEqual({})
    },
  )

  test('are shown in plain words, with times as times, and own claims of any name behind them', () => {
    const claims = '{"team":["a",1],"__proto__":"\xc3\xa9","toString":"c","iat":1795203742,"exp":1e300,"nbf":"soon"}'
    expect(claimRows(claimsOf(tokenOf(claims)))).toEqual([
      { name: 'scope', meaning: 'May do', text: '(nothing)' },
      { name: 'iat', meaning: 'Issued at', text: '2026-11-20T19:42:22.000Z' },
      { name: 'nbf', meaning: 'Valid from', text: 'soon' },
      { name: 'exp', meaning: 'Expires at', text: '1e+300' },
      { name: 'team', meaning: undefined, text: '["a",1]' },
      { name: '__proto__', meaning: undefined, text: 'é' },
      { name: 'toString', meaning: undefined, text: 'c' },
    ])
    expect(claimRows({ sub: 'acc-1', scope: 'statements:read' }).map(({ text }) => text)).toEqual([
      'acc-1',
      'statements:read',
    ])
  })
})
