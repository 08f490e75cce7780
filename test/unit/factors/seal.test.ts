import { describe, expect, it } from 'vitest'
import { open, seal } from '../../../src/factors/seal.js'

const [FIRST, SECOND] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const ABOUT = { issuer: 'https://api.example.com', accountId: 'acc-1', factorId: 'totp-1' }
const TEXT = Buffer.from('a secret of 20 bytes')

describe('a sealed secret', () => {
  it('opens with the secret that sealed it, which may be a later one of the list', () => {
    const sealed = seal(FIRST, ABOUT, TEXT)
    expect(sealed).not.toContain(TEXT.toString('base64url').slice(0, 10))
    expect(open([FIRST], ABOUT, sealed)).toEqual({ text: TEXT, isFirst: true })
    expect(open([SECOND, FIRST], ABOUT, sealed)).toEqual({ text: TEXT, isFirst: false })
    expect(open([SECOND], ABOUT, sealed)).toBeUndefined()
    expect(open([], ABOUT, sealed)).toBeUndefined()
  })

  it('is another text each time', () => {
    expect(seal(FIRST, ABOUT, TEXT)).not.toBe(seal(FIRST, ABOUT, TEXT))
  })

  it.each([
    ['issuer', { issuer: 'https://sandbox.example.com' }],
    ['account', { accountId: 'acc-2' }],
    ['factor', { factorId: 'totp-2' }],
  ])('does not open for another %s', (_name, change) => {
    expect(open([FIRST], { ...ABOUT, ...change }, seal(FIRST, ABOUT, TEXT))).toBeUndefined()
  })

  it('does not open when one character was changed, or it was cut', () => {
    const sealed = seal(FIRST, ABOUT, TEXT)
    const opened = [...sealed].map((letter, at) => {
      const other = letter === 'A' ? 'Q' : 'A'
      return open([FIRST], ABOUT, sealed.slice(0, at) + other + sealed.slice(at + 1))?.text.toString()
    })
    // The last character of base64url may have bits that count for nothing.
    expect(opened.slice(0, -1).filter((text) => text !== undefined)).toEqual([])
    for (const text of ['', '.', sealed.slice(0, 9), sealed.slice(0, 20), sealed.slice(0, 40)])
      expect(open([FIRST], ABOUT, text)).toBeUndefined()
  })
})
