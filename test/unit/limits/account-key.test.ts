import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { accountKey, LONGEST_EMAIL } from '../../../src/limits/account-key.js'
import { equalLetters as lettersOfKeys } from '../../../src/limits/equal-letters.js'
import { anyText } from '../../support/values/any-text.js'
import { charactersOfTable, equalLetters } from '../../support/values/equal-letters.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const SMITH = 'a.smith7@example.com'

describe('spellings that some store takes for the same address', () => {
  it.each([
    ['a letter in a negative circle (ICU, level 1)', `${SMITH}z`, `${SMITH}🅩`],
    ['white space around it (CHAR columns, PAD SPACE)', SMITH, ` \u00a0${SMITH}\t  `],
    ['a dotted capital I (lower())', SMITH, 'a.smİth7@example.com'],
    ['a dotless i (upper())', SMITH, 'a.smıth7@example.com'],
    ['a sharp s for s (utf8mb4_general_ci)', SMITH, 'a.ßmith7@example.com'],
    ['letters above (ICU, level 1)', SMITH, 'a.smit\u036a7@ex\u0363mpl\u0364.com'],
    ['an Arabic sign (utf8mb4_unicode_ci)', SMITH, 'a.sm\u06deith7@example.com'],
    ['Bengali signs (utf8mb4_unicode_ci)', `${SMITH}1234`, `${SMITH}\u09f4\u09f5\u09f6\u09f7`],
    ['Georgian capitals (utf8mb4_unicode_ci)', 'აბგ@example.com', 'ႠႡႢ@example.com'],
    ['kana: katakana, half width, small, voiced', 'はなこつ@例え.jp', 'ﾊﾅｺｯ@例エ.jp'],
    ['kana with a voicing mark, and hentaigana', 'ばか@example.com', 'ハゕ@example.com'],
    ['Hebrew finals', 'שלומ@example.com', 'שלום@example.com'],
    ['Greek final sigma, and accents', 'νικοσ@example.com', 'Νίκος@example.com'],
    ['a Greek iota subscript, as a letter (upper()) or as nothing (ICU)', 'ᾳ@example.com', 'αι@example.com'],
    ['Arabic presentation forms and tatweel', 'سلام@example.com', 'ﺳﻠـــﺎم@example.com'],
    ['an Arabic hamza at another place', 'ٵ@example.com', 'أ@example.com'],
    ['digits of other scripts', `${SMITH}37`, `${SMITH}٣७`],
    ['Roman numerals and letters in circles', 'xii.a@example.com', 'Ⅻ.ⓐ@example.com'],
    ['a Thai vowel before and after its consonant (ICU)', 'เก@example.com', 'กเ@example.com'],
    ['letters of Latin (ICU, level 1)', 'oldaeoe@example.com', 'øłđæœ@example.com'],
    ['characters above U+FFFF (utf8mb4_general_ci)', '😀@example.com', '𐐀@example.com'],
    ['half of a surrogate pair, which UTF-8 replaces', '\ufffd@example.com', '\ud83d@example.com'],
  ])('%s', (_, plain, spelling) => {
    expect(accountKey(spelling)).toBe(accountKey(plain))
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

describe('every character of Unicode', () => {
  /** ICU collators at level 1, like `ks-level1`, MongoDB's strength 1 and utf8mb4_0900_ai_ci. */
  const collators = (['search', 'sort'] as const).map(
    (usage) => new Intl.Collator('en', { usage, sensitivity: 'base' }).compare,
  )
  const ASCII = [...`!"#$%&'()*+,-./0123456789:;<=>?@[\\]^_\`abcdefghijklmnopqrstuvwxyz{|}~`]
  const WORDS = ['', ...ASCII, ...pairs(), 'new', 'sos', 'pts', 'hdr', 'shv', 'uhd', 'vod', '60p', '1/2']
  const sorted = collators.map((compare) => [...WORDS].sort(compare))
  const key = (middle: string) => accountKey(`x${middle}y`)

  function pairs(): string[] {
    const letters = [...'0123456789abcdefghijklmnopqrstuvwxyz']
    return letters.flatMap((one) => letters.map((other) => one + other))
  }

  /** Returns the word that equals a character for a collator. */
  function equivalent(which: number, character: string): string | undefined {
    const [compare, words] = [collators[which], sorted[which]]
    if (!compare || !words) throw new Error('no collator')
    let [low, high] = [0, words.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const word = words[middle] ?? ''
      const order = compare(character, word)
      if (order === 0) return word
      if (order < 0) high = middle - 1
      else low = middle + 1
    }
    return undefined
  }

  const CHARACTERS = charactersOfTable()

  it('counts as the ASCII text that ICU takes it for, or as nothing', () => {
    const wrong: string[] = []
    let found = 0
    for (const character of CHARACTERS) {
      for (const which of [0, 1]) {
        const word = equivalent(which, character)
        if (word === undefined) continue
        found++
        if (key(character) !== key(word)) wrong.push(`${named(character)} is not ${JSON.stringify(word)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(found).toBeGreaterThan(9000)
  })

  it('counts as every character that ICU takes it for', () => {
    const [, compare = () => 1] = collators
    const wrong: string[] = []
    let found = 0
    const order = [...CHARACTERS].sort(compare)
    for (const [i, character] of order.entries()) {
      const before = order[i - 1]
      if (before === undefined || compare(before, character) !== 0) continue
      found++
      if (key(before) !== key(character)) wrong.push(`${named(before)} is not ${named(character)}`)
    }
    expect(wrong).toEqual([])
    expect(found).toBeGreaterThan(9000)
  })

  it('counts as the letters that ICU takes it for, also where Unicode decomposes it in another way', () => {
    const table = equalLetters(CHARACTERS)
    const wrong = [...table].filter(([letter, text]) => key(letter) !== key(text)).map(([letter]) => named(letter))
    expect(wrong).toEqual([])
    expect(table.size).toBeGreaterThan(1800)
  })

  it('counts as its own lower case, upper case and Unicode forms, in Turkish and Lithuanian too', () => {
    const wrong: string[] = []
    for (const character of CHARACTERS) {
      const others = new Set([
        character.toLowerCase(),
        character.toUpperCase(),
        ...['tr', 'lt'].flatMap((locale) => [character.toLocaleLowerCase(locale), character.toLocaleUpperCase(locale)]),
        ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => character.normalize(form)),
      ])
      others.delete(character)
      for (const other of others) {
        if (key(other) !== key(character)) wrong.push(`${named(character)} is not ${named(other)}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('is gone when it is invisible', () => {
    const invisible = CHARACTERS.filter((character) => /[\p{DI}\p{Cf}\p{Cc}\s]/u.test(character))
    expect(invisible.length).toBeGreaterThan(4000)
    expect(invisible.filter((character) => key(character) !== key('')).map(named)).toEqual([])
  })

  it('joins nothing to the letter l that belongs to it, whatever stands next to which letter', () => {
    const [compare] = collators
    const wrong: string[] = []
    for (const character of CHARACTERS.filter((one) => /[\p{P}\p{S}\p{Lm}\p{Sk}]/u.test(one))) {
      for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
        for (const text of [letter + character, character + letter]) {
          if (compare?.(text, letter) === 0 && key(text) !== key(letter)) wrong.push(named(text))
        }
      }
    }
    expect(wrong).toEqual([])
  })

  function named(text: string): string {
    return [...text].map((one) => `U+${one.codePointAt(0)?.toString(16).padStart(4, '0')}`).join(' ')
  }
})

describe('any text', () => {
  const oddities = ['s', 'ß', 'S', 'ſ', ' ', '\u0301', '\u036a', 'Σ', 'ς', 'İ', 'ı', '·', 'l', '\ud83d', '\u200b']
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), anyText(), fc.string({ unit: fc.constantFrom(...oddities) }))

  it('has a key that is its own key, and that of its lower case, its upper case and its Unicode forms', () => {
    fc.assert(
      fc.property(text, (one) => {
        const key = accountKey(one)
        expect(accountKey(key)).toBe(key)
        const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => one.normalize(form))
        for (const other of [one.toLowerCase(), one.toUpperCase(), ` ${one}\t`, ...forms]) {
          expect(accountKey(other)).toBe(key)
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

  it('is bounded: an address of up to 320 UTF-16 code units is normalised once', () => {
    expect(LONGEST_EMAIL).toBe(320)
    expect(normalised(() => accountKey('\u0301'.repeat(320)))).toEqual([320])
    expect(accountKey('\ufdfa'.repeat(320))).toHaveLength(320)
    expect(accountKey('\ufdfa'.repeat(320))).toBe(accountKey('\ufdfa'.repeat(22)))
    expect(accountKey(`${'é'.repeat(319)}æ`)).toBe(accountKey(`${'é'.repeat(319)}a`))
    expect(accountKey('b'.repeat(320))).not.toBe(accountKey('a'.repeat(320)))
  })

  it('is no normalisation for an address in ASCII', () => {
    expect(normalised(() => accountKey(SMITH))).toEqual([])
  })

  it('ends with the 320th letter of the key, though some characters are many letters', () => {
    const lookUp = vi.spyOn(lettersOfKeys(), 'get')
    expect(accountKey('\ufefb'.repeat(320))).toHaveLength(320)
    expect(lookUp).toHaveBeenCalledTimes(320)
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
