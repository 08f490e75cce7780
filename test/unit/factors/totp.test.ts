// Tests factors/base32.ts
import { describe, expect, it } from 'vitest'
import { toBase32 } from '../../../src/factors/base32.js'
import { isTotp, matchingStep, otpauthUri, stepAt, totpAt } from '../../../src/factors/totp.js'

/** The secret of RFC 6238 appendix B for SHA-1. */
const SECRET = Buffer.from('12345678901234567890')

describe('the codes of an authenticator app', () => {
  // RFC 6238 appendix B has 8 digits, of which the last 6 are the code.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %i is that of RFC 6238', (seconds, code) => {
    expect(totpAt(SECRET, stepAt(seconds * 1000))).toBe(code)
    expect(matchingStep(SECRET, code, seconds * 1000, 0)).toBe(stepAt(seconds * 1000))
  })

  it('may be one step early or late, and no more', () => {
    const now = 1_700_000_000_000
    const accepted = [-2, -1, 0, 1, 2].map((drift) => matchingStep(SECRET, totpAt(SECRET, stepAt(now) + drift), now, 0))
    expect(accepted).toEqual([undefined, stepAt(now) - 1, stepAt(now), stepAt(now) + 1, undefined])
  })

  it('work once, and no earlier one after a later one', () => {
    const now = 1_700_000_000_000
    const step = stepAt(now)
    expect(matchingStep(SECRET, totpAt(SECRET, step), now, step)).toBeUndefined()
    expect(matchingStep(SECRET, totpAt(SECRET, step - 1), now, step)).toBeUndefined()
    expect(matchingStep(SECRET, totpAt(SECRET, step + 1), now, step)).toBe(step + 1)
  })

  it.each(['', '12345', '1234567', '12345a', '１２３４５６', '-12345', '12345\n6'])(
    'have six digits, unlike %j',
    (text) => {
      expect(isTotp(text)).toBe(false)
      expect(matchingStep(SECRET, text, 0, -9)).toBeUndefined()
    },
  )

  it('may have blanks, as apps show them', () => {
    expect(matchingStep(SECRET, '287 082', 59_000, 0)).toBe(1)
  })

  it('have a URI for the QR code', () => {
    const uri = otpauthUri(SECRET, { issuer: 'Example & Sons', account: 'a/b@example.com' })
    expect(uri).toBe(
      'otpauth://totp/Example%20%26%20Sons:a%2Fb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Example%20%26%20Sons',
    )
  })
})

it('base32 is that of RFC 4648 section 10, without padding', () => {
  const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text)))
  expect(texts).toEqual(['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'])
})
