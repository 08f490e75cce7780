import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { looksLikeJwt, readCompact, unverifiedIssuer } from '../../../../src/tokens/jwt/compact-jws.js'
import { expectInvalidToken } from '../../../support/failures.js'
import { atFrozenMoment, partsOf, signParts } from '../../../support/tokens.js'

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const { issuer, forged, withPayload } = atFrozenMoment()
const part = (text: string | Uint8Array) => Buffer.from(text).toString('base64url')

describe('readCompact', () => {
  it('reads what chooses the way of verifying, as it stands', () => {
    const header = part('{"alg":"HS256","kid":7,"typ":null,"other":1}')
    expect(readCompact(`${header}.${part('{}')}.AA`)).toEqual({
      alg: 'HS256',
      kid: 7,
      typ: null,
      crit: undefined,
      payload: Buffer.from('{}'),
      signed: `${header}.e30`,
      signature: Buffer.from([0]),
    })
  })

  it.each(['null', '[]', '["exp"]'])('reads a crit, whatever it is: %s', (crit) => {
    expect(readCompact(`${part(`{"crit":${crit}}`)}.${part('{}')}.AA`)).toHaveProperty('crit', JSON.parse(crit))
  })

  it('reads no empty header', () => {
    expect(readCompact('.e30.AA')).toBeUndefined()
  })

  it('parses the header of the last token once', () => {
    const parsed = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsed.mockRestore())
    const read = (kid: number) => readCompact(`${part(`{"kid":${kid}}`)}.e30.AA`)?.kid
    expect([1, 1, 2, 1].map(read)).toEqual([1, 1, 2, 1])
    expect(parsed.mock.calls.flat()).toEqual(['{"kid":1}', '{"kid":2}', '{"kid":1}'])
  })

  it('reads a header of at most 2,048 characters', () => {
    const headerOf = (length: number) => part(`{"kid":"${'k'.repeat(length * 0.75 - 10)}"}`)
    for (const [length, isRead] of [
      [2048, true],
      [2052, false],
    ] as const) {
      expect(headerOf(length)).toHaveLength(length)
      expect(readCompact(`${headerOf(length)}.e30.AA`) !== undefined).toBe(isRead)
    }
  })

  it('refuses a text without dots, also one that begins with a header', () => {
    expect(readCompact(`${part('{"a":1}')}A`)).toBeUndefined()
  })

  it('takes nothing from a prototype', () => {
    const header = part('{"__proto__":{"alg":"none","kid":"k1","typ":"at+jwt"}}')
    expect(readCompact(`${header}.${part('{}')}.AA`)).toMatchObject({ alg: undefined, kid: undefined, typ: undefined })
  })
})

describe('unverifiedIssuer', () => {
  const issuerOf = (json: string) => unverifiedIssuer(`e30.${part(json)}.AA`)

  it.each([
    '{"iss":"a"}',
    ' { "x" : 1 , "iss"\t:\r\n "a" , "y" : 2 } ',
    '{"iss":"https:\\/\\/a.example\\/\\u00e9\\"}"}',
    '{"a":"\\"iss\\":\\"b\\"","b":"\\\\","iss":"c"}',
    '{"act":{"iss":"b"},"list":[{"iss":"b"},["iss"]],"text":"}]{[","iss":"a"}',
    '{"a":"iss","b":["iss"],"iss":"a"}',
    '{"a":"}}","iss":"a"}',
    '{"a":"{[","iss":"a"}',
    '{"a":"\\"","iss":"a"}',
    '{"xiss":"b","iss ":"b","ISS":"b","iss":"a"}',
    '{"iss":""}',
  ])('finds the member of %s', (json) => {
    expect(issuerOf(json)).toBe(JSON.parse(json).iss)
  })

  it.each([
    '{}',
    '"iss"',
    '[{"iss":"a"}]',
    '{"iss":["a"]}',
    '{"iss":{"iss":"a"}}',
    '{"iss":7}',
    '{"iss":null}',
    '{"a":{"iss":"a"}}',
    '{"a":"iss"}',
    '{"iss":"a',
    '{"iss":"\\x"}',
    '{"iss":"a\nb"}',
    '{"iss',
    '{"iss\\',
  ])('finds none in %s', (json) => {
    expect(issuerOf(json)).toBeUndefined()
  })

  it.each([
    ['without a dot', 'x'],
    ['whose payload is not base64url', 'e30.{}.AA'],
    ['whose payload is not UTF-8', `e30.${part(Buffer.from('{"iss":"a"}\xff', 'latin1'))}.AA`],
  ])('finds none in a text %s', (_, text) => {
    expect(unverifiedIssuer(text)).toBeUndefined()
  })

  it('parses only the issuer', () => {
    const parsed = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsed.mockRestore())
    expect(issuerOf(`{"a":${'['.repeat(5000)}${']'.repeat(5000)},"iss":"b"}`)).toBe('b')
    expect(parsed.mock.calls).toEqual([['"b"']])
  })
})

/** Returns another spelling of the same bytes, in which unused bits of the last character are not zero. */
function respell(text: string): string {
  const last = BASE64URL.indexOf(text.at(-1) as string)
  const other = text.slice(0, -1) + BASE64URL[last + 1]
  expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(text, 'base64url'))
  return other
}

describe('a token has one spelling', () => {
  // A payload whose last character has unused bits; the header and the signature have them already.
  const token = ['', 'x', 'xx']
    .map((pad) => forged({ payload: { pad } }))
    .find((t) => partsOf(t).payload.length % 4 > 0)
  const { header, payload, signature } = partsOf(token as string)

  it('which verifies', async () => {
    expect(await issuer.verify(signParts(header, payload))).toMatchObject({ id: 'jti-1' })
  })

  it.each([
    ['unused bits in the header', () => signParts(respell(header), payload)],
    ['unused bits in the payload', () => signParts(header, respell(payload))],
    ['unused bits in the signature', () => `${header}.${payload}.${respell(signature)}`],
    ['padding behind the header', () => signParts(`${header}=`, payload)],
    ['padding behind the payload', () => signParts(header, `${payload}=`)],
    ['padding behind the signature', () => `${header}.${payload}.${signature}=`],
    ['a space before', () => signParts(` ${header}`, payload)],
    ['a space behind', () => `${signParts(header, payload)} `],
    ['a newline behind', () => `${signParts(header, payload)}\n`],
    ['a newline inside', () => signParts(header, `${payload.slice(0, 9)}\n${payload.slice(9)}`)],
    ['a space inside', () => signParts(header, `${payload.slice(0, 9)} ${payload.slice(9)}`)],
    ['a NUL behind', () => `${signParts(header, payload)}\0`],
    ['a character beyond ASCII', () => signParts(header, `${payload}\u0141`)],
  ])('and not with %s', async (_, spelt) => {
    await expectInvalidToken(issuer.verify(spelt()), 'malformed')
  })

  it('not that of base64', async () => {
    // 0xfb 0xff makes characters that the two alphabets spell differently.
    const odd = [0, 1, 2].map(
      (n) => partsOf(forged({ payload: { odd: `${'x'.repeat(n)}\u07ff\u07ff>>>???` } })).payload,
    )
    const both = odd.find((text) => text.includes('-') && text.includes('_')) ?? expect.fail('no such payload')
    expect(await issuer.verify(signParts(header, both))).toMatchObject({ id: 'jti-1' })
    await expectInvalidToken(issuer.verify(signParts(header, both.replaceAll('-', '+'))), 'malformed')
    await expectInvalidToken(issuer.verify(signParts(header, both.replaceAll('_', '/'))), 'malformed')
  })
})

describe('a token has three parts', () => {
  const { header, payload, signature } = partsOf(forged())

  it.each([
    ['none', ''],
    ['one', header],
    ['two', `${header}.${payload}`],
    ['two and a dot: an unsecured JWS', `${header}.${payload}.`],
    ['four', `${header}.${payload}.${signature}.${signature}`],
    ['five: a JWE', `${header}.AA.AA.AA.${signature}`],
    ['an empty fourth', `${header}.${payload}.${signature}.`],
    ['an empty header', signParts('', payload)],
    ['an empty payload', signParts(header, '')],
    ['a dot before', `.${header}.${payload}.${signature}`],
    ['JSON serialization', JSON.stringify({ payload, protected: header, signature })],
    ['full-width dots', [header, payload, signature].join('\uff0e')],
    ['a detached payload (RFC 7515 appendix F)', withPayload('')],
    ['only dots', '..'],
  ])('and not %s', async (_, token) => {
    await expectInvalidToken(issuer.verify(token), 'malformed')
  })
})

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['an array', [forged()]],
  ['bytes', Buffer.from(forged())],
  ['a String object', Object(forged())],
  ['an object that reads as a token', { toString: () => forged(), split: () => forged().split('.') }],
])('verify refuses %s, also of a token that it has cached', async (_, value) => {
  await issuer.verify(forged())
  await expectInvalidToken(issuer.verify(value as never), 'malformed')
})

describe('a text that looks like a JWT', () => {
  it.each([
    ['a header and a dot', `${part('{}')}.`, true],
    ['a header in plain base64', `${Buffer.from('{"a":"??>"}').toString('base64')}.e30.AA`, true],
    ['a header that is too long to be parsed', `${'a'.repeat(2049)}.`, true],
    ['not with the longest text that is parsed', `${'a'.repeat(2048)}.`, false],
    ['not with a list as its header', `${part('[]')}.`, false],
    ['not with a dot first', '.e30.AA', false],
    ['not without a dot', `${part('{}')}x`, false],
    ['not without a dot, as an API key', 'key_1', false],
  ])('has %s', (_, text, looksLike) => {
    expect(looksLikeJwt(text)).toBe(looksLike)
  })
})
