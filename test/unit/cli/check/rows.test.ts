import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { CheckedApp } from '../../../../src/cli/check/app.js'
import { challengeIn, mustTellNothing } from '../../../../src/cli/check/response.js'
import { judge, type Row } from '../../../../src/cli/check/row.js'
import { ROWS } from '../../../../src/cli/check/rows.js'
import type { Received } from '../../../../src/cli/check/send.js'
import { Fault, type Result } from '../../../../src/cli/check/verdict.js'

const responseWith = (headers: Received['headers'], body = '', status = 200): Received => ({ status, headers, body })

/** Judges a row with an app that has only what the row reads. */
const run = (id: string, app: object) =>
  judge(ROWS.find((row) => row.id === id) as Row, app as unknown as CheckedApp, [])

/** Expects a fault with this text, or none. */
async function expectJudgement(judged: Promise<Result>, fault: string | undefined): Promise<void> {
  const failed = { verdict: 'fails', detail: expect.stringContaining(fault ?? '') }
  expect(await judged).toMatchObject(fault === undefined ? { verdict: 'holds' } : failed)
}

describe('the row on the lifetime', () => {
  const DATE = 'Sun, 01 Mar 2026 12:00:00 GMT'
  const iat = Date.parse(DATE) / 1000

  it.each<[object, Received['headers'], string | undefined]>([
    [{ iat, exp: iat + 86_400 }, { date: DATE }, undefined],
    [{ iat, exp: iat + 86_401 }, { date: DATE }, 'its lifetime is 86401 seconds'],
    [{ iat, exp: iat }, { date: DATE }, 'its lifetime is 0 seconds'],
    [{ iat }, { date: DATE }, 'its lifetime is NaN seconds'],
    [{ iat: iat - 60, exp: iat + 60 }, { date: DATE }, undefined],
    [{ iat: iat - 61, exp: iat + 60 }, { date: DATE }, 'iat is -61 seconds from the Date of the response'],
    [{ iat: 1, exp: 2 }, {}, undefined],
    [{ iat: 1, exp: 2 }, { date: 'today' }, undefined],
  ])('judges the claims %j with the headers %j: %s', async (claims, headers, fault) => {
    const live = async () => responseWith(headers)
    await expectJudgement(run('lifetime', { live, jwt: async () => ({ claims }) }), fault)
  })
})

describe('the rows on the key set', () => {
  const judged = (id: string, keys: Received) =>
    run(id, { responses: { keys: async () => keys }, urlOf: () => new URL('https://api.example.com/jwks') })

  it.each([
    ['{"keys":[]}', undefined],
    ['{"keys":[7,{"kty":"EC"}]}', undefined],
    ['{"keys":[{"d":"x"}]}', 'a key shows its private members: d'],
    ['{"keys":{}}', 'the response is not a key set'],
    ['[]', 'the response is not a key set'],
    ['no JSON', 'the response is not a key set'],
  ])('judge whether the keys of %s are public: %s', async (body, fault) => {
    await expectJudgement(judged('jwks-public', responseWith({}, body)), fault)
  })

  it('fail for another status, and are not judged without a key set', async () => {
    expect(await judged('jwks-public', responseWith({}, '', 500))).toMatchObject({ verdict: 'fails' })
    expect(await judged('jwks-public', responseWith({}, '', 404))).toMatchObject({ verdict: 'skipped' })
  })

  it.each([
    [{ 'cache-control': 'no-store' }, true],
    [{ 'cache-control': 'public, max-age=86400' }, true],
    [{ 'cache-control': 'max-age=86401' }, false],
    [{ 'cache-control': 'public' }, false],
    [{}, false],
  ])('judge the headers %j: %s', async (headers, holds) => {
    const fault = holds ? undefined : 'Cache-Control names no max-age of at most'
    await expectJudgement(judged('jwks-cache', responseWith(headers, '{"keys":[]}')), fault)
  })
})

it.each([
  [['no', 'no', 'no'], undefined],
  [['no', 'no', 'no such user'], 'the bodies differ'],
  // An id in each refusal reveals nothing about the account.
  [['no 1', 'no 2', 'no 3'], undefined],
])('the row on unknown e-mail addresses judges the bodies %j of three refusals: %s', async (bodies, fault) => {
  const [wrong, spaced, unknown] = bodies.map((body) => async () => responseWith({}, body, 403))
  await expectJudgement(run('same-refusal', { responses: { wrong, spaced, unknown } }), fault)
})

describe('the row on guessable secrets', () => {
  const LONG = 'a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long'
  const judged = (alg: unknown, key: string | Buffer) => {
    const signature = createHmac(`sha${String(alg).slice(2)}`, key)
      .update('a.b')
      .digest()
    return run('guessable-secret', { jwt: async () => ({ alg, signed: 'a.b', signature }) })
  }

  it.each([
    ['HS256', 'a-string-secret-at-least-256-bits-long', 'fails'],
    ['HS512', LONG, 'fails'],
    ['HS384', Buffer.from(LONG, 'base64'), 'fails'],
    ['HS256', 'a secret that no documentation has, of 38 bytes', 'holds'],
  ])('judges the %s secret %s: %s', async (alg, key, verdict) => {
    expect(await judged(alg, key)).toMatchObject({ verdict })
  })

  it.each(['ES256', 'none', 7, undefined])('is skipped for the algorithm %j', async (alg) => {
    const app = { jwt: async () => ({ alg, signed: 'a.b', signature: Buffer.alloc(0) }) }
    expect(await run('guessable-secret', app)).toMatchObject({ verdict: 'skipped' })
  })
})

it.each([
  ['Bearer realm="x"', true],
  ['Bearer', true],
  ['Basic realm="x", bearer realm="y"', true],
  ['Basic realm="Bearer"', false],
  ['Bearers realm="x"', false],
])('the header WWW-Authenticate: %s has a Bearer challenge: %s', (challenge, isBearer) => {
  expect(challengeIn(responseWith({ 'www-authenticate': challenge }))).toMatchObject({ isBearer })
})

describe('the search for internals of the server', () => {
  const search = (body: string) => () => mustTellNothing(responseWith({}, body), 'mark', 'a request')

  it.each([
    ...['Error: x\n    at f (/srv/app.js:1:2)', 'Error\r\n\tat main (app.py:3:4)'],
    ...['<pre>Error<br> &nbsp; at f', '/srv/node_modules/x', 'at app.mjs:10:5'],
  ])('finds %j', (body) => {
    expect(search(body)).toThrow(Fault)
  })

  it('also ends for a body of a million line ends, or of a million blanks', () => {
    for (const body of ['\n'.repeat(1_000_000), '\n '.repeat(500_000), ' '.repeat(1_000_000)]) {
      expect(search(body)).not.toThrow()
    }
  })
})
