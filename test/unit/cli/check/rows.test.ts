import { describe, expect, it } from 'vitest'
import { mustTellNothing } from '../../../../src/cli/check/probe/responses.js'
import type { Received } from '../../../../src/cli/check/probe/send.js'
import { bypassRows } from '../../../../src/cli/check/rows/bypass.js'
import { guessedSecret } from '../../../../src/cli/check/rows/guessable-secrets.js'
import { jwksRows } from '../../../../src/cli/check/rows/jwks.js'
import { tokenRows } from '../../../../src/cli/check/rows/token.js'
import { expirationOf, tokenAnswerRows } from '../../../../src/cli/check/rows/token-answer.js'
import { Fault, Unjudged } from '../../../../src/cli/check/verdict.js'
import { OWN_WIRE, type Wire } from '../../../../src/cli/check/wire/wire.js'

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

/** Expects a fault with this text, or none. */
async function expectJudgement(judged: Promise<void> | undefined, fault: string | undefined): Promise<void> {
  if (fault === undefined) return expect(judged).resolves.toBeUndefined()
  await expect(judged).rejects.toBeInstanceOf(Fault)
  await expect(judged).rejects.toThrow(fault)
}

describe('the row on cookie flags', () => {
  const row = bypassRows.find(({ id }) => id === 'cookie-flags')
  const wire = { token: { in: 'cookie', name: 'session' } } as const
  const judge = (line: string | undefined, url?: string) =>
    row?.run(probeOf(wire, answerWith(line === undefined ? {} : { 'set-cookie': ['a=b', line] }), url))

  it.each<[string | undefined, string | undefined, string?]>([
    ['session=x; HttpOnly; Secure; SameSite=Lax', undefined],
    ['session=x; httponly; secure; samesite=strict', undefined],
    ['session=x; HttpOnly; SameSite=Lax', undefined, 'http://127.0.0.1/login'],
    [undefined, 'sets no such cookie'],
    ['other=x; HttpOnly; Secure; SameSite=Lax', 'sets no such cookie'],
    ['session=x; Secure; SameSite=Lax', 'HttpOnly is missing'],
    ['session=x; HttpOnly; Secure; SameSite=None', 'SameSite is missing'],
    ['session=x; HttpOnly; SameSite=Lax', 'Secure is missing'],
  ])('judges %s: %s', async (line, fault, url) => {
    await expectJudgement(judge(line, url), fault)
  })

  it('is not judged for a token in the body', async () => {
    await expect(row?.run(probeOf({}, answerWith({})))).rejects.toBeInstanceOf(Unjudged)
  })
})

describe('the expiration of a mapped API', () => {
  it('is not judged when the mapping names none', async () => {
    await expect(expirationOf(probeOf({ expiration: undefined }, answerWith({})))).rejects.toBeInstanceOf(Unjudged)
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
    await expectJudgement(tokenAnswerRows.find(({ id }) => id === 'expiration-is-exp')?.run(probe), fault)
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
})

describe('the rows on the key set', () => {
  const judge = (id: string, keys: Received, own = false) => {
    const probe = probeOf({ own }, answerWith({})) as unknown as { answers: object; target: object }
    Object.assign(probe.answers, { keys: async () => keys })
    Object.assign(probe.target, { jwks: new URL('https://api.example.com/jwks') })
    return jwksRows.find((row) => row.id === id)?.run(probe as unknown as Probe)
  }
  const publicKeys = jwksRows.find(({ title }) => title === 'the key set holds only public keys')?.id as string

  it.each([
    ['{"keys":[]}', undefined],
    ['{"keys":[7,{"kty":"EC"}]}', undefined],
    ['{"keys":[{"d":"x"}]}', 'a key shows its private members: d'],
    ['{"keys":{}}', 'the response is not a key set'],
    ['[]', 'the response is not a key set'],
    ['no JSON', 'the response is not a key set'],
  ])('judge whether the keys of %s are public: %s', async (body, fault) => {
    await expectJudgement(judge(publicKeys, answerWith({}, body)), fault)
  })

  it('fail for another status, and are not judged without a key set', async () => {
    await expect(judge(publicKeys, answerWith({}, '', 500))).rejects.toBeInstanceOf(Fault)
    await expect(judge(publicKeys, answerWith({}, '', 404))).rejects.toBeInstanceOf(Unjudged)
  })

  it.each([
    [{ 'cache-control': 'no-store' }, false, true],
    [{ 'cache-control': 'public, max-age=86400' }, false, true],
    [{ 'cache-control': 'max-age=86401' }, false, false],
    [{ 'cache-control': 'public' }, false, false],
    [{}, false, true],
    [{}, true, false],
  ])('judge the headers %j, of this package %s: %s', async (headers, own, holds) => {
    const fault = holds ? undefined : 'Cache-Control names no max-age of at most'
    await expectJudgement(judge('jwks-cache', answerWith(headers, '{"keys":[]}'), own), fault)
  })
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
