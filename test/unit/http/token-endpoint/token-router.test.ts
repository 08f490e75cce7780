import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import passport from 'passport'
import { Strategy as HostBearer } from 'passport-http-bearer'
import { Strategy as HostLocal } from 'passport-local'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectMisuse } from '../../../support/failures.js'
import {
  asForm,
  asJson,
  expectBadRequest,
  expectForbidden,
  expectProblem,
  expectToken,
  expectTooLarge,
  expectUnavailable,
  expectUnsupported,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  send,
  unhandledRejections,
} from '../../../support/host.js'
import { client, EXPRESS, listen, TOKEN_PATH } from '../../../support/http.js'
import { INVALID_BY_EMAIL, NOT_TRUE } from '../../../support/invalid-results.js'

const hang = () => new Promise<never>(() => {})

describe.each(EXPRESS)('tokenRouter, on %s', async (_name, express) => {
  const {
    AuthError,
    argon2id,
    authOf,
    createPasswords,
    createThrottle,
    createTokenVerifier,
    memoryAccounts,
    requireBearer,
    tokenRouter,
    ...fixtures
  } = await packageOn(express)
  const { ACCOUNTS, countingHasher, fastPasswords, ISSUER, makeIssuer, makeStore, SECRET } = fixtures

  type Options = Parameters<typeof tokenRouter>[0]
  type Events = Parameters<NonNullable<Options['onEvent']>>[0][]

  const router = (options: Partial<Options> = {}) =>
    tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), ...options })
  const start = async (...handlers: RequestHandler[]) => {
    const app = express()
    for (const handler of handlers) app.use(handler)
    return (await listen(app)).port
  }

  describe('beside parsers of the host', () => {
    const json = () => express.json()
    const extended = () => express.urlencoded({ extended: true })
    const simple = () => express.urlencoded({ extended: false })
    const anything = { type: '*/*' }
    it.each<[string, RequestHandler[]]>([
      ['none', []],
      ['express.json()', [json()]],
      ['express.urlencoded({ extended: true })', [extended()]],
      ['express.urlencoded({ extended: false })', [simple()]],
      ['express.json() and express.urlencoded({ extended: true })', [json(), extended()]],
      ['express.urlencoded({ extended: false }) and express.json()', [simple(), json()]],
      ['express.json() twice', [json(), json()]],
      ['express.raw() for another type', [express.raw()]],
      ['express.raw() for every type', [express.raw(anything)]],
      ['express.text() for another type', [express.text()]],
    ])('%s', async (_parsers, parsers) => {
      const port = await start(...parsers, router())
      expectToken(await send(port, asJson(GOOD)))
      expectToken(await send(port, { headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, body: GOOD_JSON }))
      expectToken(await send(port, asForm(GOOD_FORM)))
      expectForbidden(await send(port, asJson({ ...GOOD, password: 'wrong' })))
      expectForbidden(await send(port, asForm('email=&password=')))
      expectBadRequest(await send(port, asJson({})))
      expectBadRequest(await send(port, asJson([GOOD])))
      expectBadRequest(await send(port, asJson({ ...GOOD, password: 1 })))
      expectBadRequest(await send(port, asJson({ ...GOOD, password: [GOOD.password] })))
      expectBadRequest(await send(port, { headers: JSON_TYPE, body: '' }))
      expectBadRequest(await send(port, asForm('')))
      expectBadRequest(await send(port, asForm(`${GOOD_FORM}&password=x`)))
      expectBadRequest(await send(port, asForm('email[a]=x&password=y')))
      expectBadRequest(await send(port, asForm('__proto__[email]=x&__proto__[password]=y')))
      expectUnsupported(await send(port, { headers: { 'Content-Type': 'text/plain' }, body: GOOD_JSON }))
      expectUnsupported(await send(port, { headers: { 'Content-Type': 'application/problem+json' }, body: GOOD_JSON }))
      expectUnsupported(await send(port, {}))
      expectTooLarge(await send(port, { headers: JSON_TYPE, body: JSON.stringify({ ...GOOD, x: 'x'.repeat(10_240) }) }))
      expectProblem(
        await send(port, { method: 'PUT', ...asJson(GOOD) }),
        405,
        'method_not_allowed',
        'Method Not Allowed',
      )
    })

    it('express.raw(): the size and the text are held to the same rules', async () => {
      const port = await start(express.raw({ type: '*/*' }), router({ bodyLimit: 100 }))
      const chunked = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }
      expectTooLarge(await send(port, { headers: chunked, body: JSON.stringify({ ...GOOD, x: 'x'.repeat(100) }) }))
      expectBadRequest(await send(port, { headers: JSON_TYPE, body: '{' }))
      expectBadRequest(await send(port, { headers: JSON_TYPE, body: Buffer.from([0x22, 0xff, 0x22]) }))
      expectBadRequest(await send(port, asForm('email=x&password=%')))
    })

    it('a parser that takes JSON for every type makes no further encoding', async () => {
      const port = await start(express.json({ type: '*/*' }), router())
      expectUnsupported(await send(port, { headers: { 'Content-Type': 'text/plain' }, body: GOOD_JSON }))
      expectToken(await send(port, asJson(GOOD)))
    })

    it('one that sets req.body without reading: the router reads for itself', async () => {
      const empty: RequestHandler = (req, _res, next) => {
        req.body = { email: 'x', password: 'y' }
        next()
      }
      expectToken(await send(await start(empty, router()), asJson(GOOD)))
    })
  })

  describe('a body that somebody else has read', () => {
    const consume =
      (then: (req: import('express').Request, text: string) => void): RequestHandler =>
      async (req, _res, next) => {
        const chunks: Buffer[] = []
        for await (const chunk of req) chunks.push(chunk)
        then(req, Buffer.concat(chunks).toString())
        next()
      }

    it.each<[string, (req: import('express').Request, text: string) => void]>([
      ['and put on req.body as a value', (req, text) => Object.assign(req, { body: JSON.parse(text) })],
      ['and put on req.body as bytes', (req, text) => Object.assign(req, { body: Buffer.from(text) })],
      [
        'and put on req.body as a Uint8Array',
        (req, text) => Object.assign(req, { body: new TextEncoder().encode(text) }),
      ],
      [
        'and put on req.body as an object without a prototype',
        (req, text) => Object.assign(req, { body: Object.assign(Object.create(null), JSON.parse(text)) }),
      ],
    ])('%s is taken', async (_what, then) => {
      expectToken(await send(await start(consume(then), router()), asJson(GOOD)))
    })

    it.each<[string, (req: import('express').Request, text: string) => void]>([
      ['and thrown away', () => {}],
      [
        'and put on the prototype of req.body',
        (req, text) => Object.assign(req, { body: Object.create(JSON.parse(text)) }),
      ],
    ])('%s is no credentials: 400, and no waiting', async (_what, then) => {
      expectBadRequest(await send(await start(consume(then), router()), asJson(GOOD)))
    })
  })

  describe('in a host app', () => {
    it('under a mount prefix', async () => {
      const app = express().use('/clearing', router())
      await request(app).post(`/clearing${TOKEN_PATH}`).send(GOOD).expect(200)
      await request(app).post(TOKEN_PATH).send(GOOD).expect(404)
    })

    it('in a plain server of Node, which has no settings', async () => {
      const handle = router()
      const app = (req: IncomingMessage, res: ServerResponse) =>
        handle(req as never, res as never, () => void res.destroy())
      const { port } = await listen(app as never)
      const sent = asJson(GOOD)
      expectToken(await send(port, { ...sent, headers: { ...sent.headers, 'X-Forwarded-For': '192.0.2.1' } }))
    })

    it('under a prefix with a parameter', async () => {
      const app = express().use('/houses/:house', router())
      await request(app).post(`/houses/north${TOKEN_PATH}`).send(GOOD).expect(200)
    })

    it('behind a second router', async () => {
      const app = express().use('/a', express.Router().use('/b', express.Router().use(router())))
      await request(app).post(`/a/b${TOKEN_PATH}`).send(GOOD).expect(200)
      await request(app).get(`/a/b${TOKEN_PATH}`).expect(405)
    })

    it('lets every other path through to what comes behind', async () => {
      const behind: RequestHandler = (req, res) => {
        res.json({ path: req.path, body: req.body ?? null })
      }
      const app = express().use(router(), express.json(), behind)
      await request(app)
        .post('/other')
        .send({ a: 1 })
        .expect(200, { path: '/other', body: { a: 1 } })
      await request(app).get(`${TOKEN_PATH}/`).expect(200)
      await request(app).post(TOKEN_PATH.toUpperCase()).send({}).expect(200)
      await request(app).post(TOKEN_PATH).send({}).expect(400)
    })

    it('at a path of the host’s own, with every letter of it literal', async () => {
      const app = express().use(router({ path: '/v1.0/~token_x-y' }))
      await request(app).post('/v1.0/~token_x-y').send(GOOD).expect(200)
      await request(app).post('/v1x0/~token_x-y').send(GOOD).expect(404)
      await request(app).post(TOKEN_PATH).send(GOOD).expect(404)
    })

    it('twice in one app, with different issuers and accounts: the tokens stay apart', async () => {
      const app = express()
      const houses = ['north', 'south'].map((name) => {
        const tokens = makeIssuer({ issuer: `${ISSUER}/${name}` })
        const account = { ...ACCOUNTS.alice, id: name, email: `${name}@example.com` }
        app.use(`/${name}`, router({ tokens, accounts: memoryAccounts([account]) }))
        app.get(`/${name}/statements`, requireBearer({ tokens }), (req, res) => {
          res.json(authOf(req))
        })
        return name
      })
      const login = (house: string, name: string) =>
        request(app)
          .post(`/${house}${TOKEN_PATH}`)
          .send({ ...GOOD, email: `${name}@example.com` })
      for (const house of houses) {
        const other = houses.find((name) => name !== house) as string
        await login(house, other).expect(403)
        const { body } = await login(house, house).expect(200)
        const ask = (name: string) =>
          request(app).get(`/${name}/statements`).auth(body.authenticationToken, { type: 'bearer' })
        const answer = await ask(house).expect(200)
        expect(answer.body).toMatchObject({ accountId: house, issuer: `${ISSUER}/${house}` })
        await ask(other).expect(401)
      }
    })

    it('has nothing of the host’s settings in its answers', async () => {
      const app = express()
        .set('etag', 'strong')
        .set('json spaces', 2)
        .set('json replacer', () => 'x')
        .use(router())
      expectToken(await send((await listen(app)).port, asJson(GOOD)))
    })

    it('keeps the headers that the host has set', async () => {
      const port = await start((_req, res, next) => {
        res.setHeader('Strict-Transport-Security', 'max-age=1')
        next()
      }, router())
      expect((await send(port, asJson(GOOD))).headers['strict-transport-security']).toBe('max-age=1')
      expect((await send(port, asJson({}))).headers['strict-transport-security']).toBe('max-age=1')
    })
  })

  describe('beside a host that uses Passport itself', () => {
    const hostUser = { id: 'host-user' }
    const local = vi.fn((_name: string, _password: string, done: (error: null, user: { id: string }) => void) =>
      done(null, hostUser),
    )
    const bearer = vi.fn((_token: string, done: (error: null, user: { id: string }) => void) => done(null, hostUser))

    function passportHost() {
      local.mockClear()
      bearer.mockClear()
      const strategies = [new HostLocal(local), new HostBearer(bearer)]
      for (const strategy of strategies) passport.use(strategy)
      const tokens = makeIssuer()
      const app = express()
      app.use(passport.initialize())
      app.use(router({ tokens }))
      app.post('/host', express.json(), passport.authenticate('local', { session: false }), (req, res) => {
        res.json(req.user)
      })
      app.get('/host', passport.authenticate('bearer', { session: false }), (req, res) => {
        res.json(req.user)
      })
      return { app, tokens, strategies }
    }

    it('its strategies are never asked by the token call and the guard', async () => {
      const { app, tokens } = passportHost()
      app.get('/guarded', requireBearer({ tokens }), (req, res) => {
        res.json({ account: authOf(req).accountId, user: req.user ?? null })
      })
      const { body } = await request(app).post(TOKEN_PATH).send(GOOD).expect(200)
      await request(app)
        .post(TOKEN_PATH)
        .send({ ...GOOD, password: 'wrong' })
        .expect(403)
      const answer = await request(app).get('/guarded').auth(body.authenticationToken, { type: 'bearer' })
      expect(answer.body).toEqual({ account: ACCOUNTS.alice.id, user: null })
      await request(app).get('/guarded').auth('host-token', { type: 'bearer' }).expect(401)
      expect(local).not.toHaveBeenCalled()
      expect(bearer).not.toHaveBeenCalled()
    })

    it('its Passport is not used, whatever the host has made of it', async () => {
      const { app, tokens } = passportHost()
      app.get('/guarded', requireBearer({ tokens }), (_req, res) => {
        res.end()
      })
      const authenticate = vi.spyOn(passport, 'authenticate').mockImplementation(() => {
        throw new Error('used')
      })
      onTestFinished(() => authenticate.mockRestore())
      const { body } = await request(app).post(TOKEN_PATH).send(GOOD).expect(200)
      await request(app).get('/guarded').auth(body.authenticationToken, { type: 'bearer' }).expect(200)
      expect(authenticate).not.toHaveBeenCalled()
    })

    it('its own logins go on working', async () => {
      const { app, strategies } = passportHost()
      await request(app).post(TOKEN_PATH).send(GOOD).expect(200)
      await request(app).post('/host').send({ username: 'x', password: 'y' }).expect(200, hostUser)
      await request(app).get('/host').auth('host-token', { type: 'bearer' }).expect(200, hostUser)
      expect(local).toHaveBeenCalledOnce()
      expect(bearer).toHaveBeenCalledOnce()
      const registered = passport as unknown as { _strategy(name: string): unknown }
      expect([registered._strategy('local'), registered._strategy('bearer')]).toEqual(strategies)
    })

    it('its req.login and the rest stay as they were, and its req.user only for the same person', async () => {
      const { app, tokens } = passportHost()
      const seen: unknown[][] = []
      const look = (req: import('express').Request) => {
        const { login, logIn, logout, logOut, isAuthenticated, isUnauthenticated, user, authInfo } = req
        return [login, logIn, logout, logOut, isAuthenticated, isUnauthenticated, user, authInfo]
      }
      const remember: RequestHandler = (req, _res, next) => {
        seen.push(look(req))
        next()
      }
      const guard = requireBearer({ tokens })
      app.get('/both', passport.authenticate('bearer', { session: false }), remember, guard, remember, (_req, res) => {
        res.end()
      })
      const pass = (accountId: string) =>
        request(app).get('/both').auth(tokens.issue({ accountId }).token, { type: 'bearer' }).expect(200)
      await pass(hostUser.id)
      expect(seen[0]).toEqual(seen[1])
      expect(seen[0]).toContain(hostUser)
      expect(typeof seen[0]?.[0]).toBe('function')
      await pass('acc-1')
      expect(seen[3]).toEqual(seen[2]?.map((value) => (value === hostUser ? undefined : value)))
    })

    it('and in a host without Passport, none of Passport’s is seen on the request', async () => {
      const keys: string[] = []
      const port = await start((req, res, next) => {
        res.once('finish', () => keys.push(...Object.keys(req)))
        next()
      }, router())
      expectToken(await send(port, asJson(GOOD)))
      await vi.waitFor(() => expect(keys).toContain('url'))
      for (const name of ['login', 'logout', 'isAuthenticated', 'user', 'account', 'authInfo', 'auth', '_passport']) {
        expect(keys).not.toContain(name)
      }
    })
  })

  describe('accounts', () => {
    it.each<[string, Options['accounts']]>([
      ['a function', (email) => (email === GOOD.email ? ACCOUNTS.alice : null)],
      ['an async function', async (email) => (email === GOOD.email ? ACCOUNTS.alice : undefined)],
      ['a store', { findByEmail: (email) => (email === GOOD.email ? ACCOUNTS.alice : null) }],
    ])('%s', async (_what, accounts) => {
      const port = await start(router({ accounts }))
      expectToken(await send(port, asJson(GOOD)))
      expectForbidden(await send(port, asJson({ ...GOOD, email: 'nobody@example.com' })))
    })

    it.each<[string, object, readonly string[]]>([
      ['its scopes', {}, ['reports:read']],
      ['no scopes when it has none', { scopes: undefined }, []],
      ['no scopes when they are null', { scopes: null }, []],
    ])('give a token %s', async (_what, about, scopes) => {
      const tokens = makeIssuer()
      const port = await start(router({ tokens, accounts: () => ({ ...ACCOUNTS.alice, ...about }) }))
      const { authenticationToken } = expectToken(await send(port, asJson(GOOD)))
      expect((await tokens.verify(authenticationToken)).scopes).toEqual(scopes)
    })

    it('give a token their claims and their lifetime', async () => {
      const tokens = makeIssuer()
      const accounts = () => ({ ...ACCOUNTS.alice, claims: { house: 'north' }, lifetime: '5m' })
      const port = await start(router({ tokens, accounts }))
      const { authenticationToken } = expectToken(await send(port, asJson(GOOD)))
      const { claims, issuedAt, expiresAt } = await tokens.verify(authenticationToken)
      expect(claims).toMatchObject({ house: 'north' })
      expect(expiresAt.getTime() - issuedAt.getTime()).toBe(300_000)
    })

    it('a store’s own methods, called on it', async () => {
      class Store {
        #accounts = makeStore()
        findByEmail(email: string) {
          return this.#accounts.findByEmail(email)
        }
      }
      expectToken(await send(await start(router({ accounts: new Store() })), asJson(GOOD)))
    })

    it.each(INVALID_BY_EMAIL)('that %s: 503, never 403 and never 200', async (what, accounts) => {
      const timeout = what.includes('hangs') ? '20ms' : '60s'
      expectUnavailable(await send(await start(router({ accounts: accounts as () => null, timeout })), asJson(GOOD)))
    })

    it('that chokes on a NUL, as databases do: is not asked for one, and the client is at fault', async () => {
      const accounts = vi.fn((_email: string) => {
        throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
      })
      const hasher = countingHasher()
      const port = await start(router({ accounts, passwords: fastPasswords(hasher) }))
      for (const email of ['\0', `${GOOD.email}\0`, `\0${GOOD.email}`])
        expectForbidden(await send(port, asJson({ ...GOOD, email })))
      expect(accounts).not.toHaveBeenCalled()
      expect(hasher.asked).toHaveLength(3)
    })

    it('whose answer comes too late: it is dropped', async () => {
      const rejections = unhandledRejections()
      const late: (() => void)[] = []
      const accounts = () =>
        new Promise<null>((resolve, reject) =>
          late.push(late.length ? () => reject(new Error('late')) : () => resolve(null)),
        )
      const port = await start(router({ accounts, timeout: '20ms' }))
      expectUnavailable(await send(port, asJson(GOOD)))
      expectUnavailable(await send(port, asJson(GOOD)))
      expect(late).toHaveLength(2)
      for (const answer of late) answer()
      await new Promise(setImmediate)
      expect(rejections).toEqual([])
    })
  })

  describe('passwords', () => {
    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('down')
        },
      ],
      ['rejects', () => Promise.reject(new Error('down'))],
      ['hangs', hang],
    ])('a check that %s: 503, for known and unknown e-mails alike', async (_what, verify) => {
      const passwords = { hash: async () => 'x', verify: verify as () => Promise<boolean> }
      const port = await start(router({ passwords, timeout: '20ms' }))
      expectUnavailable(await send(port, asJson(GOOD)))
      expectUnavailable(await send(port, asJson({ ...GOOD, email: 'nobody@example.com' })))
    })

    it.each(NOT_TRUE)('a check that answers %j has not said true: 403', async (answer) => {
      const passwords = { hash: async () => 'x', verify: async () => answer as unknown as boolean }
      expectForbidden(await send(await start(router({ passwords })), asJson(GOOD)))
    })

    it('createPasswords() unless given', async () => {
      const passwordHash = await createPasswords().hash(GOOD.password)
      const accounts = () => ({ ...ACCOUNTS.alice, passwordHash })
      const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts }))
      await request(app).post(TOKEN_PATH).send(GOOD).expect(200)
      await request(app)
        .post(TOKEN_PATH)
        .send({ ...GOOD, password: 'wrong' })
        .expect(403)
    })
  })

  describe('throttle', () => {
    const two = { points: 2, duration: '1h' }
    it.each<[string, number, Partial<Options>]>([
      ['createThrottle() unless given', 10, {}],
      ['of the host’s own budgets', 2, { throttle: createThrottle({ budgets: { pair: two } }) }],
      ['none at all with false', 12, { throttle: false }],
    ])('%s: of a dozen wrong passwords %i are checked', async (_what, checked, options) => {
      const port = await start(router(options))
      const codes: number[] = []
      for (let i = 0; i < 12; i++) codes.push((await send(port, asJson({ ...GOOD, password: 'wrong' }))).status)
      expect(codes).toEqual([...Array(checked).fill(403), ...Array(12 - checked).fill(429)])
    })
  })

  describe('onEvent', () => {
    const base = { time: expect.any(Date), address: '127.0.0.1' }

    it.each<[string, object, object]>([
      ['an unknown e-mail', { email: 'nobody@example.com', password: 'x' }, { reason: 'unknown_account' }],
      ['a wrong password', { ...GOOD, password: 'x' }, { reason: 'wrong_password', accountId: 'acc-1' }],
      [
        'a disabled account',
        { ...GOOD, email: 'disabled@example.com' },
        { reason: 'account_disabled', accountId: 'acc-3' },
      ],
      ['no password', { ...GOOD, email: 'passwordless@example.com' }, { reason: 'no_password', accountId: 'acc-4' }],
    ])('is told of a refused login, and why: %s', async (_why, credentials, about) => {
      const events: Events = []
      await send(await start(router({ onEvent: (event) => events.push(event) })), asJson(credentials))
      expect(events).toEqual([{ type: 'token.refused', code: 'invalid_credentials', ...about, ...base }])
    })

    it('is told of a malformed request', async () => {
      const events: Events = []
      await send(await start(router({ onEvent: (event) => events.push(event) })), asJson({}))
      expect(events).toEqual([{ type: 'token.refused', code: 'invalid_body', ...base }])
    })

    it('is told of another method', async () => {
      const events: Events = []
      await send(await start(router({ onEvent: (event) => events.push(event) })), { method: 'PUT' })
      expect(events).toEqual([{ type: 'token.refused', code: 'method_not_allowed', ...base }])
    })

    it('is told of a token that was issued', async () => {
      const events: Events = []
      const tokens = makeIssuer()
      const port = await start(router({ tokens, onEvent: (event) => events.push(event) }))
      const { authenticationToken, expiration } = expectToken(await send(port, asJson(GOOD)))
      const { id } = await tokens.verify(authenticationToken)
      const issued = { accountId: 'acc-1', tokenId: id, expiresAt: new Date(expiration) }
      expect(events).toEqual([{ type: 'token.issued', ...issued, ...base }])
    })

    it('is told of a failure and its cause', async () => {
      const events: Events = []
      const error = new Error('down')
      const accounts = () => Promise.reject(error)
      await send(await start(router({ accounts, onEvent: (event) => events.push(event) })), asJson(GOOD))
      expect(events).toEqual([{ type: 'dependency.failed', dependency: 'accounts', refused: true, error, ...base }])
    })

    it('is told of a new hash that could not be stored; the login goes well', async () => {
      const events: Events = []
      const error = new Error('read only')
      const [old, current] = [countingHasher('old:'), countingHasher()]
      const passwords = createPasswords({ hashers: [current, old] })
      const accounts = {
        findByEmail: () => ({ ...ACCOUNTS.alice, passwordHash: `old:${GOOD.password}` }),
        replacePasswordHash: () => Promise.reject(error),
      }
      const port = await start(router({ passwords, accounts, onEvent: (event) => events.push(event) }))
      expectToken(await send(port, asJson(GOOD)))
      expect(events).toMatchObject([
        { type: 'dependency.failed', dependency: 'accounts', refused: false, error },
        { type: 'token.issued' },
      ])
    })

    it('is told of what nobody foresaw', async () => {
      const events: Events = []
      const error = new Error('the clock stopped')
      const now = () => {
        throw error
      }
      const tokens = { ...makeIssuer(), now }
      expectUnavailable(
        await send(await start(router({ tokens, onEvent: (event) => events.push(event) })), asJson(GOOD)),
      )
      expect(events).toEqual([{ type: 'dependency.failed', dependency: 'internal', refused: true, error, ...base }])
    })

    it('is told the e-mail address, as it was sent, where the host asks for it', async () => {
      const events: Events = []
      const port = await start(router({ emailInEvents: true, onEvent: (event) => events.push(event) }))
      await send(port, asJson({ ...GOOD, email: 'Nobody@Example.com' }))
      expectToken(await send(port, asJson(GOOD)))
      expect(events).toMatchObject([{ email: 'Nobody@Example.com' }, { email: GOOD.email }])
    })

    it('is told no e-mail address, no password, no hash and no token', async () => {
      const events: Events = []
      const port = await start(router({ onEvent: (event) => events.push(event) }))
      const { authenticationToken } = expectToken(await send(port, asJson(GOOD)))
      await send(port, asJson({ ...GOOD, password: 'zebra' }))
      await send(port, asJson({ ...GOOD, email: 'zebra@example.com' }))
      await send(port, { headers: JSON_TYPE, body: '{"password":"zebra"' })
      expect(events).toHaveLength(4)
      const told = JSON.stringify(events)
      for (const secret of ['zebra', GOOD.email, GOOD.password, 'plain:', authenticationToken]) {
        expect(told).not.toContain(secret)
      }
    })

    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('observer')
        },
      ],
      ['rejects', () => Promise.reject(new Error('observer'))],
      ['hangs', hang],
    ])('does no harm when it %s', async (_what, onEvent) => {
      const rejections = unhandledRejections()
      const port = await start(router({ onEvent }))
      expectToken(await send(port, asJson(GOOD)))
      expectForbidden(await send(port, asJson({ ...GOOD, password: 'wrong' })))
      expect(rejections).toEqual([])
    })
  })

  describe('forwardErrors', () => {
    async function forwarding(options: Partial<Options>) {
      const errors: unknown[] = []
      const handler: ErrorRequestHandler = (error, _req, res, _next) => {
        errors.push(error)
        res.status(599).end()
      }
      const app = express().use(router({ forwardErrors: true, ...options }), handler)
      return { port: (await listen(app)).port, errors }
    }

    it('hands a failure to the host’s error handler, with its cause', async () => {
      const cause = new Error('down')
      const { port, errors } = await forwarding({ accounts: () => Promise.reject(cause) })
      expect((await send(port, asJson(GOOD))).status).toBe(599)
      expect(errors).toHaveLength(1)
      expect(errors[0]).toBeInstanceOf(AuthError)
      expect(errors[0]).toMatchObject({ code: 'unavailable', status: 503, dependency: 'accounts', cause })
    })

    it('answers every other refusal itself', async () => {
      const { port, errors } = await forwarding({})
      expectToken(await send(port, asJson(GOOD)))
      expectForbidden(await send(port, asJson({ ...GOOD, password: 'wrong' })))
      expectBadRequest(await send(port, asJson({})))
      expectUnsupported(await send(port, {}))
      expectTooLarge(await send(port, { headers: JSON_TYPE, body: 'x'.repeat(10_241) }))
      expect((await send(port, { method: 'GET' })).status).toBe(405)
      expect(errors).toEqual([])
    })

    it('set to all, hands every refusal to the host’s error handler, with the headers of its response', async () => {
      const { port, errors } = await forwarding({ forwardErrors: 'all' })
      const refused = async (sent: Parameters<typeof send>[1]) => {
        expect((await send(port, sent)).status).toBe(599)
        return errors.splice(0)
      }
      const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
      expect(await refused(asJson({ ...GOOD, password: 'wrong' }))).toMatchObject([
        { code: 'invalid_credentials', headers },
      ])
      const [method] = (await refused({ method: 'PUT' })) as { headers: object }[]
      expect(method).toMatchObject({ code: 'method_not_allowed', status: 405 })
      expect(method?.headers).toEqual({ ...headers, Allow: 'POST' })
      const long = { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(10_241) }
      expect(await refused(long)).toMatchObject([
        { code: 'unsupported_media_type', headers: { ...headers, Connection: 'close' } },
      ])
      expectToken(await send(port, asJson(GOOD)))
    })

    it('into Express’s own error handler is a 503 with Retry-After', async () => {
      const app = express().use(router({ accounts: () => Promise.reject(new Error('down')), forwardErrors: true }))
      const answer = await send((await listen(app)).port, asJson(GOOD))
      expect(answer.status).toBe(503)
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    })

    it('without it, the host’s error handler is told of nothing', async () => {
      const { port, errors } = await forwarding({ forwardErrors: false, accounts: hang, timeout: '20ms' })
      expectUnavailable(await send(port, asJson(GOOD)))
      expect(errors).toEqual([])
    })
  })

  describe('when the host has answered already', () => {
    const impatient: RequestHandler = (_req, res, next) => {
      next()
      res.status(504).end('too late')
    }

    it.each<[string, object]>([
      ['a good login', asJson(GOOD)],
      ['a bad login', asJson({ ...GOOD, password: 'wrong' })],
      ['a malformed body', asJson({})],
      ['too large a body', { headers: JSON_TYPE, body: 'x'.repeat(20_000) }],
      [
        'too large a body in chunks',
        { headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(200_000) },
      ],
      ['another type in chunks', { headers: { 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(200_000) }],
    ])('%s takes nothing down', async (_what, sent) => {
      const rejections = unhandledRejections()
      const onEvent = vi.fn()
      const failed = vi.fn()
      const handler: ErrorRequestHandler = (error, _req, _res, _next) => failed(error)
      const port = await start(impatient, router({ onEvent }), handler as unknown as RequestHandler)
      expect(await send(port, sent)).toMatchObject({ status: 504, body: 'too late' })
      await vi.waitFor(() => expect(onEvent).toHaveBeenCalled())
      await new Promise(setImmediate)
      expect(rejections).toEqual([])
      expect(failed).not.toHaveBeenCalled()
    })
  })

  it('one connection keeps one listener, however many logins it brings', async () => {
    const sockets = new Set<Socket>()
    const listeners: number[] = []
    const port = await start(({ socket }, res, next) => {
      sockets.add(socket)
      res.once('finish', () => listeners.push(socket.listenerCount('close')))
      next()
    }, router())
    const sendKept = client(port, 1)
    for (let i = 0; i < 3; i++) await sendKept(asJson(GOOD))
    expect(sockets.size).toBe(1)
    expect(new Set(listeners).size).toBe(1)
  })

  it('a host that closes its connections, to shut down, has each answer ended with its last byte', async () => {
    let last: import('express').Response | undefined
    const port = await start((_req, res, next) => {
      last = res.setHeader('Connection', 'close')
      next()
    }, router())
    const isEnded = () => expect(last?.writableEnded).toBe(true)
    expectToken(await send(port, asJson(GOOD)))
    isEnded()
    expectForbidden(await send(port, asJson({ ...GOOD, password: 'wrong' })))
    isEnded()
    expectBadRequest(await send(port, asJson({})))
    isEnded()
  })

  describe('made of options', () => {
    it('leaves the caller’s object alone, and takes undefined for absent', async () => {
      const given = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
      const absent = {
        path: undefined,
        bodyLimit: undefined,
        timeout: undefined,
        onEvent: undefined,
        forwardErrors: undefined,
      }
      const options = Object.freeze({ ...given, ...absent }) as unknown as Options
      expectToken(await send(await start(tokenRouter(options)), asJson(GOOD)))
    })

    it.each([1, 1024, 1_048_576, '1024', '1b', '10kb', '10 KB', '1mb', '1.5kb', '1.25kb'])(
      'bodyLimit: %j',
      (bodyLimit) => {
        expect(() => router({ bodyLimit })).not.toThrow()
      },
    )

    const half = () => true
    it.each<[string, object, RegExp]>([
      ['passwords that only verify', { passwords: { verify: half } }, /"passwords" must be what createPasswords/],
      ['passwords that only hash', { passwords: { hash: half } }, /"passwords" must be what createPasswords/],
      ['passwords: argon2id()', { passwords: argon2id() }, /"passwords" must be .* Pass hashers to createPasswords/],
      ['a throttle that is true', { throttle: true }, /"throttle" must be what createThrottle\(\) returned, or false/],
      ['a throttle that is null', { throttle: null }, /"throttle" must be what createThrottle/],
      ['a throttle of budgets', { throttle: { budgets: {} } }, /Pass the object to createThrottle\(\) first/],
    ])('TypeError for %s', (_what, options, message) => {
      expect(() => router(options as never)).toThrow(TypeError)
      expect(() => router(options as never)).toThrow(message)
    })

    it.each([0.001, 5, 60, '1ms', '5s', '5 seconds', '1m'])('timeout: %j', (timeout) => {
      expect(() => router({ timeout })).not.toThrow()
    })

    const tokens = makeIssuer()
    const accounts = () => null
    const good = { tokens, accounts }
    const secret = 'zebra-zebra-zebra'
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })
    it.each<[string, unknown, RegExp]>([
      ['nothing', undefined, /"tokens" .*missing/],
      ['null', null, /"tokens"|options object/],
      ['a string', secret, /options object/],
      ['an array', [good], /options object/],
      ['a function', accounts, /options object/],
      ['tokens: missing', { accounts }, /"tokens" .*missing/],
      ['tokens: a verifier', { tokens: verifier, accounts }, /"tokens".*createTokenIssuer.*verifier/i],
      ['tokens: a secret', { tokens: secret, accounts }, /"tokens"/],
      ['tokens: options of an issuer', { tokens: { issuer: ISSUER, keys: secret }, accounts }, /"tokens"/],
      [
        'tokens: null',
        { tokens: null, accounts },
        /"tokens" must be what createTokenIssuer\(\) returned, but is null$/,
      ],
      ['tokens: an object that only issues', { tokens: { issue: accounts }, accounts }, /"tokens" must be what/],
      ['tokens: an object that only has a clock', { tokens: { now: accounts }, accounts }, /"tokens" must be what/],
      ['tokens under the name of issuer', { issuer: tokens, accounts }, /"issuer".*"tokens"/],
      ['accounts: missing', { tokens }, /"accounts" .*missing/],
      ['accounts: null', { tokens, accounts: null }, /"accounts"/],
      ['accounts: a list', { tokens, accounts: [ACCOUNTS.alice] }, /"accounts"/],
      [
        'accounts: a store without findByEmail',
        { tokens, accounts: { findById: accounts } },
        /"accounts".*findByEmail/,
      ],
      ['accounts: a promise of a store', { tokens, accounts: Promise.resolve(makeStore()) }, /"accounts".*await/],
      ...[
        ['tokenIssuer', 'tokens'],
        ['account', 'accounts'],
        ['findAccount', 'accounts'],
        ['findByEmail', 'accounts'],
        ['store', 'accounts'],
        ['users', 'accounts'],
        ['limiter', 'throttle'],
        ['rateLimit', 'throttle'],
        ['url', 'path'],
      ].map(([name = '', meant]): [string, unknown, RegExp] => [
        `${meant} under the name of ${name}`,
        { ...good, [name]: secret },
        new RegExp(`unknown option "${name}"\\. Did you mean "${meant}"\\?`),
      ]),
      ['an unknown option', { ...good, colour: secret }, /"colour"/],
      ['other letters', { ...good, bodylimit: 1 }, /"bodylimit".*"bodyLimit"/],
      ['limit', { ...good, limit: 1 }, /"limit".*"bodyLimit"/],
      ['hashers', { ...good, hashers: [] }, /"hashers".*"passwords"/],
      [
        'passwords: a hasher',
        { ...good, passwords: { accepts: accounts, verify: accounts } },
        /"passwords".*createPasswords/,
      ],
      ['passwords: a list of hashers', { ...good, passwords: [countingHasher()] }, /"passwords".*createPasswords/],
      ['passwords: a function', { ...good, passwords: accounts }, /"passwords"/],
      ['passwords: null', { ...good, passwords: null }, /"passwords"/],
      ...[
        '',
        'token',
        '/token/',
        '//token',
        '/a//b',
        '/:id',
        '/a/:id?',
        '/a*',
        '/*path',
        '/(.*)',
        '/a+',
        '/{a}',
        '/a?b=c',
        '/a#b',
        '/a b',
        '/é',
        '/%61',
        '/a\n',
        'https://api.example.com/token',
        1,
        null,
        ['/a'],
        /a/,
      ].map((path): [string, unknown, RegExp] => [`path: ${JSON.stringify(path)}`, { ...good, path }, /"path"/]),
      ...[
        0,
        -1,
        1.5,
        Number.NaN,
        Infinity,
        1_048_577,
        '0',
        '2mb',
        '1gb',
        '-1kb',
        '+1kb',
        ' 1kb',
        '0.5b',
        '',
        'ten',
        'kb',
        '10kib',
        '10 kilobytes',
        '1e3',
        '10kb!',
        '10 000',
        true,
        null,
        {},
        [10],
      ].map((bodyLimit): [string, unknown, RegExp] => [
        `bodyLimit: ${typeof bodyLimit === 'number' ? bodyLimit : JSON.stringify(bodyLimit)}`,
        { ...good, bodyLimit },
        /"bodyLimit" must be a number of bytes or a string like '10kb', from 1 byte to 1 MB/,
      ]),
      ...[0, -1, Number.NaN, Infinity, 61, 5000, '5', '5 apples', '2m', '', true, null].map(
        (timeout): [string, unknown, RegExp] => [
          `timeout: ${typeof timeout === 'number' ? timeout : JSON.stringify(timeout)}`,
          { ...good, timeout },
          /"timeout"/,
        ],
      ),
      ['onEvent: an object', { ...good, onEvent: console }, /"onEvent"/],
      ['onEvent: null', { ...good, onEvent: null }, /"onEvent"/],
      ['forwardErrors: a string', { ...good, forwardErrors: 'false' }, /"forwardErrors"/],
      ['forwardErrors: 0', { ...good, forwardErrors: 0 }, /"forwardErrors"/],
    ])('TypeError: %s', (_what, options, message) => {
      const make = () => tokenRouter(options as Options)
      expectMisuse(make, /^tokenRouter: /)
      expectMisuse(make, message, [secret])
    })
  })
})
