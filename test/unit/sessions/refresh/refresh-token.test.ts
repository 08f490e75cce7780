import { describe, expect, it } from 'vitest'
import { createRefreshSigner, isOpenTag, openTag } from '../../../../src/sessions/refresh/refresh-token.js'
import { refreshTokenOfBefore } from '../../../support/earlier-release.js'

const [FIRST, SECOND] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const ISSUER = 'https://api.example.com'
const FACTS = { sessionId: 'Session-1_~', generation: 12 }
const signer = createRefreshSigner([FIRST])
const token = signer.write(FACTS, ISSUER)
const mac = token.slice(-43)
const read = (text: unknown) => signer.read(text, [ISSUER])

describe('a refresh token', () => {
  it('names its session and its generation', () => {
    expect(token).toMatch(/^Session-1_~\.12\.[\w-]{43}$/)
    expect(read(token)).toEqual(FACTS)
  })

  it('stays valid when this package is updated, and so does a password tag', () => {
    expect([token, signer.tagOf('hash')]).toEqual([
      'Session-1_~.12.eAA5g6PuOmPRmu-iOJzvNx9-V1c7WkmhHqCABfAnSas',
      'QoO5mO-EHTWCyjQa',
    ])
    // One of an earlier release.
    expect(read('Session-1_~.12.pCgq3E7FyzgJ-stPQck2d5RQSsUxsygq1TRJna6UYvI')).toEqual(FACTS)
  })

  it('is the same text in each process', () => {
    expect(createRefreshSigner([FIRST, SECOND]).write(FACTS, ISSUER)).toBe(token)
  })

  it('is refused when one character differs', () => {
    for (let at = 0; at < token.length; at++) {
      for (const other of 'A9-.') {
        const forged = token.slice(0, at) + other + token.slice(at + 1)
        if (forged !== token) expect([forged, read(forged)]).toEqual([forged, undefined])
      }
    }
  })

  it('has one spelling, although the last character has two unused bits', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const accepted = [...alphabet].filter((last) => read(token.slice(0, -1) + last))
    expect(accepted).toEqual([token.at(-1)])
  })

  const TERMS = { ...FACTS, terms: 'a-_9'.repeat(512) }
  const withTerms = refreshTokenOfBefore(FIRST, TERMS, ISSUER)

  it('of an earlier release is valid, and holds terms of up to 2,048 characters, which its signature covers', () => {
    expect(read(refreshTokenOfBefore(FIRST, FACTS, ISSUER))).toEqual(FACTS)
    expect(withTerms.slice(0, -44)).toBe(`Session-1_~.12.${TERMS.terms}`)
    expect(read(withTerms)).toEqual(TERMS)
    const own = withTerms.slice(-43)
    for (const forged of [`Session-1_~.12.${own}`, `Session-1_~.12.b${withTerms.slice(16)}`, `Session-1_~.12.a.${mac}`])
      expect(read(forged)).toBeUndefined()
  })

  const refused: [string, unknown][] = [
    ['with terms of 2,049 characters', refreshTokenOfBefore(FIRST, { ...FACTS, terms: 'a'.repeat(2049) }, ISSUER)],
    ['with a space in its terms', refreshTokenOfBefore(FIRST, { ...FACTS, terms: 'a b' }, ISSUER)],
    ['of an earlier release, and of another environment', refreshTokenOfBefore(FIRST, FACTS, 'https://other.example')],
    ['of an earlier release, and of another secret', refreshTokenOfBefore(SECOND, FACTS, ISSUER)],
    ['of another environment', signer.write(FACTS, 'https://staging.example.com')],
    ['of another secret', createRefreshSigner([SECOND]).write(FACTS, ISSUER)],
    ['of another session', `Session-2.12.${mac}`],
    ['of a later generation', `Session-1_~.13.${mac}`],
    ['with a generation in another spelling', `Session-1_~.012.${mac}`],
    ['with a generation that JavaScript cannot hold', signer.write({ ...FACTS, generation: 1e15 }, ISSUER)],
    ['with a dot in the id of its session', signer.write({ ...FACTS, sessionId: 'a.b' }, ISSUER)],
    ['with an empty id', signer.write({ ...FACTS, sessionId: '' }, ISSUER)],
    ['with an id of 256 characters', signer.write({ ...FACTS, sessionId: 'a'.repeat(256) }, ISSUER)],
    ['with a space in its id', signer.write({ ...FACTS, sessionId: 'a b' }, ISSUER)],
    ['that is empty', ''],
    ['that has no signature', 'Session-1_~.12.'],
    ['that is huge', 'a'.repeat(1_000_000)],
    ['that ends with a line', `${token}\n`],
    ['that begins with a space', ` ${token}`],
    ['that is no text', { toString: () => token }],
    ['that is missing', undefined],
  ]
  it.each(refused)('is refused when it is one %s', (_, text) => {
    expect(read(text)).toBeUndefined()
  })

  it('may have an id of 255 characters', () => {
    const facts = { sessionId: 'a'.repeat(255), generation: 999_999_999_999_999 }
    expect(read(signer.write(facts, ISSUER))).toEqual(facts)
  })

  it('is accepted from each issuer and each secret of the app, while a secret is replaced', () => {
    const next = createRefreshSigner([SECOND, FIRST])
    expect(next.read(token, ['https://new.example.com', ISSUER])).toEqual(FACTS)
    expect(next.write(FACTS, ISSUER)).toBe(createRefreshSigner([SECOND]).write(FACTS, ISSUER))
  })
})

describe('the tag of a password', () => {
  it('is of its hash only', () => {
    const tag = signer.tagOf('hash')
    expect(tag).toMatch(/^[\w-]{16}$/)
    expect([signer.isTagOf(tag, 'hash'), signer.isTagOf(tag, 'other'), signer.isTagOf(tag, null)]).toEqual([
      true,
      false,
      false,
    ])
    expect(signer.isTagOf(signer.tagOf(null), null)).toBe(true)
    expect(signer.isTagOf(signer.tagOf('null'), null)).toBe(false)
  })

  it('is verified by each secret, and by no other', () => {
    expect(createRefreshSigner([SECOND, FIRST]).isTagOf(signer.tagOf('hash'), 'hash')).toBe(true)
    expect(createRefreshSigner([SECOND]).isTagOf(signer.tagOf('hash'), 'hash')).toBe(false)
  })

  it('is open, and different each time, after a change of the password', () => {
    const [one, other] = [openTag(), openTag()]
    expect(one).not.toBe(other)
    expect([isOpenTag(one), isOpenTag(signer.tagOf('hash'))]).toEqual([true, false])
    expect(signer.isTagOf(one, 'hash')).toBe(false)
  })
})
