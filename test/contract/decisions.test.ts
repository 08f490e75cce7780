import { describe, expect, it, vi } from 'vitest'
import { issueNow } from '../support/fixtures.js'
import {
  asForm,
  asJson,
  expectForbidden,
  expectProblem,
  expectToken,
  expectTooLarge,
  expectUnavailable,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  type Sent,
  send,
} from '../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../support/http.js'
import { headerOf } from '../support/tokens.js'

const hang = () => new Promise<never>(() => {})
const fail = async () => {
  throw new Error('down: postgres://user:secret@db')
}

const PROBLEMS = {
  body_too_large: [413, 'Payload Too Large'],
  insufficient_scope: [403, 'Forbidden'],
  invalid_body: [400, 'Bad Request'],
  invalid_request: [400, 'Bad Request'],
  invalid_token: [401, 'Unauthorized'],
  method_not_allowed: [405, 'Method Not Allowed'],
  missing_token: [401, 'Unauthorized'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
} as const

describe.each(EXPRESS)('the decisions about the specification’s open points, on %s', async (_, express) => {
  const { memoryAccounts, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, countingHasher, decodePayload, fastPasswords, forge, frozenClock, goodParts, ISSUER } = fixtures
  const { makeIssuer, makeStore, PASSWORD, SECRET } = fixtures

  type Router = Partial<Parameters<typeof tokenRouter>[0]>
  type Guard = Partial<Parameters<typeof requireBearer>[0]>

  /** Starts the token call and two guarded routes, and returns the port. */
  async function start(router: Router = {}, guard: Guard = {}): Promise<number> {
    const tokens = router.tokens ?? makeIssuer()
    const app = express()
    app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), ...router }))
    app.all('/guarded', requireBearer({ tokens, ...guard }), (req, res) => {
      res.json({ auth: req.auth ?? null })
    })
    app.get('/admin', requireBearer({ tokens, scope: 'admin' }))
    return (await listen(app)).port
  }

  const tokenFor = (accountId = ACCOUNTS.alice.id) => issueNow(makeIssuer(), { accountId }).token
  const guarded = (token: string, path = '/guarded'): Sent => ({
    method: 'GET',
    path,
    headers: { Authorization: `Bearer ${token}` },
  })
  const get = (port: number, token: string) => send(port, guarded(token))

  it('request encodings: also a form', async () => {
    expectToken(await send(await start(), asForm(GOOD_FORM)))
  })

  /** A part of requests that no response repeats. */
  const MARK = 'zebra-4711'
  const json = (body: string, headers = {}): Sent => ({ headers: { ...JSON_TYPE, ...headers }, body })
  const typed = (type: string): Sent => ({ headers: { 'Content-Type': type }, body: GOOD_JSON })

  it.each<[keyof typeof PROBLEMS, string, Sent]>([
    ['invalid_body', 'a missing member', asJson({ password: MARK, [MARK]: MARK })],
    ['invalid_body', 'a member that is not a string', asJson({ ...GOOD, email: MARK, password: 1 })],
    ['invalid_body', 'malformed JSON', json(`{"password":"${MARK}`)],
    ['invalid_body', 'a malformed form', asForm(`email=${MARK}&password=%zz`)],
    ['invalid_body', 'a repeated form field', asForm(`${GOOD_FORM}&password=${MARK}`)],
    ['invalid_body', 'credentials in the query', { ...asJson({}), path: `${TOKEN_PATH}?${GOOD_FORM}` }],
    ['invalid_body', 'credentials in headers', json('{}', GOOD)],
    ['invalid_body', 'credentials in a cookie', json('{}', { Cookie: GOOD_FORM.replace('&', '; ') })],
    [
      'invalid_body',
      'credentials of Basic',
      json('{}', { Authorization: `Basic ${btoa(`${GOOD.email}:${PASSWORD}`)}` }),
    ],
    ['method_not_allowed', 'PUT', { method: 'PUT', ...asJson(GOOD) }],
    ['method_not_allowed', 'DELETE', { method: 'DELETE', path: `${TOKEN_PATH}?${MARK}` }],
    ['body_too_large', 'a long body', json(MARK.repeat(2000))],
    ['unsupported_media_type', 'another type', typed(MARK)],
    ['unsupported_media_type', 'text', typed('text/plain')],
    ['unsupported_media_type', 'no type', { body: GOOD_JSON }],
    ['unsupported_media_type', 'another charset', typed('application/json; charset=utf-16')],
    ['unsupported_media_type', 'a content coding', json(GOOD_JSON, { 'Content-Encoding': 'gzip' })],
    ['missing_token', 'no Authorization', { path: `/guarded?${MARK}`, headers: { 'X-Token': MARK } }],
    ['missing_token', 'another scheme', { path: '/guarded', headers: { Authorization: `Basic ${MARK}` } }],
    ['missing_token', 'a token in the query', { path: `/guarded?access_token=${tokenFor()}` }],
    ['missing_token', 'a token in the body', { path: '/guarded', ...asForm(`access_token=${tokenFor()}`) }],
    ['invalid_request', 'two words', guarded(`${MARK} x`)],
    ['invalid_request', 'two tokens', guarded(tokenFor(), `/guarded?access_token=${MARK}`)],
    ['invalid_token', 'what is no token', guarded(MARK)],
    ['insufficient_scope', 'a token without the scope', guarded(tokenFor(), `/admin?${MARK}`)],
  ])('problem details, uncached and without an echo: %s for %s', async (code, _what, sent) => {
    const answer = await send(await start(), sent)
    const [status, title] = PROBLEMS[code]
    expectProblem(answer, status, code, title)
    expect(answer.body + answer.rawHeaders.join('\n')).not.toContain(MARK)
  })

  it.each([
    ['10 kB by default', {}, 10_240],
    ['what is set', { bodyLimit: '1kb' }, 1024],
  ])('too large a body is one of more than %s', async (_limit, options, most) => {
    const bodyOf = (bytes: number) => GOOD_JSON + ' '.repeat(bytes - GOOD_JSON.length)
    const port = await start(options)
    expectToken(await send(port, { headers: JSON_TYPE, body: bodyOf(most) }))
    expectTooLarge(await send(port, { headers: JSON_TYPE, body: bodyOf(most + 1) }))
  })

  it.each([
    { email: 'nobody@example.com', password: PASSWORD },
    { email: ACCOUNTS.alice.email, password: 'wrong' },
    { email: ACCOUNTS.disabled.email, password: PASSWORD },
    { email: ACCOUNTS.disabled.email, password: 'wrong' },
    { email: ACCOUNTS.passwordless.email, password: PASSWORD },
    { email: ACCOUNTS.passwordless.email, password: '' },
  ])('a refused login gets the same 403 after one password verification (%j)', async (credentials) => {
    const hasher = countingHasher()
    const port = await start({ passwords: fastPasswords(hasher) })
    expectForbidden(await send(port, asJson(credentials)))
    expect(hasher.asked).toHaveLength(1)
  })

  describe('a dependency that fails or hangs: 503', () => {
    const noPasswords = { hash: fail, verify: fail }
    it.each<[string, Router]>([
      ['the account store fails', { accounts: fail }],
      ['the account store hangs', { accounts: hang, timeout: '20ms' }],
      ['the password check fails', { passwords: noPasswords }],
      ['the password check hangs', { passwords: { ...noPasswords, verify: hang }, timeout: '20ms' }],
    ])('token call: %s', async (_what, options) => {
      const answer = await send(await start(options), asJson(GOOD))
      expectUnavailable(answer)
      expect(answer.body + answer.rawHeaders.join('\n')).not.toMatch(/postgres|secret|down|\.ts|node_modules/)
    })

    const findByEmail = () => null
    it.each<[string, Guard]>([
      ['the revocation check fails', { isRevoked: fail }],
      ['the revocation check hangs', { isRevoked: hang, timeout: '20ms' }],
      ['the account store fails', { accounts: { findByEmail, findById: fail } }],
      ['the account store hangs', { accounts: { findByEmail, findById: hang }, timeout: '20ms' }],
      ['the key source fails', { tokens: { issuer: ISSUER, audience: ISSUER, verify: fail } }],
    ])('guard: %s', async (_what, options) => {
      expectUnavailable(await get(await start({}, options), tokenFor()))
    })

    it('tokens already issued go on working where they need no store', async () => {
      const port = await start({ accounts: fail })
      expectUnavailable(await send(port, asJson(GOOD)))
      expect((await get(port, tokenFor())).status).toBe(200)
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

  it.each([' x\n', 'e\u0301', 'é', 'ﬁ', 'X', '\u00a0', 'x\0', '👩‍👩‍👧', '\ufeffx', 'x'.repeat(4000)])(
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
      const { token } = issueNow(tokens, { accountId: 'acc-1' })
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

  describe('guard: 401 invalid_token, with one challenge for all but expired tokens', () => {
    const { header, payload } = goodParts()
    const now = payload['iat'] as number
    const forged = (changes: object) => forge({ ...header, ...changes }, payload)
    const claiming = (changes: object) => forge(header, { ...payload, ...changes })
    const INVALID = 'The access token is not valid.'
    const invalidToken = (description = INVALID) =>
      `Bearer realm="${ISSUER}", error="invalid_token", error_description="${description}"`

    it.each<[string, string]>([
      ['wrong environment: iss', claiming({ iss: 'https://other.example.com' })],
      ['wrong environment: aud', claiming({ aud: 'https://other.example.com' })],
      ['bad signature', forge(header, payload, `${SECRET}!`)],
      ['alg none', `${forged({ alg: 'none' }).replace(/[^.]*$/, '')}`],
      ['nbf in the future', claiming({ nbf: now + 60 })],
      ['missing sub', claiming({ sub: undefined })],
    ])('%s', async (_what, token) => {
      const answer = await get(await start(), token)
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, invalidToken()])
    })

    it('expired, by another description', async () => {
      const answer = await get(await start(), claiming({ iat: now - 10, exp: now - 1 }))
      expectProblem(answer, 401, 'invalid_token', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(invalidToken('The access token expired.'))
    })

    const changed = (change: object) => makeStore([{ ...ACCOUNTS.alice, ...change }])
    it.each<[string, () => Guard]>([
      ['revoked', () => ({ isRevoked: () => true })],
      ['disabled account', () => ({ accounts: changed({ disabled: true }) })],
      ['deleted account', () => ({ accounts: changed({ id: 'another' }) })],
      ['tokens of before are no longer valid', () => ({ accounts: changed({ tokensValidAfter: new Date(9e12) }) })],
    ])('%s', async (_what, guard) => {
      const answer = await get(await start({}, guard()), tokenFor())
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, invalidToken()])
    })
  })

  it('optional: no credentials go on without req.auth; bad ones are still refused', async () => {
    const port = await start({}, { optional: true })
    expect(await send(port, { method: 'GET', path: '/guarded' })).toMatchObject({ status: 200, body: '{"auth":null}' })
    expect(JSON.parse((await get(port, tokenFor())).body).auth).toMatchObject({ accountId: ACCOUNTS.alice.id })
    expectProblem(await get(port, 'x.y.z'), 401, 'invalid_token', 'Unauthorized')
    expectProblem(await get(port, 'x y'), 400, 'invalid_request', 'Bad Request')
  })
})
