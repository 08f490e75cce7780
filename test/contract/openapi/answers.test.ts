import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { describe, expect, it } from 'vitest'
import { statuses, until } from '../../support/concurrency.js'
import { documented } from '../../support/documents/documented.js'
import { issueNow } from '../../support/fixtures.js'
import {
  asJson,
  FORM_TYPE,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  type Sent,
  send,
} from '../../support/host.js'
import { EXPRESS, flood, listen, TOKEN_PATH } from '../../support/http.js'

const KEYS_PATH = '/.well-known/jwks.json'

/** Creates the document of an app with all routers and its own guarded route. */
function document() {
  const made = openApiDocument({ jwks: true })
  const body = { type: 'object', properties: { account: { type: 'string' } }, required: ['account'] }
  const headers = {
    'Cache-Control': { description: 'Of the guard.', required: true, schema: { const: 'private, no-cache' } },
  }
  const responses = { 200: { description: 'Who.', headers, content: { 'application/json': { schema: body } } } }
  made.paths['/guarded'] = { get: guardedOperation({ responses }, { scope: 'reports:read' }) }
  return made
}

describe.each(EXPRESS)('every answer is the documented one, on %s', async (_, express) => {
  const { authOf, createPasswords, createLimits, jwksRouter, requireBearer, tokenRouter, ...others } =
    await packageOn(express)
  const { createAuth, memoryStore, SignInRefusal, ...fixtures } = others
  const { countingHasher, fastPasswords, forge, goodParts, ISSUER, makeIssuer, makeStore, SECRET, signingKey } =
    fixtures
  const { check, expectAllSeen } = documented(document())

  type Router = Partial<Parameters<typeof tokenRouter>[0]>
  type Guard = Partial<Parameters<typeof requireBearer>[0]>

  async function start(router: Router = {}, guard: Guard = {}): Promise<number> {
    const tokens = makeIssuer()
    const app = express().disable('x-powered-by')
    app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), ...router }))
    app.use(
      jwksRouter({ tokens: makeIssuer({ keys: [signingKey('ES256'), signingKey('RS256'), signingKey('Ed25519')] }) }),
    )
    app.get('/guarded', requireBearer({ tokens, scope: 'reports:read', ...guard }), (req, res) => {
      // Does not use res.json, which adds an ETag.
      res.type('json').end(JSON.stringify({ account: authOf(req).accountId }))
    })
    return (await listen(app)).port
  }

  /** Sends a request and checks the response against the document. */
  async function ask(port: number, path: string, method: string, sent: Sent = {}) {
    const answer = await send(port, { method: method.toUpperCase(), path, ...sent })
    check(path, method, answer, sent.method === 'HEAD')
    return answer
  }

  const login = (port: number, sent: Sent) => ask(port, TOKEN_PATH, 'post', sent)
  const fail = async () => {
    throw new Error('down')
  }
  const WRONG = asJson({ ...GOOD, password: 'wrong' })

  describe('the token call', () => {
    const BODIES: Record<string, Sent> = {
      'application/json': { headers: JSON_TYPE, body: GOOD_JSON },
      'application/x-www-form-urlencoded': { headers: FORM_TYPE, body: GOOD_FORM },
    }
    it('200: each media type that is documented', async () => {
      const { requestBody } = document().paths[TOKEN_PATH]?.post ?? {}
      expect(requestBody).toMatchObject({ required: true })
      expect(Object.keys((requestBody as { content: object }).content)).toEqual(Object.keys(BODIES))
      for (const sent of Object.values(BODIES)) expect((await login(await start(), sent)).status).toBe(200)
    })

    it.each<[number, string, Sent]>([
      [400, 'no password', asJson({ email: GOOD.email })],
      [400, 'malformed JSON', { headers: JSON_TYPE, body: '{' }],
      [400, 'malformed form', { headers: FORM_TYPE, body: `${GOOD_FORM}&password=again` }],
      [403, 'wrong password', WRONG],
      [413, 'a long body', asJson({ ...GOOD, filler: 'x'.repeat(10_240) })],
      [415, 'another type', { headers: { 'Content-Type': 'text/plain' }, body: GOOD_JSON }],
      [415, 'a form of another site', { headers: { ...FORM_TYPE, 'Sec-Fetch-Site': 'cross-site' }, body: GOOD_FORM }],
    ])('%i: %s', async (status, _what, sent) => {
      expect((await login(await start(), sent)).status).toBe(status)
    })

    it.each(['GET', 'HEAD', 'OPTIONS'])('405: %s', async (method) => {
      expect((await login(await start(), { method })).status).toBe(405)
    })

    it('429: a spent budget', async () => {
      const limits = createLimits({ limits: { pair: { points: 1, duration: '15m' } } })
      const port = await start({ limits })
      await login(port, WRONG)
      expect((await login(port, WRONG)).status).toBe(429)
    })

    it('503: more than can be hashed', async () => {
      const hasher = { ...countingHasher(), verify: () => new Promise<never>(() => {}) }
      const passwords = createPasswords({ hashers: [hasher], concurrency: 1, queue: 0 })
      const port = await start({ passwords })
      send(port, asJson(GOOD)).catch(() => {})
      await until(() => expect(passwords.load().active).toBe(1))
      expect((await login(port, asJson(GOOD))).status).toBe(503)
    })

    it('503: the account store is down', async () => {
      expect((await login(await start({ accounts: fail }), asJson(GOOD))).status).toBe(503)
    })
  })

  it('the token call with refusals of the host: each is the documented one', async () => {
    const terms = new SignInRefusal('terms_changed', { status: 451 })
    const own = openApiDocument({ extraFields: ['code'], refusals: ['code_required', 'wrong_code', terms] })
    const port = await start({
      extraFields: ['code'],
      beforeSignIn: ({ fields }: { fields: Record<string, unknown> }) => {
        if (fields['code'] === 'terms') throw terms
        throw new SignInRefusal(fields['code'] ? 'wrong_code' : 'code_required')
      },
    })
    for (const [code, status] of [
      [undefined, 403],
      ['1', 403],
      ['terms', 451],
    ] as const) {
      const answer = await send(port, { method: 'POST', path: TOKEN_PATH, ...asJson({ ...GOOD, code }) })
      expect(answer.status).toBe(status)
      documented(own).check(TOKEN_PATH, 'post', answer)
      if (code === 'terms') expect(() => documented(document()).check(TOKEN_PATH, 'post', answer)).toThrow()
    }
  })

  it('the token call with own credentials and an own response: what is documented is accepted and sent', async () => {
    const text = { type: 'string' }
    const tokenRequest = { type: 'object', required: ['username', 'pin'], properties: { username: text, pin: text } }
    const credentials = ({ username, pin }: Record<string, string>) => ({ email: username, password: pin })
    const properties = { access_token: { type: 'string' }, expires_in: { type: 'integer' } }
    const tokenResponse = { type: 'object', required: Object.keys(properties), properties }
    const own = openApiDocument({ path: '/login', tokenRequest, tokenResponse })
    expect(own.paths?.['/login']?.post?.responses['200']).toMatchObject({ description: 'The token.' })
    const respond = ({ token }: { token: string }) => ({ access_token: token, expires_in: 3600 })
    const port = await start({ path: '/login', credentials, respond })
    expect(own.components.schemas['TokenCredentials']).toEqual(tokenRequest)
    for (const [body, status] of [
      [{ username: GOOD.email, pin: GOOD.password }, 200],
      [GOOD, 400],
    ] as const) {
      const answer = await send(port, { method: 'POST', path: '/login', ...asJson(body) })
      expect(answer.status).toBe(status)
      documented(own).check('/login', 'post', answer)
    }
    expect(JSON.stringify(own)).not.toContain('authenticationToken')
  })

  describe('the guard', () => {
    const bearer = (token: string): Sent => ({ headers: { Authorization: `Bearer ${token}` } })
    const tokenWith = (scopes: string[]) => issueNow(makeIssuer(), { accountId: 'acc-1', scopes }).token
    const issuedAt = new Date(Date.now() - 600_000)
    const old = issueNow(makeIssuer(), { accountId: 'acc-1', scopes: ['reports:read'], issuedAt }).token
    const good = bearer(tokenWith(['reports:read']))
    const { header, payload } = goodParts(Math.floor(Date.now() / 1000) - 7200)
    const claims = { act: { sub: 'acc-2' } }
    const acting = bearer(issueNow(makeIssuer(), { accountId: 'acc-1', scopes: ['reports:read'], claims }).token)

    it.each<[number, string, Sent, Guard?]>([
      [200, 'a good token', good],
      [400, 'a malformed header', bearer('not a token')],
      [401, 'no token', {}],
      [401, 'no token, and a realm with quotes', {}, { realm: 'the "inner" \\ realm' }],
      [401, 'a bad token', bearer('x.y.z')],
      [401, 'an expired token', bearer(forge(header, payload))],
      [403, 'a token without the scope', bearer(tokenWith([]))],
      [403, 'an account that the route does not allow', good, { accounts: makeStore(), allow: () => false }],
      [403, 'a token without any of the scopes', good, { anyScope: 'a b' }],
      [403, 'an administrator who acts as the user', acting, { acting: false }],
      [401, 'a token of an old sign-in', bearer(old), { signedInWithin: '5m' }],
      [503, 'the revocation check is down', good, { isRevoked: fail }],
    ])('%i: %s', async (status, _what, sent, guard = {}) => {
      expect((await ask(await start({}, guard), '/guarded', 'get', sent)).status).toBe(status)
    })
  })

  it('503: more tokens of one network than may wait', async () => {
    const verify = () => new Promise<never>(() => {})
    const port = await start({}, { tokens: { ...makeIssuer(), verify }, timeout: '1s' })
    const bearer = (i: number) => ({ method: 'GET', path: '/guarded', headers: { Authorization: `Bearer token${i}` } })
    const answers = await flood(port, 2500, bearer, 1)
    expect(statuses(answers)).toEqual({ 503: 2500 })
    const overloaded = answers.filter(({ body }) => body.includes('"overloaded"'))
    expect(overloaded.length).toBeGreaterThan(0)
    for (const answer of overloaded.slice(0, 10)) check('/guarded', 'get', answer)
  })

  describe('the public keys', () => {
    const keys = async (sent: Sent = {}) => ask(await start(), KEYS_PATH, 'get', sent)

    it('200, and 304 when nothing has changed', async () => {
      const { status, headers } = await keys()
      expect(status).toBe(200)
      expect((await keys({ headers: { 'If-None-Match': headers.etag } })).status).toBe(304)
      expect((await keys({ method: 'HEAD' })).status).toBe(200)
    })

    it.each(['POST', 'OPTIONS'])('405: %s', async (method) => {
      expect((await keys({ method })).status).toBe(405)
    })
  })

  describe('the sessions', () => {
    // The other refusals of the guard are the same components, and are checked above.
    const { check } = documented(openApiDocument({ sessions: true, path: false }))
    it('200 and 204, and their refusals', async () => {
      const store = memoryStore()
      const keys = { alg: 'HS256', secret: SECRET } as const
      const auth = createAuth({ issuer: ISSUER, keys, accounts: () => null, store, onEvent() {} })
      const { router, tokens } = auth
      const { port } = await listen(express().disable('x-powered-by').use(router))
      const bearer = async () => {
        const issued = issueNow(tokens, { accountId: 'acc-1' })
        await auth.sessions?.start({ ...issued, accountId: 'acc-1' })
        return { id: issued.id, sent: { headers: { Authorization: `Bearer ${issued.token}` } } }
      }
      const [one, two] = [await bearer(), await bearer()]
      const requests: [number, string, string, string, Sent][] = [
        [200, 'get', '/sessions', '', two.sent],
        [405, 'get', '/sessions', '', { method: 'PUT' }],
        [405, 'delete', '/sessions', '', { method: 'OPTIONS' }],
        [204, 'delete', '/sessions/{id}', one.id, two.sent],
        [404, 'delete', '/sessions/{id}', one.id, two.sent],
        [405, 'delete', '/sessions/{id}', one.id, { method: 'PATCH' }],
        [204, 'delete', '/sessions', '', two.sent],
        [405, 'post', '/sessions/sign-out', '', { method: 'GET' }],
        [204, 'post', '/sessions/sign-out', '', two.sent],
        [401, 'get', '/sessions', '', two.sent],
        [401, 'delete', '/sessions', '', {}],
        [401, 'delete', '/sessions/{id}', one.id, {}],
        [401, 'post', '/sessions/sign-out', '', {}],
      ]
      for (const [status, method, path, id, sent] of requests) {
        const answer = await send(port, { method: method.toUpperCase(), path: path.replace('{id}', id), ...sent })
        expect([method, path, answer.status]).toEqual([method, path, status])
        check(path, method, answer)
      }
      store.sessions.find = fail
      for (const [, method, path, id] of requests) {
        const answer = await send(port, { method: method.toUpperCase(), path: path.replace('{id}', id), ...two.sent })
        expect(answer.status).toBe(503)
        check(path, method, answer)
      }
    })
  })

  it('and nothing else is documented', expectAllSeen)
})
