import { describe, expect, it, vi } from 'vitest'
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
import { EXPRESS, listen, TOKEN_PATH } from '../support/http.js'

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
  const { requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, countingHasher, fastPasswords, frozenClock, makeIssuer, makeStore, PASSWORD } = fixtures

  type Router = Partial<Parameters<typeof tokenRouter>[0]>

  /** Starts the token call and two guarded routes, and returns the port. */
  async function start(router: Router = {}): Promise<number> {
    const tokens = router.tokens ?? makeIssuer()
    const app = express()
    app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), ...router }))
    app.all('/guarded', requireBearer({ tokens }), (_req, res) => void res.end())
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
})
