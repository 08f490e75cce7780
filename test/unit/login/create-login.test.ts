// Tests login/{login-options,login-origin,host-login}.ts login/body/credentials.ts

import { generateKeyPairSync } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { ErrorRequestHandler } from 'express'
import {
  AuthError,
  type AuthEvent,
  authErrors,
  createLimits,
  createLogin,
  createPasswords,
  createTokenIssuer,
  type Login,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { BearerStrategy, LoginStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled, until } from '../../support/concurrency.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import {
  ACCOUNTS,
  countingHasher,
  fastPasswords,
  frozenClock,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import { passFailuresOn, passOn, sendEndlessly } from '../../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'

const { alice } = ACCOUNTS
const GOOD = { email: alice.email, password: PASSWORD }
const WRONG = { ...GOOD, password: 'wrong' }
const tokens = makeIssuer()

const loginWith = (options: object = {}) =>
  createLogin({ accounts: makeStore(), passwords: fastPasswords(), limits: false, ...options })

describe('a login of the host', () => {
  it('returns the account without its hash, and what issue needs', async () => {
    const clock = frozenClock()
    const { account, subject } = await loginWith({ clock })(GOOD)
    expect(account).toEqual({ id: alice.id, email: alice.email, scopes: alice.scopes })
    expect(subject).toMatchObject({
      accountId: alice.id,
      scopes: alice.scopes,
      claims: {},
      issuedAt: new Date(clock()),
    })
    const { token } = await tokens.issue({ ...subject, issuedAt: undefined })
    expect(await tokens.verify(token)).toMatchObject({ accountId: alice.id, scopes: alice.scopes })
  })

  it.each<[string, unknown]>([
    ['a query of a database', { email: { $ne: 1 }, password: { $ne: 1 } }],
    ['a list', { email: [alice.email], password: PASSWORD }],
    ['no password', { email: alice.email }],
    ['inherited credentials', Object.create(GOOD)],
    ['nothing', undefined],
    ['half of a character', { ...GOOD, password: '\ud800' }],
  ])('refuses %s with 400, before the store', async (_what, credentials) => {
    const accounts = vi.fn()
    const error = await rejectionOf(loginWith({ accounts })(credentials as never))
    expect(error).toMatchObject({ name: 'AuthError', code: 'invalid_body', status: 400 })
    expect(accounts).not.toHaveBeenCalled()
  })

  it('refuses credentials of more than a million characters with 413', async () => {
    const error = await rejectionOf(loginWith()({ ...GOOD, password: 'x'.repeat(1_048_577) }))
    expect(error).toMatchObject({ code: 'body_too_large' })
  })

  it('does the same work for an unknown account', async () => {
    const hasher = countingHasher()
    const logIn = loginWith({ passwords: fastPasswords(hasher) })
    for (const credentials of [WRONG, { ...WRONG, email: 'nobody@example.com' }]) {
      expect(await rejectionOf(logIn(credentials))).toMatchObject({ code: 'invalid_credentials' })
    }
    expect(hasher.asked).toHaveLength(2)
  })

  it('counts failures by the address: of a request, of the origin, and of all that have none', async () => {
    const limits = { address: { points: 2, duration: '1h' } }
    const logIn = loginWith({ limits: createLimits({ limits }) })
    const codeOf = async (origin?: Parameters<Login>[1]) =>
      ((await rejectionOf(logIn(WRONG, origin))) as { code: string }).code
    const requestFrom = (ip: string) => ({ ip, headers: {}, socket: undefined }) as never
    const [failed, limited] = ['invalid_credentials', 'too_many_attempts']
    for (const origin of [requestFrom('203.0.113.1'), { address: '203.0.113.2' }, undefined]) {
      expect([await codeOf(origin), await codeOf(origin), await codeOf(origin)]).toEqual([failed, failed, limited])
    }
    expect([await codeOf({ address: '203.0.113.1' }), await codeOf({})]).toEqual([limited, limited])
  })

  it('checks the password of another network before the rest of one that sends many', async () => {
    const { promise, resolve } = deferred<boolean>()
    const hasher = { ...countingHasher(), verify: () => promise }
    const logIn = loginWith({ passwords: createPasswords({ hashers: [hasher], concurrency: 1 }) })
    const done: string[] = []
    const addresses = [...Array(8).fill('192.0.2.1'), '198.51.100.1']
    const all = addresses.map((address) => logIn(GOOD, { address }).then(() => done.push(address)))
    await settled()
    resolve(true)
    await Promise.all(all)
    expect(done.indexOf('198.51.100.1')).toBeLessThan(4)
  })

  it('ends when the client has disconnected', async () => {
    const accounts = vi.fn()
    const error = await rejectionOf(loginWith({ accounts })(GOOD, { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'client_closed_request' })
    expect(accounts).not.toHaveBeenCalled()
  })

  it('listens once to a signal that many logins share, and ends those that wait', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { promise, resolve } = deferred<boolean>()
    const hasher = { ...countingHasher(), verify: () => promise }
    const controller = new AbortController()
    const logIn = loginWith({ passwords: createPasswords({ hashers: [hasher], concurrency: 1, queue: 100 }) })
    const logins = Array.from({ length: 60 }, () =>
      logIn(GOOD, { signal: controller.signal }).catch(({ code }) => code),
    )
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    resolve(true)
    const codes = await Promise.all(logins)
    expect(codes.filter((code) => code === 'client_closed_request').length).toBeGreaterThan(20)
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  it('reports refusals, with the e-mail address where the host asks for it', async () => {
    for (const emailInEvents of [true, false]) {
      const events: AuthEvent[] = []
      await rejectionOf(loginWith({ emailInEvents, onEvent: (event: AuthEvent) => events.push(event) })(WRONG))
      expect(events).toMatchObject([{ type: 'token.refused', code: 'invalid_credentials' }])
      expect(events[0]).toEqual(
        emailInEvents
          ? expect.objectContaining({ email: alice.email })
          : expect.not.objectContaining({ email: alice.email }),
      )
    }
  })

  it('warns of a failure without an observer', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    await rejectionOf(loginWith({ accounts: () => Promise.reject(new Error('down')) })(GOOD))
    expect(warned).toHaveBeenCalledOnce()
  })

  it('rejects with 503 when a dependency fails, and reports each failure once', async () => {
    const events: AuthEvent[] = []
    const accounts = () => Promise.reject(new Error('down'))
    const error = await rejectionOf(loginWith({ accounts, onEvent: (event: AuthEvent) => events.push(event) })(GOOD))
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'accounts', refused: true }])
  })

  it.each<[string, object, RegExp]>([
    ['without accounts', { accounts: undefined }, /^createLogin: option "accounts" must be/],
    ['with tokens', { tokens }, /^createLogin: unknown option "tokens"/],
    ['with a hasher for passwords', { passwords: countingHasher() }, /^createLogin: option "passwords" must be/],
  ])('createLogin %s is a TypeError', (_what, options, says) => {
    expectMisuse(() => loginWith(options), says)
  })

  it('the e-mail address and the password as two arguments are a TypeError, which shows neither', async () => {
    const error = await rejectionOf(loginWith()(alice.email as never, PASSWORD as never))
    const says = 'logIn: the origin must be the request or { address }, but is a string'
    const fix = 'Pass the credentials as one object: logIn({ email, password }, req)'
    const thrown = () => {
      throw error
    }
    for (const part of [says, fix]) expectMisuse(thrown, part, [alice.email, PASSWORD])
    // A client can send a text as its body.
    expect(await rejectionOf(loginWith()(alice.email as never))).toMatchObject({ code: 'invalid_body' })
  })

  it('an origin that is neither a request nor an address is a TypeError', async () => {
    const signal = 'option "signal" must be an AbortSignal'
    for (const [origin, says] of [
      ['203.0.113.1', 'the origin must be the request or { address }, but is a string of 11 characters. '],
      [7, 'the origin must be the request or { address }, but is 7$'],
      [{ ip: '203.0.113.1' }, 'unknown option "ip". Known options: address, signal'],
      [{ address: 7 }, 'option "address" must be the address of a client'],
      [{ signal: {} }, signal],
      [{ signal: { aborted: false } }, signal],
      [{ signal: { addEventListener() {} } }, signal],
      [{ signal: 'abort' }, signal],
      [{ signal: new AbortController() }, signal],
      [{ address: '1.2.3.4', headers: {} }, 'unknown option "headers"'],
    ]) {
      const error = await rejectionOf(loginWith()(GOOD, origin as never))
      expectMisuse(
        () => {
          throw error
        },
        new RegExp(`^logIn: .*${says}`),
      )
    }
  })
})

describe.each(EXPRESS)('tokenRouter with logIn, on %s', (_version, express) => {
  const appOf = (options: object) => express().use(tokenRouter({ tokens, ...options }))
  const post = (app: ReturnType<typeof appOf>, body: object = GOOD) => request(app).post(TOKEN_PATH).send(body)

  it('shares the limits with the function', async () => {
    const limits = createLimits({ limits: { account: { points: 2, duration: '1h' } } })
    const logIn = loginWith({ limits })
    const app = appOf({ logIn })
    await rejectionOf(logIn(WRONG))
    await post(app, WRONG).expect(403)
    await post(app).expect(429)
    await post(appOf({ logIn: (...call: Parameters<Login>) => logIn(...call) })).expect(429)
    expect(await rejectionOf(logIn(GOOD))).toMatchObject({ code: 'too_many_attempts' })
  })

  it('refuses a client whose address has reached its limit, whatever its body holds', async () => {
    const limits = createLimits({ limits: { address: { points: 1, duration: '1h' } } })
    const app = appOf({ logIn: loginWith({ limits }) })
    await post(app, {}).expect(400)
    await post(app, WRONG).expect(403)
    await post(app, {}).expect(429)
  })

  it.each([
    ['at the login', true, false],
    ['at the router', false, true],
    ['at both', true, true],
  ])('reports one event for each request to the observer %s', async (_where, atLogin, atRouter) => {
    const types: string[] = []
    const onEvent = ({ type }: AuthEvent) => types.push(type)
    const app = appOf({ logIn: loginWith(atLogin ? { onEvent } : {}), ...(atRouter && { onEvent }) })
    await post(app).expect(200)
    await post(app, WRONG).expect(403)
    await post(app, {}).expect(400)
    expect(types.splice(0)).toEqual(['token.issued', 'token.refused', 'token.refused'])
  })

  it('reports a failure that does not end the login once: to its observer, or else to that of the router', async () => {
    const [atLogin, atRouter] = [vi.fn(), vi.fn()]
    const passwords = { ...fastPasswords(), needsRehash: () => Promise.reject(new Error('down')) }
    const failed = [{ type: 'dependency.failed', dependency: 'passwords', refused: false }]
    const issued = [{ type: 'token.issued' }]
    await post(appOf({ logIn: loginWith({ passwords, onEvent: atLogin }), onEvent: atRouter })).expect(200)
    expect([atLogin.mock.calls, atRouter.mock.calls.splice(0)]).toMatchObject([[failed], [issued]])
    await post(appOf({ logIn: loginWith({ passwords }), onEvent: atRouter })).expect(200)
    expect(atRouter.mock.calls).toMatchObject([failed, issued])
  })

  it('reports a refusal that a function of the host throws again and again each time', async () => {
    const refusal = new AuthError('invalid_credentials')
    const onEvent = vi.fn()
    const app = appOf({ logIn: () => Promise.reject(refusal), onEvent })
    for (let i = 0; i < 3; i++) await post(app).expect(403)
    expect(onEvent).toHaveBeenCalledTimes(3)
  })

  it.each<[string, (inner: Login, own: () => void) => Login]>([
    [
      'a proxy',
      (inner, own) =>
        new Proxy(inner, {
          apply(logIn, _this, [credentials, req]) {
            own()
            return logIn(credentials, req)
          },
        }),
    ],
    [
      'a copy with its marks',
      (inner, own) => {
        const copy: Login = (credentials, req) => {
          own()
          return inner(credentials, req)
        }
        return Object.defineProperties(copy, Object.getOwnPropertyDescriptors(inner))
      },
    ],
  ])('calls %s of the login, and not the login itself', async (_what, around) => {
    const own = vi.fn()
    await post(appOf({ logIn: around(loginWith(), own) })).expect(200)
    expect(own).toHaveBeenCalledOnce()
  })

  it.each<[string, () => object, object]>([
    [
      'a function around the login',
      () => ({ logIn: () => new Promise(() => {}) }),
      { dependency: 'hook', option: 'logIn' },
    ],
    [
      'an issuer of the host',
      () => ({ logIn: loginWith(), tokens: { ...tokens, issue: () => new Promise(() => {}) } }),
      { dependency: 'internal' },
    ],
  ])('%s that never ends is a 503 after the timeout', async (_what, options, failed) => {
    const onEvent = vi.fn()
    await post(appOf({ ...options(), timeout: '30ms', onEvent })).expect(503)
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'dependency.failed', ...failed, refused: true }]])
  })

  it('lets at most 16 calls of a function of the host wait for one connection, and 1,024 for one network', async () => {
    let calls = 0
    const { promise, reject } = deferred<never>()
    onTestFinished(() => reject(new AuthError('invalid_credentials')))
    const logIn = () => ++calls && promise
    const server = appOf({ logIn, timeout: '1m' }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const body = JSON.stringify(GOOD)
    const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
    function open(requests: number) {
      let received = ''
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.on('data', (chunk) => {
        received += chunk
      })
      onTestFinished(() => void socket.destroy())
      const ask = (times: number) => socket.write(`${head}\r\n\r\n${body}`.repeat(times))
      ask(requests)
      return { ask, refused: () => received.match(/HTTP\/1\.1 503/g)?.length ?? 0 }
    }
    const first = open(16)
    await until(() => expect(calls).toBe(16))
    expect(first.refused()).toBe(0)
    first.ask(1)
    await until(() => expect(first.refused()).toBe(17))
    for (let i = 1; i < 64; i++) open(16)
    await until(() => expect(calls).toBe(1024))
    const last = open(1)
    await until(() => expect(last.refused()).toBe(1))
    expect(calls).toBe(1024)
  })

  const overloaded = () => Promise.reject(new AuthError('overloaded'))
  function busyIssuer() {
    const { promise, reject } = deferred<never>()
    onTestFinished(() => reject(new Error('the test has ended')))
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const issuer = createTokenIssuer({
      issuer: tokens.issuer,
      keys: { alg: 'ES256', publicKey, sign: () => promise },
      timeout: '1m',
    })
    for (let i = 0; i < 1024; i++) issuer.issue({ accountId: 'acc-1' }).catch(() => {})
    return issuer
  }
  it.each<[string, () => object]>([
    ['its issuer has 1,024 signatures under way', () => ({ tokens: busyIssuer() })],
    ['`respond` finds a queue full', () => ({ respond: overloaded })],
  ])('responds as overloaded, not as a failure, when %s', async (_, options) => {
    const onEvent = vi.fn()
    await post(appOf({ logIn: loginWith(), onEvent, ...options() }))
      .expect(503)
      .expect('Retry-After', '1')
      .expect(({ body }) => expect(body).toMatchObject({ code: 'overloaded' }))
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'token.overloaded', code: 'overloaded' }]])
  })

  it('calls a function of the host around the login, with the request', async () => {
    const inner = loginWith()
    const types: string[] = []
    const logIn: Login = async (credentials, req) => {
      const result = await inner(credentials, req)
      return { ...result, subject: { ...result.subject, scopes: ['reports:read', 'extra'] } }
    }
    const app = appOf({ logIn, onEvent: ({ type }: AuthEvent) => types.push(type) })
    const { body } = await post(app).expect(200)
    expect(await tokens.verify(body.authenticationToken)).toMatchObject({ scopes: ['reports:read', 'extra'] })
    await post(app, WRONG).expect(403)
    expect(types).toEqual(['token.issued'])
  })

  const INCOMPLETE = 'logIn: must return { account, subject }, as createLogin() does, but returned'
  it.each<[string, Login, string?]>([
    [
      'throws',
      () => {
        throw new Error('bug')
      },
    ],
    ['returns nothing', (async () => {}) as never, INCOMPLETE],
    ['returns only an account', (async () => ({ account: {} })) as never, INCOMPLETE],
    ['returns only a subject', (async () => ({ subject: { accountId: 'acc-1' } })) as never, INCOMPLETE],
  ])('a function of the host that %s is a 503, and no token', async (_what, logIn, message = '') => {
    const events: AuthEvent[] = []
    await post(appOf({ logIn, onEvent: (event: AuthEvent) => events.push(event) })).expect(503)
    const error = expect.objectContaining({ message: expect.stringContaining(message) })
    expect(events).toMatchObject([
      { type: 'dependency.failed', dependency: 'hook', option: 'logIn', refused: true, error },
    ])
  })

  it.each<[string, object, RegExp]>([
    [
      'accounts',
      { accounts: makeStore() },
      /^tokenRouter: option "accounts" has no effect next to "logIn"\. Pass it to createLogin/,
    ],
    ['passwords', { passwords: fastPasswords() }, /^tokenRouter: option "passwords" has no effect/],
    ['limits', { limits: false }, /^tokenRouter: option "limits" has no effect/],
  ])('%s beside logIn is a TypeError', (_what, options, says) => {
    expectMisuse(() => appOf({ logIn: loginWith(), ...options }), says)
  })

  describe('respond', () => {
    const respondWith = (respond: unknown, more: object = {}) => post(appOf({ logIn: loginWith(), respond, ...more }))

    it('returns the JSON of the response, later too; status and headers stay', async () => {
      const { headers, body } = await respondWith(async ({ token, expiresAt, account, req }: never) => ({
        access_token: token,
        until: expiresAt,
        name: (account as typeof alice).email,
        path: (req as { path: string }).path,
      })).expect(200)
      expect(await tokens.verify(body.access_token)).toMatchObject({
        accountId: alice.id,
        expiresAt: new Date(body.until),
      })
      expect(body).toMatchObject({ name: alice.email, path: TOKEN_PATH })
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      expect(JSON.stringify(body)).not.toContain('plain:')
    })

    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('bug')
        },
      ],
      ['rejects', () => Promise.reject(new Error('bug'))],
      ['never ends', () => new Promise(() => {})],
      ['returns nothing', () => undefined],
      ['returns text', () => '{}'],
      ['returns a list', () => [1]],
      ['returns what is not JSON', () => circular],
      ['returns an object that becomes nothing', () => ({ toJSON: () => undefined })],
      ['returns an object that becomes text', () => ({ toJSON: () => 'x' })],
    ])('that %s is a 503 and a reported failure, and no token is sent', async (_what, respond) => {
      const events: AuthEvent[] = []
      const { body } = await respondWith(respond, {
        timeout: '30ms',
        onEvent: (e: AuthEvent) => events.push(e),
      }).expect(503)
      expect(body).toMatchObject({ code: 'unavailable' })
      expect(events).toMatchObject([
        { type: 'dependency.failed', dependency: 'hook', option: 'respond', refused: true },
      ])
    })

    it('that returns no object has a clear error', async () => {
      const events: AuthEvent[] = []
      await respondWith(() => [1], { onEvent: (event: AuthEvent) => events.push(event) }).expect(503)
      const error = expect.objectContaining({ message: 'respond must return an object, but returned an array' })
      expect(events).toMatchObject([{ error }])
    })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'a.b.c'],
    ['a token that is no text', { token: 7, id: 'x', expiresAt: new Date() }],
    ['a token without its expiration', { token: 'a.b.c', id: 'x' }],
    ['an invalid expiration', { token: 'a.b.c', id: 'x', expiresAt: new Date(Number.NaN) }],
    ['a token without an id', { token: 'a.b.c', expiresAt: new Date() }],
  ])('an issuer of the host whose issue returns %s is a 503 with a clear error', async (_what, issued) => {
    const events: AuthEvent[] = []
    const own = { ...tokens, issue: () => issued }
    await post(appOf({ tokens: own, logIn: loginWith(), onEvent: (event: AuthEvent) => events.push(event) })).expect(
      503,
    )
    const error = expect.objectContaining({ message: expect.stringMatching(/^tokens\.issue\(\) must return \{ token/) })
    expect(events).toMatchObject([{ dependency: 'internal', error }])
  })

  describe('authErrors', () => {
    it('sends the refusals of routes of the host as the router does', async () => {
      const logIn = loginWith({ limits: createLimits({ limits: { account: { points: 1, duration: '1h' } } }) })
      const app = express().use(express.json())
      app.post('/own', (req, res, next) => void logIn(req.body, req).then(({ account }) => res.json(account), next))
      app.get(
        '/own',
        (req, res, next) => void tokens.verify(req.headers.authorization ?? '').then(() => res.end(), next),
      )
      app.use(authErrors({ realm: 'own' }))
      await request(app).post('/own').send(GOOD).expect(200)
      const wrong = await request(app).post('/own').send(WRONG).expect(403)
      expect([wrong.text, wrong.headers['cache-control']]).toEqual(['', 'no-store'])
      const limited = await request(app).post('/own').send(GOOD).expect(429)
      expect(limited.body).toMatchObject({ code: 'too_many_attempts', status: 429 })
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
      await request(app).post('/own').send({}).expect(400).expect('Content-Type', 'application/problem+json')
      const { headers } = await request(app).get('/own').expect(401)
      expect(headers['www-authenticate']).toBe(
        'Bearer realm="own", error="invalid_token", error_description="The access token is not valid."',
      )
    })

    it.each<[string, unknown, object]>([
      ['no headers', undefined, {}],
      ['null for headers', null, {}],
      ['a line break', { 'WWW-Authenticate': 'Bearer\r\nSet-Cookie: a=b', 'Retry-After': '1\n' }, {}],
      ['a character that Node does not send', { 'WWW-Authenticate': 'Bearer realm="\u2028"' }, {}],
      ['a number', { 'WWW-Authenticate': 7, 'Retry-After': 7, Connection: 7 }, {}],
      ['a list', { 'WWW-Authenticate': ['Bearer'] }, {}],
      ['inherited headers', Object.create({ 'WWW-Authenticate': 'Basic' }), {}],
      ['its own challenge', { 'WWW-Authenticate': 'Basic', 'Retry-After': '7' }, { challenge: 'Basic', after: '7' }],
      ['its own methods', { Allow: 'GET, PUT' }, { allow: 'GET, PUT' }],
    ])('sends a refusal of the host with %s, and only headers that can be sent', async (_what, headers, sent) => {
      const app = express().get('/own', (_req, _res, next) => {
        next(Object.assign(new AuthError('insufficient_scope', { scope: 'admin' as never }), { headers }))
      })
      const answer = await request(app.use(authErrors())).get('/own').expect(403)
      const { 'www-authenticate': challenge, 'retry-after': after, 'set-cookie': cookie, allow } = answer.headers
      const usual = expect.stringMatching(/^Bearer realm="", error="insufficient_scope".*, scope="admin"$/)
      expect({ challenge, after, cookie, allow }).toEqual({ challenge: usual, ...sent })
      expect(answer.body).toMatchObject({ code: 'insufficient_scope' })
    })

    const parsers = express()
      .use(express.json({ limit: 100, inflate: false }), express.urlencoded({ parameterLimit: 1 }))
      .use(
        express.text({
          verify: () => {
            throw Object.assign(new Error('refused'), { type: 'own' })
          },
        }),
      )
    it.each<[string, string, string | undefined, string, number, string, Record<string, string>?]>([
      ['that is not JSON', 'application/json', `{"password":"hunter2"`, 'malformed', 400, 'invalid_body'],
      ['that is too long', 'application/json', `"hunter2${'x'.repeat(100)}"`, 'too large', 413, 'body_too_large'],
      ['with too many fields', 'application/x-www-form-urlencoded', 'a=hunter2&b', 'malformed', 400, 'invalid_body'],
      ['that the host refuses', 'text/plain', 'hunter2', 'malformed', 400, 'invalid_body'],
      ['in a charset', 'application/json; charset=latin7', '{}', 'charset', 415, 'unsupported_media_type'],
      [
        'with a content coding',
        'application/json',
        '{}',
        'coding',
        415,
        'unsupported_media_type',
        { 'Content-Encoding': 'gzip' },
      ],
    ])(
      "makes a refusal of the parser's error for a body %s",
      async (_what, type, body, detail, status, code, more = {}) => {
        const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.end())
        const app = express().use(parsers, authErrors(), onError)
        const answer = await request(app)
          .post('/')
          .set({ 'Content-Type': type, ...more })
          .send(body)
        expect(onError).not.toHaveBeenCalled()
        expect(answer.body).toMatchObject({ status, code, detail: expect.stringContaining(detail) })
        expect(answer.text).not.toContain('hunter2')
      },
    )

    it.each<[string, unknown]>([
      ['inherited members', Object.create({ type: 'entity.parse.failed' })],
      ['another type', { type: 'StripeCardError', status: 402, body: { error: {} } }],
      ['a body of another server', { status: 400, body: 'text' }],
      ['a status of the server', { type: 'stream.not.readable', status: 500, body: 'text' }],
      ['a status of no refusal', { type: 'own', status: 399, body: 'text' }],
      ['a type that ends like a parser’s', { type: 'own.entity.parse.failed' }],
    ])('passes an error with %s on', async (_what, thrown) => {
      const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.end())
      const app = express().get('/', (_req, _res, next) => next(thrown))
      await request(app.use(authErrors(), onError)).get('/')
      expect(onError.mock.calls[0]?.[0]).toBe(thrown)
    })

    it('says that its brackets are missing when it gets an error, and passes requests without an error on', async () => {
      const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.end())
      const app = express()
        .get('/own', (_req, _res, next) => next(new AuthError('forbidden')))
        .use(authErrors as never, onError)
      await request(app).get('/own')
      const thrown = () => {
        throw onError.mock.calls[0]?.[0]
      }
      expectMisuse(
        thrown,
        'authErrors: expected an options object, got an error of a request. Pass Express authErrors()',
      )
      await request(app).get('/other').expect(404)
    })

    it('makes a refusal of an error of 400 with a type and a body, also as text', async () => {
      const app = express().get('/', (_req, _res, next) => next({ type: 'own', status: 400, body: 'hunter2' }))
      const { body } = await request(app.use(authErrors())).get('/').expect(400)
      expect(body).toMatchObject({ code: 'invalid_body', detail: 'The request body is malformed.' })
    })

    it('closes the connection after a body that nobody has read', async () => {
      const { port } = await listen(
        express().use(
          (_req: unknown, _res: unknown, next: (error: Error) => void) => next(new AuthError('invalid_credentials')),
          authErrors(),
        ),
      )
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n'
      expect(await sendEndlessly(port, head, 'x'.repeat(0x4000))).toMatch(
        /^HTTP\/1.1 403 [\s\S]*\r\nConnection: close\r\n/,
      )
    })

    it('reports the refusal of a guard as one', async () => {
      const onEvent = vi.fn()
      const app = express().get('/', (_req, _res, next) => next(new AuthError('insufficient_scope')))
      const { headers } = await request(app.use(authErrors({ onEvent })))
        .get('/')
        .set('Connection', 'keep-alive')
        .expect(403)
      expect(headers['connection']).toBe('keep-alive')
      expect(onEvent.mock.calls).toMatchObject([[{ type: 'bearer.refused', code: 'insufficient_scope' }]])
    })

    it('names the option that is not valid', () => {
      expectMisuse(() => authErrors({ realm: '' }), 'authErrors: option "realm" must be a non-empty string')
    })

    it('passes a refusal on when a response has begun', async () => {
      const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.end())
      const refusal = new AuthError('invalid_credentials')
      const app = express().get('/own', (_req, res, next) => {
        res.write('begun')
        next(refusal)
      })
      await request(app.use(authErrors(), onError)).get('/own').expect(200, 'begun')
      expect(onError.mock.calls[0]?.[0]).toBe(refusal)
    })

    const down = { ...tokens, issue: () => Promise.reject(new AuthError('unavailable', { dependency: 'keys' })) }
    const failing = () => Promise.reject(new Error('down'))
    const bearer = ['Authorization', 'Bearer x'] as const
    const parts = (events: Pick<TokenRouterOptions, 'onEvent'>) => {
      const logIn = loginWith(events)
      const ownGuard = requireBearer({ tokens, ...events })
      const guards = requireBearer({ tokens: { ...tokens, verify: failing }, refuse: passFailuresOn, ...events })
      const broken = { accounts: failing, passwords: fastPasswords(), limits: false, ...events } as const
      const passport = new Passport().use(new LoginStrategy(broken))
      passport.use(new BearerStrategy({ tokens: { ...tokens, verify: failing }, ...events }))
      const app = express().use('/login', passport.authenticate('login', { session: false }))
      app.use('/passport', passport.authenticate('bearer', { session: false }), guards)
      app.use('/guard', guards)
      app.use('/all', requireBearer({ tokens, refuse: passOn, ...events }))
      app.use('/503', tokenRouter({ tokens, ...broken, path: '/', refuse: passFailuresOn }))
      app.use('/403', tokenRouter({ tokens, logIn, path: '/', refuse: passOn, ...events }))
      app.use('/own', express.json(), (req, _res, next) => void logIn(req.body, req).then(down.issue).catch(next))
      return app.use((req, _res, next) => void ownGuard.authenticate(req).catch(next))
    }
    const [refused, unknown] = [{ type: 'token.refused' }, { type: 'bearer.refused', code: 'invalid_token' }]
    const failed = (dependency: string) => ({ type: 'dependency.failed', dependency, refused: true })
    const cases: [string, string, object, object][] = [
      ['of issue in an own route', '/own', GOOD, failed('keys')],
      ['of the login in an own route', '/own', WRONG, refused],
      ['of a body in an own route', '/own', ['x'.repeat(200_000)], { ...refused, code: 'body_too_large' }],
      ['of guard.authenticate', '/', {}, unknown],
      ['that a guard forwards', '/guard', {}, failed('keys')],
      ['of each code that a guard forwards', '/all', {}, unknown],
      ['that a router forwards', '/503', GOOD, failed('accounts')],
      ['of each code that a router forwards', '/403', WRONG, refused],
      ['of a login by Passport', '/login', GOOD, failed('accounts')],
      ['of a token by Passport', '/passport', {}, failed('keys')],
    ]
    it.each(cases)('reports a refusal %s once, with its address', async (_what, path, body, event) => {
      const events: AuthEvent[] = []
      const onEvent = (told: AuthEvent) => events.push(told)
      const app = parts({ onEvent }).use(authErrors({ onEvent }))
      for (const times of [1, 2]) {
        await request(app)
          .post(path)
          .set(...bearer)
          .send(body)
        expect(events).toMatchObject(Array(times).fill({ ...event, address: expect.stringMatching(/127\.0\.0\.1$/) }))
      }
    })

    const failures = cases.filter(([, , , event]) => 'dependency' in event)
    it.each(failures)('without onEvent, warns once of a failure %s', async (_what, path, body) => {
      const warned = vi.spyOn(process, 'emitWarning').mockReset()
      await request(parts({}).use(authErrors()))
        .post(path)
        .set(...bearer)
        .send(body)
      expect(warned).toHaveBeenCalledTimes(1)
    })

    it('reports an error that the host throws for several requests once for each of them', async () => {
      const events: AuthEvent[] = []
      const onEvent = (told: AuthEvent) => events.push(told)
      const shared = new AuthError('unavailable', { dependency: 'keys' })
      const guard = requireBearer({
        tokens: { ...makeIssuer(), verify: () => Promise.reject(shared) },
        refuse: passFailuresOn,
        onEvent,
      })
      let kept: unknown
      const app = express()
        .get('/guard', guard)
        .get('/own', () => {
          throw shared
        })
        .get('/kept', (req, _res, next) => {
          if (kept) return next(kept)
          guard.authenticate(req).catch((error) => {
            kept = error
            next(error)
          })
        })
        .use(authErrors({ onEvent }))
      for (const path of ['/guard', '/own', '/guard', '/own', '/kept', '/kept', '/kept']) {
        await request(app)
          .get(path)
          .set(...bearer)
          .expect(503)
        expect(events.splice(0)).toMatchObject([failed('keys')])
      }
    })

    it('keeps the headers of refusals that a router passes on, and passes other errors on', async () => {
      const app = appOf({ logIn: loginWith(), refuse: passOn }).use(authErrors())
      app.get('/bug', () => {
        throw new Error('bug')
      })
      const onError: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).send('own')
      app.use(onError)
      await request(app).put(TOKEN_PATH).expect(405).expect('Allow', 'POST')
      await post(app, WRONG).expect(403)
      await request(app).get('/bug').expect(500, 'own')
    })
  })
})
