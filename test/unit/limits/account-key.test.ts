import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { accountKey, LONGEST_EMAIL } from '../../../src/limits/account-key.js'
import { anyText } from '../../support/values/any-text.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const SMITH = 'a.smith7@example.com'

describe('spellings of one address', () => {
  it.each([
    ['white space around it', ` \u00a0${SMITH}\t  `],
    ['capital letters', 'A.SMITH7@Example.COM'],
    ['full width and circled letters', 'ａ.ｓⓜｉｔｈ７@example.com'],
    ['invisible characters', 'a.\u200bsmi\u00adth7@exa\u2060mple.com'],
    ['control characters', 'a.smith7@example.com\r\n'],
    ['a zero character', 'a.smith7@example.com\0'],
  ])('share a key: %s', (_, spelling) => {
    expect(accountKey(spelling)).toBe(SMITH)
  })

  it('share a key where an invisible character is between a letter and its mark', () => {
    expect(accountKey('jose\u200b\u0301@example.com')).toBe(accountKey('josé@example.com'))
  })

  it('leaves different addresses different', () => {
    const local = ['a.smith7', 'b.smith7', 'asmith7', 'a.smith8', 'a.smith', 'a+smith7', 'a-smith7']
    const all = [
      ...local.map((name) => `${name}@example.com`),
      '',
      'a.smith7@example.co',
      '用户@例え.テスト',
      '用戸@例え.テスト',
      ...['Анна', 'Инна', 'אבי', 'אבא', 'سلام', 'سلمى', 'Μαρία', 'Μάρθα', '김민준', '김민지', 'さくら', 'さゆら'],
    ]
    expect(new Set(all.map(accountKey)).size).toBe(all.length)
  })
})

describe('every character', () => {
  it('is gone when it is invisible', () => {
    const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code))
    const invisible = characters.filter((character) => /[\p{DI}\p{Cf}\p{Cc}\s]/u.test(character))
    expect(invisible.length).toBeGreaterThan(4000)
    expect(invisible.filter((character) => accountKey(`x${character}y`) !== 'xy')).toEqual([])
  })
})

describe('any text', () => {
  const oddities = ['s', 'ß', 'S', 'ſ', ' ', '\u0301', '\u036a', 'Σ', 'ς', 'İ', 'ı', '·', 'l', '\ud83d', '\u200b']
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), anyText(), fc.string({ unit: fc.constantFrom(...oddities) }))

  it('has the key of its Unicode forms, and of the text with white space around it', () => {
    fc.assert(
      fc.property(text, (one) => {
        const key = accountKey(one)
        for (const other of [` ${one}\t`, ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => one.normalize(form))]) {
          if (other.length <= LONGEST_EMAIL) expect(accountKey(other)).toBe(key)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the work for an address', () => {
  /** Returns the lengths of the texts that are normalised. */
  function normalised(run: () => unknown): number[] {
    const lengths: number[] = []
    const original = String.prototype.normalize
    vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string, form?: string) {
      lengths.push(this.length)
      // Without the bound, this test would take minutes.
      return this.length > 1000 ? '' : original.call(this, form)
    })
    run()
    vi.restoreAllMocks()
    return lengths
  }

  it('is bounded, though some characters are many letters', () => {
    expect(LONGEST_EMAIL).toBe(320)
    expect(accountKey('\ufdfa'.repeat(320))).toHaveLength(320)
    expect(accountKey('b'.repeat(320))).not.toBe(accountKey('a'.repeat(320)))
  })

  it.each([
    ['one more', 'a'.repeat(321)],
    ['combining marks, 1 MB', '\u0315\u0300'.repeat(250_000)],
    ['an address and invisible characters', `${SMITH}${'\u200b'.repeat(320)}`],
  ])('is none for a longer one, and all of these share a key that no other address has: %s', (_, email) => {
    expect(normalised(() => accountKey(email))).toEqual([])
    const key = accountKey(email)
    expect(key).toBe(accountKey('c'.repeat(999)))
    expect(accountKey(key)).not.toBe(key)
  })
})
