import { describe, expect, it } from 'vitest'
import { secondsOf, valueAt } from '../../../../src/cli/check/probe/read-response.js'
import { mustTellNothing } from '../../../../src/cli/check/probe/responses.js'
import type { Received } from '../../../../src/cli/check/probe/send.js'
import { bypassRows } from '../../../../src/cli/check/rows/bypass.js'
import { guessedSecret } from '../../../../src/cli/check/rows/guessable-secrets.js'
import { jwksRows } from '../../../../src/cli/check/rows/jwks.js'
import { tokenRows } from '../../../../src/cli/check/rows/token.js'
import { expirationOf, tokenAnswerRows } from '../../../../src/cli/check/rows/token-answer.js'
import { Fault, Unjudged } from '../../../../src/cli/check/verdict.js'
import { headerWith, OWN_WIRE, schemeOf, type Wire } from '../../../../src/cli/check/wire/wire.js'

type Probe = Parameters<typeof expirationOf>[0]

const ARRIVED = Date.UTC(2026, 2, 1, 12)
const answerWith = (headers: Received['headers'], body = '', status = 200): Received => ({
  status,
  headers,
  body,
  receivedAt: ARRIVED,
})
/** A probe that has only what these rows read. */
const probeOf = (wire: Partial<Wire>, answer: Received, url = 'https://api.example.com/login') =>
  ({
    wire: { ...OWN_WIRE, ...wire },
    target: { token: new URL(url) },
    answers: { signedIn: async () => answer },
    token: async () => 'a.b.c',
  }) as unknown as Probe

describe('the row on cookie flags', () => {
  const row = bypassRows.find(({ id }) => id === 'cookie-flags')
  const wire = { token: { in: 'cookie', name: 'session' } } as const
  const judge = (line: string | undefined, url?: string) =>
    row?.run(probeOf(wire, answerWith(line === undefined ? {} : { 'set-cookie': ['a=b', line] }), url))

  it.each([
    ['session=x; HttpOnly; Secure; SameSite=Lax', undefined],
    ['session=x; httponly; secure; samesite=strict', undefined],
    ['session=x; HttpOnly; SameSite=Lax', 'http://127.0.0.1/login'],
  ])('holds for %s', async (line, url) => {
    await expect(judge(line, url)).resolves.toBeUndefined()
  })

  it.each([
    [undefined, 'sets no such cookie'],
    ['other=x; HttpOnly; Secure; SameSite=Lax', 'sets no such cookie'],
    ['session=x; Secure; SameSite=Lax', 'HttpOnly is missing'],
    ['session=x; HttpOnly; Secure; SameSite=None', 'SameSite is missing'],
    ['session=x; HttpOnly; SameSite=Lax', 'Secure is missing'],
  ])('fails for %s', async (line, says) => {
    const judged = judge(line)
    await expect(judged).rejects.toBeInstanceOf(Fault)
    await expect(judged).rejects.toThrow(says)
  })

  it('is not judged for a token in the body', async () => {
    await expect(row?.run(probeOf({}, answerWith({})))).rejects.toBeInstanceOf(Unjudged)
  })
})

describe('the expiration of a mapped API', () => {
  it('is not judged when the mapping names none', async () => {
    await expect(expirationOf(probeOf({ expiration: undefined }, answerWith({})))).rejects.toBeInstanceOf(Unjudged)
  })

  it.each([
    ['seconds', '{"end":60}', 1772366460],
    ['milliseconds', '{"end":60000}', 1772366460],
    ['epoch', '{"end":"1772366460"}', 1772366460],
    ['epoch-milliseconds', '{"end":1772366460000}', 1772366460],
    ['iso', '{"end":"2026-03-01T12:01:00Z"}', 1772366460],
  ] as const)('is read as %s from %s', async (form, body, seconds) => {
    const expiration = { at: { in: 'body', name: 'end' }, form } as Wire['expiration']
    const answer = answerWith({ date: 'Sun, 01 Mar 2026 12:00:00 GMT' }, body)
    await expect(expirationOf(probeOf({ expiration }, answer))).resolves.toBe(seconds)
  })

  it.each(['{}', '{"end":true}', '{"end":-1}', 'no JSON'])('is a fault in %s, without the value', async (body) => {
    const expiration = { at: { in: 'body', name: 'end' }, form: 'seconds' } as Wire['expiration']
    await expect(expirationOf(probeOf({ expiration }, answerWith({}, body)))).rejects.toBeInstanceOf(Fault)
  })

  it.each([
    [1772366460, undefined],
    [1772366462, undefined],
    [1772366463, "the expiration is 3 seconds before the token's exp"],
    [1772366400, "the expiration is 60 seconds after the token's exp"],
    [undefined, 'the token has no exp'],
  ])('is compared with the exp %j of the token', async (exp, fault) => {
    const expiration = { at: { in: 'body', name: 'end' }, form: 'epoch' } as const
    const probe = probeOf({ own: false, expiration }, answerWith({}, '{"end":1772366460}'))
    Object.assign(probe, { readToken: async () => ({ claims: { exp } }) })
    const judged = tokenAnswerRows.find(({ id }) => id === 'expiration-is-exp')?.run(probe)
    if (fault) await expect(judged).rejects.toThrow(fault)
    else await expect(judged).resolves.toBeUndefined()
  })

  it.each([[{ date: 'Sun, 01 Mar 2026 12:00:00 GMT' }], [{}], [{ date: 'today' }]])(
    'gives the lifetime of an opaque token, with the headers %j',
    async (headers) => {
      const judge = (seconds: number) => {
        const expiration = { at: { in: 'body', name: 'end' }, form: 'seconds' } as const
        const probe = probeOf({ own: false, expiration }, answerWith(headers, `{"end":${seconds}}`))
        return tokenRows.find(({ id }) => id === 'lifetime')?.run(probe)
      }
      await expect(judge(86_400)).resolves.toBeUndefined()
      await expect(judge(86_401)).rejects.toThrow('its lifetime is 86401 seconds')
    },
  )

  it('is not a date that ISO 8601 does not have', () => {
    expect(secondsOf('1 March 2026', 'iso', 0)).toBe(undefined)
    expect(secondsOf(1772366460, 'iso', 0)).toBe(undefined)
    expect(secondsOf('2026-13-01T12:00:00Z', 'iso', 0)).toBe(undefined)
  })
})

describe('the value at a place of the response', () => {
  it.each([
    ['body', 'a.1.b', 7],
    ['body', 'a.b.c', undefined],
    ['body', 'toString', undefined],
    ['header', 'X-Token', 'from a header'],
    ['cookie', 'session', 'second'],
    ['cookie', 'other', undefined],
  ] as const)('in the %s at %s', (where, name, value) => {
    const headers = { 'x-token': 'from a header', 'set-cookie': ['session=first', 'session=second; Path=/'] }
    expect(valueAt(answerWith(headers, '{"a":[0,{"b":7}]}'), { in: where, name })).toBe(value)
  })

  it('is undefined without cookies', () => {
    expect(valueAt(answerWith({}), { in: 'cookie', name: 'session' })).toBe(undefined)
  })
})

describe('the rows on the key set', () => {
  const judge = (id: string, keys: Received, own = false) => {
    const probe = probeOf({ own }, answerWith({})) as unknown as { answers: object; target: object }
    Object.assign(probe.answers, { keys: async () => keys })
    Object.assign(probe.target, { jwks: new URL('https://api.example.com/jwks') })
    return jwksRows.find((row) => row.id === id)?.run(probe as unknown as Probe)
  }
  const publicKeys = jwksRows.find(({ title }) => title === 'the key set holds only public keys')?.id as string

  it.each(['{"keys":[]}', '{"keys":[7,{"kty":"EC"}]}'])('hold for the public keys of %s', async (body) => {
    await expect(judge(publicKeys, answerWith({}, body))).resolves.toBeUndefined()
  })

  it.each(['{"keys":[{"d":"x"}]}', '{"keys":{}}', '[]', 'no JSON'])('fail for %s', async (body) => {
    await expect(judge(publicKeys, answerWith({}, body))).rejects.toBeInstanceOf(Fault)
  })

  it('fail for another status, and are not judged without a key set', async () => {
    await expect(judge(publicKeys, answerWith({}, '', 500))).rejects.toBeInstanceOf(Fault)
    await expect(judge(publicKeys, answerWith({}, '', 404))).rejects.toBeInstanceOf(Unjudged)
  })

  it.each([
    ['no-store', true],
    ['public, max-age=86400', true],
    ['max-age=86401', false],
    ['public', false],
  ])('on caching: %s', async (control, holds) => {
    const judged = judge('jwks-cache', answerWith({ 'cache-control': control }, '{"keys":[]}'))
    if (holds) await expect(judged).resolves.toBeUndefined()
    else await expect(judged).rejects.toBeInstanceOf(Fault)
  })

  it('on caching: another API may leave out the header', async () => {
    await expect(judge('jwks-cache', answerWith({}, '{"keys":[]}'))).resolves.toBeUndefined()
    await expect(judge('jwks-cache', answerWith({}, '{"keys":[]}'), true)).rejects.toBeInstanceOf(Fault)
  })
})

it.each([
  [{ cookie: 'session' }, { Cookie: 'session=t' }, undefined],
  [{ header: 'X-Token', scheme: '' }, { 'X-Token': 't' }, undefined],
  [{ header: 'authorization', scheme: 'JWT' }, { authorization: 'JWT t' }, 'JWT'],
  [{ header: 'Authorization', scheme: '' }, { Authorization: 't' }, undefined],
])('a credential %j is sent as %j', (credential, headers, scheme) => {
  const wire = { ...OWN_WIRE, credential } as Wire
  expect(headerWith(wire, 't')).toEqual(headers)
  expect(schemeOf(wire)).toBe(scheme)
})

it('a token that is not signed with HMAC has no guessable secret', () => {
  const token = { alg: 'ES256K', signed: 'a.b', signatureText: 'c' } as Parameters<typeof guessedSecret>[0]
  expect(guessedSecret(token)).toBe(false)
  expect(guessedSecret({ ...token, alg: 'none' })).toBe(false)
})

describe('the search for internals of the server', () => {
  const search = (body: string) => () => mustTellNothing(answerWith({}, body), 'mark', 'a request')

  it.each([
    'Error: x\n    at f (/srv/app.js:1:2)',
    'Error\r\n\tat main (app.py:3:4)',
    '<pre>Error<br> &nbsp; at f',
    '/srv/node_modules/x',
    'at app.mjs:10:5',
  ])('finds %j', (body) => {
    expect(search(body)).toThrow(Fault)
  })

  it('also ends for a body of a million line ends, or of a million blanks', () => {
    for (const body of ['\n'.repeat(1_000_000), '\n '.repeat(500_000), ' '.repeat(1_000_000)]) {
      expect(search(body)).not.toThrow()
    }
  })
})
