import { describe, expect, it, vi } from 'vitest'
import {
  asForm,
  asJson,
  expectBadRequest,
  expectForbidden,
  expectProblem,
  expectToken,
  expectTooLarge,
  expectUnavailable,
  expectUncached,
  expectUnsupported,
  FORM_TYPE,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  type Sent,
  send,
} from '../support/host.js'
import { EXPRESS, listen, sendBytes, TOKEN_PATH } from '../support/http.js'
import { headerOf } from '../support/tokens.js'

/** Never settles. */
const hang = () => new Promise<never>(() => {})
const fail = async () => {
  throw new Error('down: postgres://user:secret@db')
}

const EXPIRED = 'The access token expired.'
const INVALID = 'The access token is not valid.'

describe.each(EXPRESS)('the decisions about the specification’s open points, on %s', async (_, express) => {
  const { memoryAccounts, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, countingHasher, decodePayload, fastPasswords, forge, frozenClock, goodParts, ISSUER } = fixtures
  const { makeIssuer, makeStore, PASSWORD, SECRET, signingKey } = fixtures

  type Router = Partial<Parameters<typeof tokenRouter>[0]>
  type Guard = Partial<Parameters<typeof requireBearer>[0]>

  /** The token call and a guarded route; gives the port. */
  async function start(router: Router = {}, guard: Guard = {}): Promise<number> {
    const tokens = router.tokens ?? makeIssuer()
    const app = express()
    app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), ...router }))
    app.all('/guarded', requireBearer({ tokens, ...guard }), (req, res) => {
      res.json({ auth: req.auth ?? null })
    })
    return (await listen(app)).port
  }

  const get = (port: number, token?: string, path = '/guarded') =>
    send(port, { method: 'GET', path, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } })

  const tokenFor = (accountId = ACCOUNTS.alice.id, scopes: string[] = []) =>
    makeIssuer().issue({ accountId, scopes }).token

  const challenge = (rest = '') => `Bearer realm="${ISSUER}"${rest}`
  const refused = (description = INVALID) => challenge(`, error="invalid_token", error_description="${description}"`)

  describe('request encodings', () => {
    it.each<[string, Sent]>([
      ['JSON', { headers: JSON_TYPE, body: GOOD_JSON }],
      ['a form', { headers: FORM_TYPE, body: GOOD_FORM }],
    ])('%s', async (_encoding, sent) => {
      expectToken(await send(await start(), sent))
    })

    it.each<[string, Sent]>([
      ['another type', { headers: { 'Content-Type': 'text/plain' }, body: GOOD_JSON }],
      ['no type', { body: GOOD_JSON }],
      ['another charset', { headers: { 'Content-Type': 'application/json; charset=utf-16' }, body: GOOD_JSON }],
      ['a content coding', { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, body: GOOD_JSON }],
    ])('415: %s', async (_what, sent) => {
      expectUnsupported(await send(await start(), sent))
    })
  })

  describe('credentials from anywhere but the body: never', () => {
    it.each<[string, Sent]>([
      ['query', { ...asJson({}), path: `${TOKEN_PATH}?${GOOD_FORM}` }],
      ['headers', { headers: { ...JSON_TYPE, ...GOOD }, body: '{}' }],
      [
        'Basic',
        { headers: { ...JSON_TYPE, Authorization: `Basic ${btoa(`${GOOD.email}:${GOOD.password}`)}` }, body: '{}' },
      ],
      ['cookies', { headers: { ...JSON_TYPE, Cookie: `email=${GOOD.email}; password=${GOOD.password}` }, body: '{}' }],
    ])('not %s', async (_where, sent) => {
      expectBadRequest(await send(await start(), sent))
    })

    it('not the path', async () => {
      const path = `${TOKEN_PATH}/${GOOD.email}/${encodeURIComponent(GOOD.password)}`
      expect((await send(await start(), { ...asJson({}), path })).status).toBe(404)
    })
  })

  describe('what is no credentials: 400', () => {
    it.each<[string, Sent]>([
      ['missing member', asJson({ email: GOOD.email })],
      ['not a string', asJson({ ...GOOD, password: 1 })],
      ['not an object', asJson([GOOD.email, GOOD.password])],
      ['malformed JSON', { headers: JSON_TYPE, body: GOOD_JSON.slice(0, -1) }],
      ['malformed form', asForm('email=alice%40example.com&password=%zz')],
      ['repeated form field', asForm(`${GOOD_FORM}&password=other`)],
    ])('%s', async (_what, sent) => {
      expectBadRequest(await send(await start(), sent))
    })
  })

  describe('strings that match no account: 403', () => {
    it.each([
      { email: 'x', password: 'y' },
      { email: '', password: '' },
      { email: '', password: PASSWORD },
      { email: GOOD.email, password: '' },
    ])('%j', async (credentials) => {
      const port = await start()
      expectForbidden(await send(port, asJson(credentials)))
      expectForbidden(await send(port, asForm(new URLSearchParams(credentials).toString())))
    })
  })

  describe('too large a body: 413', () => {
    const bodyOf = (bytes: number) =>
      JSON.stringify({ ...GOOD, filler: 'x'.repeat(bytes - GOOD_JSON.length - ',"filler":""'.length) })

    it('10 kB unless set', async () => {
      const port = await start()
      expectToken(await send(port, { headers: JSON_TYPE, body: bodyOf(10_240) }))
      expectTooLarge(await send(port, { headers: JSON_TYPE, body: bodyOf(10_241) }))
    })

    it('what is set', async () => {
      const port = await start({ bodyLimit: '1kb' })
      expectToken(await send(port, { headers: JSON_TYPE, body: bodyOf(1024) }))
      expectTooLarge(await send(port, { headers: JSON_TYPE, body: bodyOf(1025) }))
    })
  })

  it('another method on the path: 405 with Allow', async () => {
    const answer = await send(await start(), { method: 'PUT', ...asJson(GOOD) })
    expectProblem(answer, 405, 'method_not_allowed', 'Method Not Allowed')
    expect(answer.headers.allow).toBe('POST')
  })

  describe('unknown e-mail, wrong password, disabled account, account without a password', () => {
    const CASES = [
      { email: 'nobody@example.com', password: PASSWORD },
      { email: ACCOUNTS.alice.email, password: 'wrong' },
      { email: ACCOUNTS.disabled.email, password: PASSWORD },
      { email: ACCOUNTS.disabled.email, password: 'wrong' },
      { email: ACCOUNTS.passwordless.email, password: PASSWORD },
      { email: ACCOUNTS.passwordless.email, password: '' },
    ]

    it('the same 403 and the same headers', async () => {
      const port = await start()
      const answers = []
      for (const credentials of CASES) {
        const answer = await send(port, asJson(credentials))
        expectForbidden(answer)
        answers.push(answer.rawHeaders.filter((_value, i, all) => all[i - (i % 2)] !== 'Date'))
      }
      expect(new Set(answers.map((headers) => headers.join('\n'))).size).toBe(1)
    })

    it.each(CASES)('the same work: one password verification each (%j)', async (credentials) => {
      const hasher = countingHasher()
      const port = await start({ passwords: fastPasswords(hasher) })
      expectForbidden(await send(port, asJson(credentials)))
      expect(hasher.asked).toHaveLength(1)
    })
  })

  describe('account store, password check, revocation check or key source fails or hangs: 503', () => {
    const noPasswords = { hash: fail, verify: fail }
    it.each<[string, Router]>([
      ['the account store fails', { accounts: fail }],
      ['the account store hangs', { accounts: hang, timeout: '20ms' }],
      ['the password check fails', { passwords: noPasswords }],
      ['the password check hangs', { passwords: { ...noPasswords, verify: hang }, timeout: '20ms' }],
    ])('token call: %s', async (_what, options) => {
      expectUnavailable(await send(await start(options), asJson(GOOD)))
    })

    const findByEmail = () => null
    const brokenKeys = { issuer: ISSUER, audience: ISSUER, verify: fail }
    it.each<[string, Guard]>([
      ['the revocation check fails', { isRevoked: fail }],
      ['the revocation check hangs', { isRevoked: hang, timeout: '20ms' }],
      ['the account store fails', { accounts: { findByEmail, findById: fail } }],
      ['the account store hangs', { accounts: { findByEmail, findById: hang }, timeout: '20ms' }],
      ['the key source fails', { tokens: brokenKeys }],
    ])('guard: %s', async (_what, options) => {
      expectUnavailable(await get(await start({}, options), tokenFor()))
    })

    it('the cause goes to onEvent', async () => {
      const onEvent = vi.fn()
      const port = await start({ accounts: fail, onEvent }, { isRevoked: fail, onEvent })
      await send(port, asJson(GOOD))
      await get(port, tokenFor())
      const error = expect.objectContaining({ message: expect.stringContaining('down') })
      expect(onEvent.mock.calls).toMatchObject([
        [{ type: 'dependency.failed', dependency: 'accounts', error }],
        [{ type: 'dependency.failed', dependency: 'revocation', error }],
      ])
    })

    it('with forwardErrors, the cause goes to the host’s error handler', async () => {
      const tokens = makeIssuer()
      const app = express()
      app.use(tokenRouter({ tokens, accounts: fail, passwords: fastPasswords(), forwardErrors: true }))
      app.get('/guarded', requireBearer({ tokens, isRevoked: fail, forwardErrors: true }))
      const handler: import('express').ErrorRequestHandler = (error, _req, res, _next) => {
        res.status(error.status).json({ handled: error.code, cause: error.cause.message.slice(0, 4) })
      }
      app.use(handler)
      const { port } = await listen(app)
      for (const answer of [await send(port, asJson(GOOD)), await get(port, tokens.issue({ accountId: 'a' }).token)]) {
        expect(answer.status).toBe(503)
        expect(JSON.parse(answer.body)).toEqual({ handled: 'unavailable', cause: 'down' })
      }
    })

    it('tokens already issued go on working where they need no store', async () => {
      const port = await start({ accounts: fail })
      expectUnavailable(await send(port, asJson(GOOD)))
      expect((await get(port, tokenFor())).status).toBe(200)
    })
  })

  describe('caching: no-store, no-cache and no ETag', () => {
    it.each<[number, Sent]>([
      [200, asJson(GOOD)],
      [400, asJson({})],
      [403, asJson({ ...GOOD, password: 'wrong' })],
      [405, { method: 'GET' }],
      [413, { headers: JSON_TYPE, body: 'x'.repeat(10_241) }],
      [415, { headers: { 'Content-Type': 'text/plain' }, body: 'x' }],
    ])('token call: %i', async (status, sent) => {
      const answer = await send(await start(), sent)
      expect(answer.status).toBe(status)
      expectUncached(answer)
    })

    it('token call: 503', async () => {
      expectUncached(await send(await start({ accounts: fail }), asJson(GOOD)))
    })
  })

  describe('every other error body: problem details, without a stack and without an echo', () => {
    const MARK = 'zebra-4711'
    it.each<[number, string, string, Sent]>([
      [400, 'invalid_body', 'Bad Request', { headers: JSON_TYPE, body: `{"password":"${MARK}` }],
      [400, 'invalid_body', 'Bad Request', asJson({ password: MARK, [MARK]: MARK })],
      [405, 'method_not_allowed', 'Method Not Allowed', { method: 'DELETE', path: `${TOKEN_PATH}?${MARK}` }],
      [413, 'body_too_large', 'Payload Too Large', { headers: JSON_TYPE, body: MARK.repeat(2000) }],
      [415, 'unsupported_media_type', 'Unsupported Media Type', { headers: { 'Content-Type': MARK }, body: MARK }],
      [401, 'missing_token', 'Unauthorized', { path: `/guarded?${MARK}`, headers: { 'X-Token': MARK } }],
      [400, 'invalid_request', 'Bad Request', { path: '/guarded', headers: { Authorization: `Bearer ${MARK} x` } }],
      [401, 'invalid_token', 'Unauthorized', { path: '/guarded', headers: { Authorization: `Bearer ${MARK}` } }],
    ])('%i %s (%s)', async (status, code, title, sent) => {
      const answer = await send(await start(), sent)
      expectProblem(answer, status, code, title)
      expect(answer.body + answer.rawHeaders.join('\n')).not.toContain(MARK)
    })

    it('503 unavailable: nothing of the cause', async () => {
      const answer = await send(await start({ accounts: fail }), asJson(GOOD))
      expectUnavailable(answer)
      expect(answer.body + answer.rawHeaders.join('\n')).not.toMatch(/postgres|secret|down|\.ts|node_modules/)
    })
  })

  it.each([
    ' Alice@Example.COM ',
    'ＡＬＩＣＥ@example.com',
    'ali\u0063e\u0301@example.com',
    '',
    '\ufeffalice@example.com',
  ])('e-mail comparison: the store decides, and is asked for what was sent (%j)', async (email) => {
    const accounts = vi.fn((_email: string) => null)
    await send(await start({ accounts }), asJson({ email, password: 'x' }))
    await send(await start({ accounts }), asForm(new URLSearchParams({ email, password: 'x' }).toString()))
    expect(accounts.mock.calls).toEqual([[email], [email]])
  })

  it.each([' x ', 'x\n', '\tx', 'e\u0301', 'é', 'ﬁ', 'X', '\u00a0', 'x\0', '👩‍👩‍👧', '\ufeffx', 'x'.repeat(4000)])(
    'password: taken as sent, every byte of it (%j)',
    async (password) => {
      const seen: string[] = []
      const hasher = { ...countingHasher(), verify: (given: string) => seen.push(given) > 0 }
      const port = await start({ passwords: fastPasswords(hasher) })
      expectToken(await send(port, asJson({ ...GOOD, password })))
      expectToken(await send(port, asForm(new URLSearchParams({ ...GOOD, password }).toString())))
      expect(seen).toEqual([password, password])
    },
  )

  it('token: a JWS in compact form with typ, kid and the claims, and private claims that overwrite none of those', async () => {
    const clock = frozenClock()
    const claims = {
      tenant: 'north',
      iss: 'x',
      aud: 'x',
      sub: 'x',
      client_id: 'x',
      iat: 1,
      nbf: 1,
      exp: 9e9,
      jti: 'x',
      scope: 'admin',
    }
    const accounts = memoryAccounts([{ ...ACCOUNTS.alice, scopes: ['a', 'b'], claims }])
    const answer = await send(await start({ tokens: makeIssuer({ clock }), accounts }), asJson(GOOD))
    const { authenticationToken } = expectToken(answer)
    const header = headerOf(authenticationToken)
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
    expect(decodePayload(authenticationToken)).toEqual({
      iss: ISSUER,
      aud: ISSUER,
      sub: ACCOUNTS.alice.id,
      client_id: ISSUER,
      iat: clock.seconds(),
      exp: clock.seconds() + 3600,
      jti: expect.stringMatching(/^[\w-]{16,}$/),
      scope: 'a b',
      tenant: 'north',
    })
  })

  describe('lifetime', () => {
    it('one hour unless set', async () => {
      const clock = frozenClock()
      const { expiration } = expectToken(await send(await start({ tokens: makeIssuer({ clock }) }), asJson(GOOD)))
      expect(Date.parse(expiration) - clock()).toBe(3_600_000)
    })

    it.each([
      ['without clockTolerance', undefined, 0],
      ['with clockTolerance', '30s', 30],
    ])('an expired token is refused from its exp on (%s)', async (_with, clockTolerance, extra) => {
      const clock = frozenClock()
      const tokens = makeIssuer({ clock, ...(clockTolerance !== undefined && { clockTolerance }) })
      const port = await start({ tokens })
      const { token } = tokens.issue({ accountId: 'acc-1' })
      clock.advance((3600 + extra) * 1000 - 1)
      expect((await get(port, token)).status).toBe(200)
      clock.advance(1)
      expect((await get(port, token)).status).toBe(401)
    })

    it('two logins in one second give two different tokens', async () => {
      const port = await start({ tokens: makeIssuer({ clock: frozenClock() }) })
      const [one, two] = [await send(port, asJson(GOOD)), await send(port, asJson(GOOD))].map(expectToken)
      expect(one?.authenticationToken).not.toBe(two?.authenticationToken)
      expect(one?.expiration).toBe(two?.expiration)
    })
  })

  it.each(['refresh', 'revoke', 'logout', 'register', 'password', ''])(
    'refresh, further endpoints: none (%s)',
    async (name) => {
      const port = await start()
      for (const path of [`/api/v2013/authentication/${name}`, `/api/v2013/authentication/token/${name}`]) {
        expect((await send(port, { ...asJson(GOOD), path })).status).toBe(404)
      }
    },
  )

  it('guard: no bearer credentials: 401 and a challenge without an error code', async () => {
    const port = await start()
    const basic = await send(port, { path: '/guarded', headers: { Authorization: 'Basic Zm9vOmJhcg==' } })
    for (const answer of [await get(port), basic]) {
      expectProblem(answer, 401, 'missing_token', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(challenge())
    }
  })

  describe('guard: malformed credentials, two Authorization headers: 400 invalid_request', () => {
    it.each(['Bearer', 'Bearer a b', 'Bearer a,b', 'Bearer "a"'])('%s', async (authorization) => {
      const answer = await send(await start(), { path: '/guarded', headers: { Authorization: authorization } })
      expectProblem(answer, 400, 'invalid_request', 'Bad Request')
      expect(answer.headers['www-authenticate']).toContain('error="invalid_request"')
    })

    it('two Authorization headers', async () => {
      const line = `Authorization: Bearer ${tokenFor()}\r\n`
      const head = 'GET /guarded HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'
      const port = await start()
      expect(await sendBytes(port, `${head}${line}\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
      const answer = await sendBytes(port, `${head}${line}${line}\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('error="invalid_request"')
    })
  })

  describe('guard: 401 invalid_token', () => {
    const parts = goodParts()
    const now = parts.payload['iat'] as number
    const withHeader = (header: object) => forge({ ...parts.header, ...header }, parts.payload)
    const withPayload = (payload: object) => forge(parts.header, { ...parts.payload, ...payload })
    const good = forge(parts.header, parts.payload)
    const lastChar = good.at(-1) ?? ''
    const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const otherSpelling = good.slice(0, -1) + ALPHABET[ALPHABET.indexOf(lastChar) + 1]

    it('(a token made by hand is good when nothing is wrong with it)', async () => {
      expect((await get(await start(), good)).status).toBe(200)
    })

    it.each<[string, string]>([
      ['wrong environment: iss', withPayload({ iss: 'https://other.example.com' })],
      ['wrong environment: aud', withPayload({ aud: 'https://other.example.com' })],
      ['wrong environment: several aud', withPayload({ aud: [ISSUER, 'https://other.example.com'] })],
      ['bad signature', forge(parts.header, parts.payload, `${SECRET}!`)],
      ['no signature', `${good.slice(0, good.lastIndexOf('.'))}.`],
      ['base64url that is not canonical', otherSpelling],
      ['base64url with padding', `${good}=`],
      ['unknown kid', withHeader({ kid: 'k2' })],
      ['missing kid', withHeader({ kid: undefined })],
      ['alg none', `${withHeader({ alg: 'none' }).replace(/[^.]*$/, '')}`],
      ['another alg', withHeader({ alg: 'HS512' })],
      ['missing alg', withHeader({ alg: undefined })],
      ['crit', withHeader({ crit: ['exp'] })],
      ['empty crit', withHeader({ crit: [] })],
      ['another typ', withHeader({ typ: 'JWT' })],
      ['missing typ', withHeader({ typ: undefined })],
      ['nbf in the future', withPayload({ nbf: now + 60 })],
      ['iat in the future', withPayload({ iat: now + 60 })],
      ...['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti'].flatMap((claim): [string, string][] => [
        [`missing ${claim}`, withPayload({ [claim]: undefined })],
        ...[null, true, {}, [], '', -1, 1.5, 1e308].map((value): [string, string] => [
          `${claim} ${JSON.stringify(value)}`,
          withPayload({ [claim]: value }),
        ]),
      ]),
      ...[null, '1', {}].map((nbf): [string, string] => [`nbf ${JSON.stringify(nbf)}`, withPayload({ nbf })]),
      ...[null, 7, ['a'], ' ', 'a"b'].map((scope): [string, string] => [
        `scope ${JSON.stringify(scope)}`,
        withPayload({ scope }),
      ]),
      ...['"text"', '7', 'null', '[]', 'true', '{', 'no JSON', ''].map((payload): [string, string] => [
        `payload ${payload || 'of no bytes'}`,
        forge(parts.header, payload),
      ]),
      ...['"text"', '7', 'null', '[]', '{', ''].map((header): [string, string] => [
        `header ${header || 'of no bytes'}`,
        forge(header, parts.payload),
      ]),
      ['no token at all', 'x'],
      ['two parts', 'x.y'],
      ['four parts', `${good}.x`],
      ['dots', '...'],
    ])('%s', async (_what, token) => {
      const answer = await get(await start(), token)
      expectProblem(answer, 401, 'invalid_token', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(refused())
    })

    it.each(['ES256', 'RS256', 'PS256'] as const)('base64url that is not canonical, of a token in %s', async (alg) => {
      // HMACs are compared as text; of a public key's signatures the bytes count, and their spelling slips through.
      const tokens = makeIssuer({ keys: signingKey(alg) })
      const { token } = tokens.issue({ accountId: ACCOUNTS.alice.id })
      const port = await start({ tokens })
      expect((await get(port, token)).status).toBe(200)
      const respelled = token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) ?? '') + 1]
      expect(Buffer.from(respelled, 'base64url')).toEqual(Buffer.from(token, 'base64url'))
      expect((await get(port, respelled)).headers['www-authenticate']).toBe(refused())
    })

    it('expired, by another description', async () => {
      const answer = await get(await start(), withPayload({ iat: now - 10, exp: now - 1 }))
      expectProblem(answer, 401, 'invalid_token', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(refused(EXPIRED))
    })

    const changed = (change: object) => makeStore([{ ...ACCOUNTS.alice, ...change }])
    it.each<[string, () => Guard]>([
      ['revoked', () => ({ isRevoked: () => true })],
      ['disabled account', () => ({ accounts: changed({ disabled: true }) })],
      ['deleted account', () => ({ accounts: changed({ id: 'another' }) })],
      ['tokens of before are no longer valid', () => ({ accounts: changed({ tokensValidAfter: new Date(9e12) }) })],
    ])('%s', async (_what, guard) => {
      const answer = await get(await start({}, guard()), tokenFor())
      expectProblem(answer, 401, 'invalid_token', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(refused())
    })
  })

  it('guard: scope missing: 403 insufficient_scope', async () => {
    const port = await start({}, { scope: 'reports:read reports:write' })
    const answer = await get(port, tokenFor(ACCOUNTS.alice.id, ['reports:read']))
    expectProblem(answer, 403, 'insufficient_scope', 'Forbidden')
    expect(answer.headers['www-authenticate']).toBe(
      challenge(
        ', error="insufficient_scope", error_description="The access token does not carry the scope that this resource needs.", scope="reports:read reports:write"',
      ),
    )
    expect((await get(port, tokenFor(ACCOUNTS.alice.id, ['reports:write', 'reports:read']))).status).toBe(200)
  })

  describe('tokens in the query or the body', () => {
    it('are not read', async () => {
      const port = await start()
      const inQuery = await get(port, undefined, `/guarded?access_token=${tokenFor()}`)
      const inForm = await send(port, { path: '/guarded', ...asForm(`access_token=${tokenFor()}`) })
      for (const answer of [inQuery, inForm]) expect(answer.headers['www-authenticate']).toBe(challenge())
    })

    it('an access_token in the query beside the header: 400', async () => {
      const answer = await get(await start(), tokenFor(), '/guarded?access_token=x')
      expectProblem(answer, 400, 'invalid_request', 'Bad Request')
    })
  })

  it('realm: none on the token call; in a challenge the issuer, unless set', async () => {
    const port = await start({}, { realm: 'North' })
    expect((await get(port)).headers['www-authenticate']).toBe('Bearer realm="North"')
    expect((await get(await start())).headers['www-authenticate']).toBe(`Bearer realm="${ISSUER}"`)
    const forbidden = await send(port, asJson({ ...GOOD, password: 'wrong' }))
    expect(forbidden.headers).not.toHaveProperty('www-authenticate')
  })

  it('optional: no credentials go on without req.auth; bad ones are still refused', async () => {
    const port = await start({}, { optional: true })
    expect(await get(port)).toMatchObject({ status: 200, body: '{"auth":null}' })
    expect(JSON.parse((await get(port, tokenFor())).body).auth).toMatchObject({ accountId: ACCOUNTS.alice.id })
    expectProblem(await get(port, 'x.y.z'), 401, 'invalid_token', 'Unauthorized')
    expectProblem(await get(port, 'x y'), 400, 'invalid_request', 'Bad Request')
  })
})
