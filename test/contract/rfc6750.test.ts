import express from 'express'
import { requireBearer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ISSUER, issueNow, makeIssuer } from '../support/fixtures.js'
import { type Answer, asForm, expectProblem, expectUncached, send } from '../support/host.js'
import { listen, sendBytes } from '../support/http.js'

const tokens = makeIssuer()
const TOKEN = issueNow(tokens, { accountId: 'acc-1', scopes: ['reports:read'] }).token

/** Replaces `TOKEN` in a row with a valid token. */
const fill = (row?: string) => row?.replaceAll('TOKEN', TOKEN)

const INVALID_REQUEST = `Bearer realm="${ISSUER}", error="invalid_request", error_description="Send one bearer token, in one Authorization header and nowhere else."`
const INVALID_TOKEN = `Bearer realm="${ISSUER}", error="invalid_token", error_description="The access token is not valid."`
const MISSING = `Bearer realm="${ISSUER}"`

async function start(options: Partial<Parameters<typeof requireBearer>[0]> = {}): Promise<number> {
  const app = express()
  // A host's own parser: tokens in the body are not read even when the body is.
  app.use(express.urlencoded({ extended: true }))
  app.all('/guarded', requireBearer({ tokens, ...options }), (req, res) => {
    res.json({ accountId: req.auth?.accountId ?? null })
  })
  app.use(
    '/mounted',
    express.Router().get('/deep', requireBearer({ tokens }), (_req, res) => {
      res.end()
    }),
  )
  return (await listen(app)).port
}

const ask = (port: number, authorization?: string, path = '/guarded') =>
  send(port, { method: 'GET', path, headers: authorization === undefined ? {} : { Authorization: authorization } })

function expectChallenge(answer: Answer, status: number, challenge: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['www-authenticate']).toBe(challenge)
}

const expectMissing = (answer: Answer) => expectChallenge(answer, 401, MISSING)
const expectMalformed = (answer: Answer) => expectChallenge(answer, 400, INVALID_REQUEST)
const expectInvalid = (answer: Answer) => expectChallenge(answer, 401, INVALID_TOKEN)

describe('section 2.1: the Authorization header', () => {
  it.each([
    'Bearer TOKEN',
    'bearer TOKEN',
    'BEARER TOKEN',
    'bEaReR TOKEN',
    'Bearer  TOKEN',
    'Bearer      TOKEN',
    // White space around the value of a header is not a part of the value (RFC 9110 section 5.5).
    '  Bearer TOKEN  ',
    '\tBearer TOKEN\t',
  ])('accepts %j', async (authorization) => {
    expect(await ask(await start(), fill(authorization))).toMatchObject({ status: 200, body: '{"accountId":"acc-1"}' })
  })

  it.each(['x', '0', 'abcXYZ019', '-._~+/', 'a.b-c_d~e+f/g', 'abc=', 'abc===============', '/', 'x'.repeat(8000)])(
    'reads as a b64token, and refuses as a token: %s',
    async (text) => {
      expectInvalid(await ask(await start(), `Bearer ${text}`))
    },
  )

  it.each([
    'Bearer',
    'Bearer\tTOKEN',
    'Bearer \tTOKEN',
    'Bearer TOKEN TOKEN',
    'Bearer Bearer TOKEN',
    'Bearer ,TOKEN',
    'Bearer TOKEN, Bearer TOKEN',
    'Bearer TOKEN,Basic Zm9vOmJhcg==',
    'Bearer "TOKEN"',
    'Bearer token=TOKEN',
    `Bearer realm="x"`,
    'Bearer: TOKEN',
    'Bearer,TOKEN',
    'Bearer =',
    'Bearer ab=c',
    'Bearer a\u00e9',
    'Bearer \u00a0a',
    'Bearer a%20b',
    'Bearer a:b',
  ])('400 invalid_request: %j', async (authorization) => {
    expectMalformed(await ask(await start(), fill(authorization)))
  })

  it.each([
    undefined,
    '',
    'Basic Zm9vOmJhcg==',
    'Digest username="x", realm="y"',
    'DPoP TOKEN',
    'Bearerx TOKEN',
    'xBearer TOKEN',
    'Bearer- TOKEN',
    'Basic Zm9vOmJhcg==, Bearer TOKEN',
    'TOKEN',
  ])('no bearer credentials, so a challenge without an error: %j', async (authorization) => {
    expectMissing(await ask(await start(), fill(authorization)))
  })

  it.each([
    ['two tokens', `Authorization: Bearer ${TOKEN}`, 'Authorization: Bearer x'],
    ['a bad one first', 'Authorization: Bearer x', `Authorization: Bearer ${TOKEN}`],
    ['Basic behind', `Authorization: Bearer ${TOKEN}`, 'Authorization: Basic Zm9vOmJhcg=='],
    ['an empty one before', 'Authorization:', `Authorization: Bearer ${TOKEN}`],
    ['other letters', `authorization: Bearer ${TOKEN}`, `AUTHORIZATION: Bearer ${TOKEN}`],
    ['another header between', `Authorization: Bearer ${TOKEN}`, `X: y\r\nAuthorization: Bearer ${TOKEN}`],
  ])('400 invalid_request: two Authorization headers (%s)', async (_what, one, two) => {
    for (const options of [{}, { optional: true }]) {
      const port = await start(options)
      const answer = await sendBytes(
        port,
        `GET /guarded HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${one}\r\n${two}\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain(`\r\nWWW-Authenticate: ${INVALID_REQUEST}\r\n`)
    }
  })

  it('a header that only looks like a second one is none', async () => {
    const lines = `X-Authorization: Bearer x\r\nProxy-Authorization: Basic x\r\nX-Original-A: Authorization\r\n`
    const head = `GET /guarded HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}Authorization: Bearer ${TOKEN}\r\n\r\n`
    expect(await sendBytes(await start(), head)).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('section 2.2: form-encoded body parameters are not read', () => {
  it('alone', async () => {
    expectMissing(await send(await start(), { path: '/guarded', ...asForm(`access_token=${TOKEN}`) }))
  })
})

describe('section 2.3: URI query parameters are not read', () => {
  it.each(['access_token=', 'a=1&access_token=', '%61ccess_token='])('alone (%s)', async (name) => {
    expectMissing(await ask(await start(), undefined, `/guarded?${name}${TOKEN}`))
  })

  it.each([
    'access_token=x',
    'access_token=',
    'access_token',
    'access_token&b=2',
    'a=1&access_token=x',
    '&&access_token=x',
    '%61ccess_token=x',
    '%61%63%63%65%73%73%5F%74%6F%6B%65%6E=x',
    '?a=1&access_token=x',
  ])('beside the header: 400, one method per request (%s)', async (query) => {
    expectMalformed(await ask(await start(), `Bearer ${TOKEN}`, `/guarded?${fill(query)}`))
  })

  it('beside the header, on a mounted router: 400', async () => {
    const port = await start()
    expect((await ask(port, `Bearer ${TOKEN}`, '/mounted/deep?a=1')).status).toBe(200)
    expectMalformed(await ask(port, `Bearer ${TOKEN}`, '/mounted/deep?access_token=x'))
  })

  it.each(['', 'a=access_token', 'xaccess_token=x', 'access_tokens=x', 'Access_Token=x', 'token=x', '%zz=%', 'a=%ff'])(
    'what is no access_token is the route’s own (%s)',
    async (query) => {
      expect((await ask(await start(), `Bearer ${TOKEN}`, `/guarded?${query}`)).status).toBe(200)
    },
  )
})

describe('section 3: the WWW-Authenticate response header', () => {
  it.each([
    ['printable', `Bearer realm="printable"`],
    ['with spaces, commas; and = signs', `Bearer realm="with spaces, commas; and = signs"`],
    ['with "quotes"', `Bearer realm="with \\"quotes\\""`],
    ['with a back\\slash', `Bearer realm="with a back\\\\slash"`],
    ['\\"', `Bearer realm="\\\\\\""`],
  ])('realm %j is one quoted string', async (realm, challenge) => {
    expectChallenge(await ask(await start({ realm })), 401, challenge)
  })

  it.each([
    ['missing_token', 401, 'Unauthorized', undefined, {}, MISSING],
    ['invalid_request', 400, 'Bad Request', 'Bearer a b', {}, INVALID_REQUEST],
    ['invalid_token', 401, 'Unauthorized', 'Bearer x', {}, INVALID_TOKEN],
    [
      'insufficient_scope',
      403,
      'Forbidden',
      `Bearer ${TOKEN}`,
      { scope: ['reports:write', 'reports:read'] },
      `Bearer realm="${ISSUER}", error="insufficient_scope", error_description="The access token does not carry the scope that this resource needs.", scope="reports:write reports:read"`,
    ],
  ])('section 3.1: %s is %i', async (code, status, title, authorization, options, challenge) => {
    const answer = await ask(await start(options), authorization)
    expectProblem(answer, status, code, title)
    expectChallenge(answer, status, challenge)
  })

  it('each challenge names the scopes of the route, once each', async () => {
    const old = issueNow(tokens, {
      accountId: 'acc-1',
      scopes: ['a', 'b'],
      issuedAt: new Date(Date.now() - 60_000),
    }).token
    const says =
      'error="insufficient_user_authentication", error_description="This resource needs a more recent sign-in."'
    const rows = [
      [undefined, 401, MISSING],
      ['Bearer a b', 400, INVALID_REQUEST],
      ['Bearer x', 401, INVALID_TOKEN],
      [`Bearer ${old}`, 401, `${MISSING}, ${says}, max_age="1"`],
    ] as const
    const signedInWithin = '1s'
    const ports = [
      [await start({ signedInWithin }), ''],
      [await start({ signedInWithin, scope: 'a' }), ', scope="a"'],
      [await start({ signedInWithin, scope: 'a', anyScope: 'b a' }), ', scope="a b"'],
    ] as const
    for (const [authorization, status, challenge] of rows)
      for (const [port, scope] of ports) expectChallenge(await ask(port, authorization), status, challenge + scope)
  })

  it('every parameter stands once, with a value in the alphabet of section 3, and no cache may keep it', async () => {
    const port = await start({ scope: 'a b' })
    for (const authorization of [undefined, 'Bearer a b', 'Bearer x', `Bearer ${TOKEN}`]) {
      const answer = await ask(port, authorization)
      expectUncached(answer)
      const challenge = answer.headers['www-authenticate'] ?? ''
      const parameters = [...challenge.matchAll(/([a-z_]+)="([\x20\x21\x23-\x5b\x5d-\x7e]*)"(?:, |$)/g)]
      expect(`Bearer ${parameters.map(([text]) => text).join('')}`).toBe(challenge)
      expect(new Set(parameters.map(([, name]) => name)).size).toBe(parameters.length)
    }
  })
})
