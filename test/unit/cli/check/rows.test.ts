import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, test } from 'vitest'
import { mustTellNothing } from '../../../../src/cli/check/probe/response.js'
import type { Received, Send, Sent } from '../../../../src/cli/check/probe/send.js'
import { signIn } from '../../../../src/cli/check/probe/token.js'
import type { Format } from '../../../../src/cli/check/report/formats.js'
import { createReport } from '../../../../src/cli/check/report/report.js'
import { judge, type Row } from '../../../../src/cli/check/row.js'
import { guessedSecret } from '../../../../src/cli/check/rows/guessable-secrets.js'
import { expirationOf } from '../../../../src/cli/check/rows/token-response.js'
import { ROWS } from '../../../../src/cli/check/rows.js'
import { Fault, type Result, Unjudged } from '../../../../src/cli/check/verdict.js'
import { OWN, type Wire } from '../../../../src/cli/check/wire/wire.js'

type Probe = Parameters<typeof expirationOf>[0]

const ARRIVED = Date.UTC(2026, 2, 1, 12)
const answerWith = (headers: Received['headers'], body = '', status = 200): Received => {
  return { status, headers, body, receivedAt: ARRIVED }
}
/** A probe that has only what these rows read. */
const probeOf = (wire: Partial<Wire>, answer: Received, url = 'https://api.example.com/login') =>
  ({
    wire: { ...OWN.wire, ...wire },
    target: { token: new URL(url) },
    responses: { signedIn: async () => answer },
    token: async () => 'a.b.c',
  }) as unknown as Probe

const run = (id: string, probe: Probe) => judge(ROWS.find((row) => row.id === id) as Row, probe, [])

/** Expects a fault with this text, or none. */
async function expectJudgement(judged: Promise<Result>, fault: string | undefined): Promise<void> {
  const failed = { verdict: 'fails', detail: expect.stringContaining(fault ?? '') }
  expect(await judged).toMatchObject(fault === undefined ? { verdict: 'holds' } : failed)
}

describe('the row on cookie flags', () => {
  const wire = { token: { in: 'cookie', name: 'session' } } as const
  const judged = (line: string | undefined, url?: string) =>
    run('cookie-flags', probeOf(wire, answerWith(line === undefined ? {} : { 'set-cookie': ['a=b', line] }), url))

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
    await expectJudgement(judged(line, url), fault)
  })

  it('is not judged for a token in the body', async () => {
    expect(await run('cookie-flags', probeOf({}, answerWith({})))).toMatchObject({ verdict: 'skipped' })
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
    Object.assign(probe, { jwt: async () => ({ claims: { exp } }) })
    await expectJudgement(run('expiration-is-exp', probe), fault)
  })

  it.each([[{ date: 'Sun, 01 Mar 2026 12:00:00 GMT' }], [{}], [{ date: 'today' }]])(
    'gives the lifetime of an opaque token, with the headers %j',
    async (headers) => {
      const judged = (seconds: number) => {
        const expiration = { at: { in: 'body', name: 'end' }, form: 'seconds' } as const
        return run('lifetime', probeOf({ own: false, expiration }, answerWith(headers, `{"end":${seconds}}`)))
      }
      await expectJudgement(judged(86_400), undefined)
      await expectJudgement(judged(86_401), 'its lifetime is 86401 seconds')
    },
  )
})

describe('the rows on the key set', () => {
  const judged = (id: string, keys: Received, own = false) => {
    const probe = probeOf({ own }, answerWith({}))
    Object.assign(probe.responses, { keys: async () => keys })
    Object.assign(probe.target, { jwks: new URL('https://api.example.com/jwks') })
    return run(id, probe)
  }

  it.each([
    ['{"keys":[]}', undefined],
    ['{"keys":[7,{"kty":"EC"}]}', undefined],
    ['{"keys":[{"d":"x"}]}', 'a key shows its private members: d'],
    ['{"keys":{}}', 'the response is not a key set'],
    ['[]', 'the response is not a key set'],
    ['no JSON', 'the response is not a key set'],
  ])('judge whether the keys of %s are public: %s', async (body, fault) => {
    await expectJudgement(judged('jwks-public', answerWith({}, body)), fault)
  })

  it('fail for another status, and are not judged without a key set', async () => {
    expect(await judged('jwks-public', answerWith({}, '', 500))).toMatchObject({ verdict: 'fails' })
    expect(await judged('jwks-public', answerWith({}, '', 404))).toMatchObject({ verdict: 'skipped' })
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
    await expectJudgement(judged('jwks-cache', answerWith(headers, '{"keys":[]}'), own), fault)
  })
})

it.each([
  [['no', 'no', 'no'], undefined],
  [['no', 'no', 'no such user'], 'the bodies differ'],
  // An id in each refusal reveals nothing about the account.
  [['no 1', 'no 2', 'no 3'], undefined],
])('the row on unknown e-mail addresses judges the bodies %j of three refusals: %s', async (bodies, fault) => {
  const probe = probeOf({}, answerWith({}))
  const [wrong, spaced, unknown] = bodies.map((body) => async () => answerWith({}, body, 403))
  Object.assign(probe.responses, { wrong, spaced, unknown })
  await expectJudgement(run('same-refusal', probe), fault)
})

it('a token that is not signed with HMAC has no guessable secret', () => {
  const token = { alg: 'ES256K', signed: 'a.b', signatureText: 'c' } as Parameters<typeof guessedSecret>[0]
  expect(guessedSecret(token)).toBe(false)
  expect(guessedSecret({ ...token, alg: 'none' })).toBe(false)
})

describe('the search for internals of the server', () => {
  const search = (body: string) => () => mustTellNothing(answerWith({}, body), 'mark', 'a request')

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

describe('a report', () => {
  const URL_OF_APP = 'https://api.example.com/'
  const row = { title: 'a wrong password gets 401', source: 'RFC 9110 section 11' }
  const RESULTS: Result[] = [
    { ...row, id: 'one', verdict: 'holds' },
    { ...row, id: 'two', verdict: 'fails', detail: 'it gets <b>"200" & more</b>\u0000\ud800 it\'s' },
    { ...row, id: 'three', verdict: 'skipped', detail: 'no --guarded PATH was given' },
  ]

  async function print(format: Format, results = RESULTS): Promise<string> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const report = createReport(format, undefined, { stdout, stderr })
    for (const [index, result] of results.entries()) {
      report.began(result.title, index, results.length)
      report.ended(result)
    }
    report.done(URL_OF_APP, results)
    stdout.end()
    return text(stdout)
  }

  test('junit is the XML that CI systems read', async () => {
    expect(await print('junit')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="express-token-endpoint check https://api.example.com/" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="check.one" name="one: a wrong password gets 401"/>
    <testcase classname="check.two" name="two: a wrong password gets 401"><failure type="two" message="it gets &lt;b&gt;&quot;200&quot; &amp; more&lt;/b&gt;?\ufffd it's">it gets &lt;b&gt;&quot;200&quot; &amp; more&lt;/b&gt;?\ufffd it's
Source: RFC 9110 section 11</failure></testcase>
    <testcase classname="check.three" name="three: a wrong password gets 401"><skipped message="no --guarded PATH was given"/></testcase>
  </testsuite>
</testsuites>
`)
  })

  test('sarif has a rule and a result for each row', async () => {
    const log = JSON.parse(await print('sarif'))
    expect(Object.keys(log)).toEqual(['$schema', 'version', 'runs'])
    expect(log.version).toBe('2.1.0')
    const [run] = log.runs
    const { name, rules } = run.tool.driver
    const ids = rules.map(({ id }: { id: string }) => id)
    expect({ name, ids }).toEqual({ name: 'express-token-endpoint check', ids: ['one', 'two', 'three'] })
    const shortDescription = { text: 'A wrong password gets 401.' }
    expect(rules[0]).toMatchObject({ shortDescription, help: { text: expect.any(String) } })
    expect(run.invocations).toEqual([{ executionSuccessful: true, exitCode: 1 }])
    expect(run.results).toMatchObject([
      { ruleId: 'one', ruleIndex: 0, kind: 'pass', level: 'none' },
      { ruleId: 'two', ruleIndex: 1, kind: 'fail', level: 'error', partialFingerprints: {} },
      { ruleId: 'three', ruleIndex: 2, kind: 'notApplicable', level: 'none' },
    ])
    expect(run.results[2].message.text).toBe('no --guarded PATH was given')
    expect(run.results[1].locations[0].physicalLocation.artifactLocation.uri).toEqual(expect.any(String))
  })

  test('text and json have every row', async () => {
    expect(await print('text')).toContain('1 hold, 1 does not, 1 skipped')
    expect(JSON.parse(await print('json'))).toMatchObject({ holds: false, counts: { holds: 1, fails: 1, skipped: 1 } })
  })
})

describe('a sign-in at another environment', () => {
  const [email, password] = ['alice@example.com', 'hers']
  /** A URL that the client itself refuses, with a query, which its options cannot say. */
  const token = new URL('http://api.example.com/token?house=north')
  const environment = { token, guarded: [], credentials: { user: email, password } }

  const result = { authenticationToken: 'a.b.c', expiration: '2100-01-01T00:00:00.000Z' }
  const issued: Received = { status: 200, headers: {}, body: JSON.stringify(result), receivedAt: 0 }

  /** Signs in. Returns what was sent, with the token or the error. */
  async function signedIn(respond: () => Promise<Received>) {
    const sent: [url: string, request: Sent | undefined][] = []
    const send: Send = (url, request) => {
      sent.push([url.href, request])
      return respond()
    }
    return { sent, found: await signIn(environment, send, OWN.wire).catch((error) => error) }
  }

  test('sends the credentials once to the token URL, and over plain http too', async () => {
    const { sent, found } = await signedIn(async () => issued)
    expect(found).toBe('a.b.c')
    const headers = { 'content-type': 'application/json' }
    expect(sent).toEqual([[token.href, { method: 'POST', headers, body: JSON.stringify({ email, password }) }]])
  })

  test.each<[string, Partial<Received>]>([
    ['invalid credentials', { status: 403, body: '' }],
    ['a limit without a time', { status: 429 }],
    ['a limit with a time', { status: 429, headers: { 'retry-after': '1' } }],
    ['an overload', { status: 503 }],
    ['a status that `Response` does not take', { status: 999 }],
    ['no JSON', { body: 'hello' }],
    ['a token that is none', { body: JSON.stringify({ ...result, authenticationToken: 'a b' }) }],
    ['a token without an expiration', { body: JSON.stringify({ authenticationToken: 'a.b.c' }) }],
  ])('%s: one request, and no token', async (_what, answer) => {
    const { sent, found } = await signedIn(async () => ({ ...issued, ...answer }))
    expect(found).toEqual(new Fault('the other environment gave no token'))
    expect(sent).toHaveLength(1)
  })

  test('keeps the message of a server that does not respond', async () => {
    const fault = new Fault('no response: connect ECONNREFUSED 127.0.0.1:9')
    const { sent, found } = await signedIn(() => Promise.reject(fault))
    expect(found).toBe(fault)
    expect(sent).toHaveLength(1)
  })
})
