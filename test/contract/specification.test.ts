import { createTokenClient } from 'express-token-endpoint/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { issueNow } from '../support/fixtures.js'
import {
  asForm,
  asJson,
  expectForbidden,
  expectProblem,
  expectToken,
  expectUnavailable,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  type Sent,
  send,
} from '../support/host.js'
import { bearer, EXPRESS, listen, TOKEN_PATH } from '../support/http.js'

// The specification's sections, the decisions about its open points, and demands of `test/contract/standards/README.md`.

const hang = () => new Promise<never>(() => {})
const fail = async () => {
  throw new Error('down: postgres://user:secret@db')
}
const STATEMENTS = '/api/v2013/statements'

const PROBLEMS = {
  body_too_large: [413, 'Content Too Large'],
  insufficient_scope: [403, 'Forbidden'],
  invalid_body: [400, 'Bad Request'],
  invalid_request: [400, 'Bad Request'],
  invalid_token: [401, 'Unauthorized'],
  method_not_allowed: [405, 'Method Not Allowed'],
  missing_token: [401, 'Unauthorized'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
} as const

describe.each(EXPRESS)('the token endpoint and the guard, on %s', async (_, express) => {
  const { authOf, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, countingHasher, decodePayload, fastPasswords, frozenClock, ISSUER, makeIssuer, makeStore } =
    fixtures

  type Options = Partial<Parameters<typeof tokenRouter>[0]>

  /** A clearing house: the token call, and guarded routes. */
  function clearingHouse(options: Options = {}) {
    const tokens = options.tokens ?? makeIssuer()
    const house = express.Router()
    house.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), ...options }))
    house.all(STATEMENTS, requireBearer({ tokens }), (req, res) => void res.json({ accountId: authOf(req).accountId }))
    house.get('/admin', requireBearer({ tokens, scope: 'admin' }))
    return house
  }
  const start = async (options?: Options) => (await listen(express().use(clearingHouse(options)))).port
  const statusOf = async (port: number, sent: Sent) => (await send(port, sent)).status

  const issued = (tokens = makeIssuer()) => issueNow(tokens, { accountId: ACCOUNTS.alice.id }).token
  const logIn = async (port: number, path = TOKEN_PATH) =>
    expectToken(await send(port, { ...asJson(GOOD), path })).authenticationToken

  /** A part of requests that no response repeats. */
  const MARK = 'zebra-4711'
  const json = (body: string, headers = {}): Sent => ({ headers: { ...JSON_TYPE, ...headers }, body })
  const typed = (type: string): Sent => ({ headers: { 'Content-Type': type }, body: GOOD_JSON })
  const basic = { Authorization: `Basic ${btoa(`${GOOD.email}:${GOOD.password}`)}` }

  describe('section 2: token result', () => {
    it("expiration is the token's own exp, as ISO 8601 in UTC with fractional seconds", async () => {
      const tokens = makeIssuer({ lifetime: '25m', clock: frozenClock('2026-03-01T12:00:00.789Z') })
      const { authenticationToken, expiration } = expectToken(await send(await start({ tokens }), asJson(GOOD)))
      expect(expiration).toBe('2026-03-01T12:25:00.000Z')
      expect(Date.parse(expiration)).toBe(Number(decodePayload(authenticationToken)['exp']) * 1000)
    })

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
      const sent = bearer(issued(tokens), STATEMENTS)
      clock.advance((3600 + extra) * 1000 - 1)
      expect(await statusOf(port, sent)).toBe(200)
      clock.advance(1)
      expect(await statusOf(port, sent)).toBe(401)
    })

    it('two logins in one second give two different tokens', async () => {
      const port = await start({ tokens: makeIssuer({ clock: frozenClock() }) })
      expect(await logIn(port)).not.toBe(await logIn(port))
    })
  })

  describe('section 4: POST {base_url}/api/v2013/authentication/token', () => {
    it('Method: POST, and no other', async () => {
      const query = { method: 'GET', path: `${TOKEN_PATH}?${GOOD_FORM}` }
      expect(await send(await start(), query)).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    })

    it.each([
      ['another version', '/api/v2014/authentication/token'],
      ['other letters', '/API/v2013/authentication/token'],
      ['a slash behind', `${TOKEN_PATH}/`],
      ['a path parameter', `${TOKEN_PATH}/alice`],
    ])('Path: this one alone, not %s', async (_difference, path) => {
      expect(await statusOf(await start(), { ...asJson(GOOD), path })).toBe(404)
    })

    it.each(['refresh', 'revoke', 'logout', 'register', 'password', ''])(
      'refresh, further endpoints: none (%s)',
      async (name) => {
        const port = await start()
        for (const path of [`/api/v2013/authentication/${name}`, `${TOKEN_PATH}/${name}`]) {
          expect(await statusOf(port, { ...asJson(GOOD), path })).toBe(404)
        }
      },
    )

    it.each<[string, Sent]>([
      ['a query', { ...asJson(GOOD), path: `${TOKEN_PATH}?email=x&password=y&realm=z` }],
      ['a realm', asJson({ ...GOOD, realm: 'north' })],
      ['an expired token', json(GOOD_JSON, { Authorization: 'Bearer expired' })],
      ['other credentials', json(GOOD_JSON, { Authorization: 'Basic Zm9vOmJhcg==' })],
    ])('Parameters: only those of the body, so that %s changes nothing', async (_what, sent) => {
      expectToken(await send(await start(), sent))
    })

    it('Rule 1: e-mail and password match a registered account', async () => {
      const tokens = makeIssuer()
      const port = await start({ tokens })
      for (const { id, email } of [ACCOUNTS.alice, ACCOUNTS.bob]) {
        const { authenticationToken } = expectToken(await send(port, asJson({ ...GOOD, email })))
        expect((await tokens.verify(authenticationToken)).accountId).toBe(id)
      }
    })

    it.each([
      { email: 'nobody@example.com' },
      { email: '' },
      { password: 'correct horse battery stapler' },
      { password: '' },
      { password: 'wrong', realm: 'north' },
      { email: ACCOUNTS.disabled.email },
      { email: ACCOUNTS.disabled.email, password: 'wrong' },
      { email: ACCOUNTS.passwordless.email },
      { email: ACCOUNTS.passwordless.email, password: '' },
    ])('a refused login gets the same 403 after one password verification (%j)', async (members) => {
      const hasher = countingHasher()
      const port = await start({ passwords: fastPasswords(hasher) })
      expectForbidden(await send(port, asJson({ ...GOOD, ...members })))
      expect(hasher.asked).toHaveLength(1)
    })

    it.each([
      ' Alice@Example.COM ',
      'ＡＬＩＣＥ@example.com',
      'ali\u0063e\u0301@example.com',
      '',
      '\ufeffalice@example.com',
    ])('e-mail comparison: the store decides, and is asked for what was sent (%j)', async (email) => {
      const accounts = vi.fn((_email: string) => null)
      const port = await start({ accounts })
      await send(port, asJson({ email, password: 'x' }))
      await send(port, asForm(new URLSearchParams({ email, password: 'x' }).toString()))
      expect(accounts.mock.calls.map(([sent]) => sent)).toEqual([email, email])
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

    const checking = (verify: () => Promise<never>) => fastPasswords({ ...countingHasher(), verify })
    it.each<[string, Options]>([
      ['the account store fails', { accounts: fail }],
      ['the account store hangs', { accounts: hang, timeout: '20ms' }],
      ['the password check fails', { passwords: checking(fail) }],
      ['the password check hangs', { passwords: checking(hang), timeout: '20ms' }],
    ])('a dependency that fails or hangs, 503: %s', async (_what, options) => {
      const answer = await send(await start(options), asJson(GOOD))
      expectUnavailable(answer)
      expect(answer.body + answer.rawHeaders.join('\n')).not.toMatch(/postgres|secret|down|\.ts|node_modules/)
    })
  })

  describe('section 5: authentication', () => {
    it('1, 2. a protected endpoint takes the token that the token endpoint gave, behind "Bearer"', async () => {
      const port = await start()
      const answer = await send(port, bearer(await logIn(port), STATEMENTS))
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { accountId: ACCOUNTS.alice.id }])
      expect(await statusOf(port, { method: 'GET', path: STATEMENTS })).toBe(401)
    })

    it('3. a token of another environment is not valid, though both share a key', async () => {
      const [live, other] = [
        await start(),
        await start({ tokens: makeIssuer({ issuer: 'https://sandbox.example.com' }) }),
      ]
      const sent = bearer(await logIn(other), STATEMENTS)
      expect(await statusOf(other, sent)).toBe(200)
      expectProblem(await send(live, sent), 401, 'invalid_token', 'Unauthorized')
    })

    it('4. the same credentials work across the clearing houses, and so does a token of any of them', async () => {
      const accounts = makeStore()
      const app = express().use('/north', clearingHouse({ accounts })).use('/south', clearingHouse({ accounts }))
      const { port } = await listen(app)
      for (const from of ['/north', '/south']) {
        const token = await logIn(port, from + TOKEN_PATH)
        for (const to of ['/north', '/south']) expect(await statusOf(port, bearer(token, to + STATEMENTS))).toBe(200)
      }
    })
  })

  describe('section 7: refusals', () => {
    it.each<[keyof typeof PROBLEMS, string, Sent]>([
      ['invalid_body', 'a missing member', asJson({ password: MARK, [MARK]: MARK })],
      ['invalid_body', 'a member that is not a string', asJson({ ...GOOD, email: MARK, password: 1 })],
      ['invalid_body', 'malformed JSON', json(`{"password":"${MARK}`)],
      ['invalid_body', 'an array', asJson([GOOD])],
      ['invalid_body', 'a string', asJson(GOOD_JSON)],
      ['invalid_body', 'null', asJson(null)],
      ['invalid_body', 'a malformed form', asForm(`email=${MARK}&password=%zz`)],
      ['invalid_body', 'a repeated form field', asForm(`${GOOD_FORM}&password=${MARK}`)],
      ['invalid_body', 'credentials in the query', { ...asJson({}), path: `${TOKEN_PATH}?${GOOD_FORM}` }],
      ['invalid_body', 'credentials in headers', json('{}', GOOD)],
      ['invalid_body', 'credentials in a cookie', json('{}', { Cookie: GOOD_FORM.replace('&', '; ') })],
      ['invalid_body', 'credentials of Basic', json('{}', basic)],
      ['method_not_allowed', 'PUT', { method: 'PUT', ...asJson(GOOD) }],
      ['method_not_allowed', 'DELETE', { method: 'DELETE', path: `${TOKEN_PATH}?${MARK}` }],
      ['body_too_large', 'a long body', json(MARK.repeat(2000))],
      ['unsupported_media_type', 'another type', typed(MARK)],
      ['unsupported_media_type', 'text', typed('text/plain')],
      ['unsupported_media_type', 'no type', { body: GOOD_JSON }],
      ['unsupported_media_type', 'another charset', typed('application/json; charset=utf-16')],
      ['unsupported_media_type', 'a content coding', json(GOOD_JSON, { 'Content-Encoding': 'gzip' })],
      ['missing_token', 'no Authorization', { path: `${STATEMENTS}?${MARK}`, headers: { 'X-Token': MARK } }],
      ['missing_token', 'another scheme', { path: STATEMENTS, headers: { Authorization: `Basic ${MARK}` } }],
      ['missing_token', 'a token in the query', { path: `${STATEMENTS}?access_token=${issued()}` }],
      ['missing_token', 'a token in the body', { path: STATEMENTS, ...asForm(`access_token=${issued()}`) }],
      ['invalid_request', 'two words', bearer(`${MARK} x`, STATEMENTS)],
      ['invalid_request', 'two tokens', bearer(issued(), `${STATEMENTS}?access_token=${MARK}`)],
      ['invalid_token', 'what is no token', bearer(MARK, STATEMENTS)],
      ['insufficient_scope', 'a token without the scope', bearer(issued(), `/admin?${MARK}`)],
    ])('problem details, uncached and without an echo: %s for %s', async (code, _what, sent) => {
      const answer = await send(await start(), sent)
      const [status, title] = PROBLEMS[code]
      expectProblem(answer, status, code, title)
      expect(answer.body + answer.rawHeaders.join('\n')).not.toContain(MARK)
    })

    it('the reason phrase of invalid credentials is Forbidden', async () => {
      const { url } = await listen(express().use(clearingHouse()))
      const { status, statusText } = await fetch(url + TOKEN_PATH, {
        method: 'POST',
        ...asForm('email=x&password=y'),
      } as RequestInit)
      expect([status, statusText]).toEqual([403, 'Forbidden'])
    })
  })

  it('section 9: the path carries the version segment v2013, unless the host says otherwise', async () => {
    const path = '/api/v2014/authentication/token'
    const port = await start({ path })
    await logIn(port, path)
    expect(await statusOf(port, asJson(GOOD))).toBe(404)
  })

  it('a password stays valid for years (OWASP ASVS 6.2.10)', async () => {
    const port = await start()
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const years of [0, 1, 10, 50]) {
      vi.setSystemTime(new Date(Date.UTC(2026 + years, 0)))
      await logIn(port)
    }
  })

  it("RFC 9700 section 2.4: the request of OAuth's password grant is refused", async () => {
    const { email: username, password } = GOOD
    const grant = new URLSearchParams({ grant_type: 'password', username, password, client_id: 'app' })
    expectProblem(await send(await start(), asForm(grant.toString())), 400, 'invalid_body', 'Bad Request')
  })

  it('RFC 9700 section 4.15: a client chooses neither sub nor client_id', async () => {
    const { id } = ACCOUNTS.bob
    const claims = { grant_type: 'password', id, sub: id, client_id: id, iss: id, aud: id, scope: 'admin' }
    const answer = await send(await start(), asJson({ ...GOOD, ...claims, claims }))
    const { iat: _iat, exp: _exp, jti: _jti, ...payload } = decodePayload(expectToken(answer).authenticationToken)
    const { alice } = ACCOUNTS
    const facts = { iss: ISSUER, aud: ISSUER, sub: alice.id, client_id: ISSUER, scope: 'reports:read', amr: ['pwd'] }
    expect(payload).toEqual(facts)
  })

  it('RFC 9700 section 4.12: the token endpoint sends no redirects', async () => {
    const port = await start()
    const paths = [TOKEN_PATH, `${TOKEN_PATH}/`, `${TOKEN_PATH}?redirect_uri=https://evil.example`, `/${TOKEN_PATH}`]
    const statuses = new Set<number>()
    for (const path of paths) {
      for (const sent of [asJson(GOOD), asForm(GOOD_FORM), asJson({ ...GOOD, password: 'wrong' }), { method: 'GET' }]) {
        const { status, headers } = await send(port, { ...sent, path })
        expect(headers).not.toHaveProperty('location')
        statuses.add(status)
      }
    }
    expect([...statuses].sort()).toEqual([200, 403, 404, 405])
  })

  it.each([301, 302, 303, 307, 308])('the client sends no password after a %i', async (status) => {
    const sent = vi.fn()
    const { url } = await listen(
      express()
        .use('/other', sent)
        .use((_req, res) => res.redirect(status, '/other')),
    )
    const api = createTokenClient({ url, credentials: () => GOOD })
    onTestFinished(() => api.close())
    await expect(api.token()).rejects.toMatchObject({ code: 'unexpected' })
    expect(sent).not.toHaveBeenCalled()
  })
})
