import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedact, TOO_LONG, TOO_MANY, WITHHELD } from '../../../../src/cli/check/redact.js'

const utf8 = (text: string) => [...Buffer.from(text)]
const units = (text: string) => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
const each = (text: string, write: (code: number) => string) => units(text).map(write).join('')
const hex = (code: number, width: number) => code.toString(16).padStart(width, '0')
const NAMES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  é: '&eacute;',
}

/** Encodings of text that a server may return. */
const ENCODINGS: Record<string, (text: string) => string> = {
  itself: (text) => text,
  'percent-encoding': encodeURIComponent,
  'percent-encoding in lower case': (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'percent-encoding of every byte, in lower case': (text) =>
    utf8(text)
      .map((byte) => `%${hex(byte, 2)}`)
      .join(''),
  'a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'decimal character references': (text) => each(text, (code) => `&#${code};`),
  'decimal character references without semicolons': (text) => each(text, (code) => `&#${code}`),
  'hexadecimal character references': (text) => each(text, (code) => `&#x${hex(code, 1)};`),
  'hexadecimal character references with zeros, in capitals': (text) =>
    each(text, (code) => `&#X${hex(code, 6).toUpperCase()};`),
  'named character references': (text) => text.replace(/[&<>"'é]/g, (letter) => NAMES[letter] as string),
  JSON: (text) => JSON.stringify(text),
  '\\u escapes': (text) => each(text, (code) => `\\u${hex(code, 4)}`),
  '\\u escapes in capitals': (text) => each(text, (code) => `\\u${hex(code, 4).toUpperCase()}`),
  '\\u{} escapes': (text) => [...text].map((letter) => `\\u{${hex(letter.codePointAt(0) as number, 1)}}`).join(''),
  '%u escapes': (text) => each(text, (code) => `%u${hex(code, 4)}`),
  '\\x escapes': (text) =>
    utf8(text)
      .map((byte) => `\\x${hex(byte, 2)}`)
      .join(''),
  'octal escapes': (text) =>
    utf8(text)
      .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
      .join(''),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with colons': (text) =>
    utf8(text)
      .map((byte) => hex(byte, 2))
      .join(':'),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 of more': (text) => Buffer.from(`{"p":"${text}"}`).toString('base64'),
  'base64 in lines': (text) => Buffer.from(text).toString('base64').replace(/.{5}/g, '$&\r\n'),
  'quoted-printable': (text) =>
    utf8(text)
      .map((byte) => `=${hex(byte, 2).toUpperCase()}`)
      .join('=\r\n'),
  'bytes read as Latin-1': (text) => Buffer.from(text).toString('latin1'),
  'a list of bytes': (text) => JSON.stringify(utf8(text)),
}
const names = Object.keys(ENCODINGS)
const encode = (text: string, chain: readonly string[]) =>
  chain.reduce((encoded, name) => (ENCODINGS[name] as (text: string) => string)(encoded), text)

const letters = fc.constantFrom(
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~éßλ密🔑',
)
const passwords = fc.oneof(
  fc.string({ unit: letters, minLength: 1, maxLength: 40 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
)
const around = fc.string({ unit: letters, maxLength: 30 })

describe('a password', () => {
  test('is never shown, nor what up to three encodings make of it, wherever it stands', () => {
    const chains = fc.array(fc.constantFrom(...names), { maxLength: 3 })
    fc.assert(
      fc.property(passwords, chains, around, around, (password, chain, before, after) => {
        const text = `Content-Type is ${before} ${encode(password, chain)} ${after}, not application/json`
        expect([WITHHELD, TOO_LONG]).toContain(createRedact(() => [password])(text))
      }),
      {
        numRuns: 1500,
        examples: [['𐀀', ['decimal character references without semicolons', 'base64 in lines'], '', '1']],
      },
    )
  })

  test.each(names)('right beside other letters: %s', (name) => {
    const openEnded = name.includes('without') || name.includes('list')
    const beside = fc.string({ unit: fc.constantFrom(...'abcxyz019+/=-_'), minLength: 1, maxLength: 5 })
    const behind = openEnded ? fc.constant('x') : beside
    const long = fc.string({ unit: letters, minLength: 4, maxLength: 40 })
    fc.assert(
      fc.property(long, beside, behind, (password, before, after) => {
        expect(createRedact(() => [password])(before + encode(password, [name]) + after)).toBe(WITHHELD)
      }),
      { numRuns: 200 },
    )
  })

  test('is not shown in another case, in pieces, or with other signs between its letters', () => {
    const show = createRedact(() => ['Correct-Horse 42'])
    for (const text of [
      'CORRECT-HORSE 42',
      'correct-horse 42',
      'orrect-H',
      'c o r r e c t-h o r s e',
      'correct+horse+42',
      'c\u200borrect horse',
    ])
      expect(show(`found ${text}`)).toBe(WITHHELD)
    expect(show('the right answer of a hors')).toBe('the right answer of a hors')
  })

  test('is not shown as the name of a header, which Node gives in lower case', () => {
    const password = 'Correct-Horse 42'
    for (const more of ['', 'x', 'xy']) {
      const name = Buffer.from(more + password)
        .toString('base64url')
        .toLowerCase()
      expect(createRedact(() => [password])(`these headers differ: ${name}`)).toBe(WITHHELD)
    }
  })

  test('is not shown where the text is cut', () => {
    const show = createRedact(() => ['correct horse battery'])
    for (const encoding of names) {
      const encoded = encode('correct horse battery', [encoding])
      for (let before = 380; before <= 400; before++) expect(show('-'.repeat(before) + encoded)).toBe(WITHHELD)
    }
    expect(show('-'.repeat(8000))).toBe(`${'-'.repeat(400)}…`)
    expect(show('-'.repeat(8001))).toBe(TOO_LONG)
  })

  test.each(['a', '7', ' ', '+', '%'])('of one character withholds all text that contains it: %j', (password) => {
    const show = createRedact(() => [password])
    expect(show(`x${password}x`)).toBe(WITHHELD)
    expect(show(',,,,')).toBe(',,,,')
  })
})

describe('other text', () => {
  const show = createRedact(() => ['correct horse battery staple', '', 'x7-secret-token-of-some-length'])

  test.each([
    'Content-Type is text/html; charset=utf-8',
    'it is "2026-11-20T22:28:53Z"',
    'the members are: authenticationToken, expiration, refresh_token, tokenType',
    'Cache-Control of the token is "public, max-age=31536000, immutable", without no-store',
    '/statements?a=1&page=2: not guarded: a request without a token gets 200; /reports: a request with the token gets 503',
    'no response: connect ECONNREFUSED 127.0.0.1:40123',
    'these headers differ: x-request-id, x-guesses-left, report-to, content-security-policy',
  ])('is shown as it is: %s', (text) => {
    expect(show(text)).toBe(text)
  })

  test('has its tokens and control characters replaced', () => {
    expect(show('a eyJhbGciOiJIUzI1NiJ9.e30.AA b\u001b[31m\u202e')).toBe('a … b?[31m?')
  })

  test('has no command that a CI system reads from a log', () => {
    expect(show('is ##vso[task.prependpath]/evil ###[set-output]')).toBe(
      'is ?#vso[task.prependpath]/evil ??#[set-output]',
    )
    expect(show('a # b')).toBe('a # b')
  })

  test('is searched for each secret that comes later', () => {
    const secrets = ['first-secret']
    const shows = createRedact(() => secrets)
    expect(shows('it is later-token')).toBe('it is later-token')
    secrets.push('later-token')
    expect(shows('it is later-token')).toBe(WITHHELD)
    expect(shows('it is first-secret')).toBe(WITHHELD)
  })

  test('is withheld when a server has sent more tokens than can be searched', () => {
    const secrets = ['x'.repeat(100_000), 'y'.repeat(100_000)]
    const shows = createRedact(() => secrets)
    expect(shows('the body has 2 bytes')).toBe('the body has 2 bytes')
    secrets.push('z')
    expect(shows('the body has 2 bytes')).toBe(TOO_MANY)
  })

  test('is withheld when it decodes to a token that nobody knows', () => {
    expect(show(Buffer.from('eyJhbGciOiJIUzI1NiJ9.e30.AA').toString('hex'))).toBe(WITHHELD)
  })

  test('is withheld when it names characters that are not decoded', () => {
    expect(show('p&aacute;ss')).toBe(WITHHELD)
    expect(show('p&aacutess')).toBe(WITHHELD)
  })

  test('is withheld when too much comes of decoding it', () => {
    const nested = `%${'25'.repeat(1900)}`
    expect(show(nested)).toBe(WITHHELD)
  })

  test('is shown up to 400 characters', () => {
    expect(show(','.repeat(400))).toBe(','.repeat(400))
    expect(show(','.repeat(401))).toBe(`${','.repeat(400)}…`)
  })
})
