// Tests features/sign-in.ts login/login-refusals.ts login/issuing.ts

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { AccountLookup, AccountStore } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, vi } from 'vitest'
import { until } from '../../support/concurrency.js'
import { decodePayload } from '../../support/fixtures.js'
import {
  asForm,
  asJson,
  expectBadRequest,
  expectForbidden,
  expectToken,
  expectTooLarge,
  expectUnavailable,
  expectUnsupported,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  passFailuresOn,
  passOn,
  type Sent,
  send,
  unhandledRejections,
} from '../../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'

const WRONG = asJson({ ...GOOD, password: 'wrong' })
const CHUNKED = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }
const typed = (type: string): Sent => ({ headers: { 'Content-Type': type }, body: GOOD_JSON })

describe.each(EXPRESS)('tokenRouter, on %s', async (_name, express) => {
  const { AuthError, authOf, createPasswords, createLimits, requireBearer, tokenRouter, ...others } =
    await packageOn(express)
  const { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore } = others

  type Options = Parameters<typeof tokenRouter>[0]
  type Events = Parameters<NonNullable<Options['onEvent']>>[0][]

  const router = (options: Partial<Options> = {}) =>
    tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), ...options })
  const start = async (...handlers: RequestHandler[]) => (await listen(express().use(...handlers))).port
  const serve = (options?: Partial<Options>) => start(router(options))

  describe('beside parsers of the host', () => {
    const json = () => express.json()
    const extended = () => express.urlencoded({ extended: true })
    const simple = () => express.urlencoded({ extended: false })
    it.each<[string, RequestHandler[]]>([
      ['none', []],
      ['express.json()', [json()]],
      ['express.urlencoded({ extended: true })', [extended()]],
      ['express.urlencoded({ extended: false })', [simple()]],
      ['express.json() and express.urlencoded({ extended: true })', [json(), extended()]],
      ['express.urlencoded({ extended: false }) and express.json()', [simple(), json()]],
      ['express.json() twice', [json(), json()]],
      ['express.raw() for another type', [express.raw()]],
      ['express.raw() for every type', [express.raw({ type: '*/*' })]],
      ['express.text() for another type', [express.text()]],
    ])('%s', async (_parsers, parsers) => {
      const port = await start(...parsers, router())
      const each = async (expectation: (answer: Awaited<ReturnType<typeof send>>) => unknown, ...all: Sent[]) => {
        for (const sent of all) expectation(await send(port, sent))
      }
      await each(expectToken, asJson(GOOD), { headers: CHUNKED, body: GOOD_JSON }, asForm(GOOD_FORM))
      await each(expectForbidden, WRONG, asForm('email=&password='))
      const invalid = [{}, [GOOD], { ...GOOD, password: 1 }, { ...GOOD, password: [GOOD.password] }]
      await each(expectBadRequest, ...invalid.map(asJson), { headers: JSON_TYPE, body: '' })
      const brackets = ['email[a]=x&password=y', '__proto__[email]=x&__proto__[password]=y']
      await each(expectBadRequest, ...['', `${GOOD_FORM}&password=x`, ...brackets].map(asForm))
      await each(expectUnsupported, typed('text/plain'), typed('application/problem+json'), {})
      await each(expectTooLarge, asJson({ ...GOOD, x: 'x'.repeat(10_240) }))
      await each(({ status }) => expect(status).toBe(405), { method: 'PUT', ...asJson(GOOD) })
    })

    it('express.raw(): the size and the text are held to the same rules', async () => {
      const port = await start(express.raw({ type: '*/*' }), router({ bodyLimit: 100 }))
      expectTooLarge(await send(port, { headers: CHUNKED, body: JSON.stringify({ ...GOOD, x: 'x'.repeat(100) }) }))
      expectBadRequest(await send(port, { headers: JSON_TYPE, body: '{' }))
      expectBadRequest(await send(port, { headers: JSON_TYPE, body: Buffer.from([0x22, 0xff, 0x22]) }))
      expectBadRequest(await send(port, asForm('email=x&password=%')))
    })

    it('a parser that takes JSON for every type makes no further encoding', async () => {
      const port = await start(express.json({ type: '*/*' }), router())
      expectUnsupported(await send(port, typed('text/plain')))
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

  it.each<[string, boolean, (text: string) => unknown]>([
    ['a value', true, JSON.parse],
    ['bytes', true, (text) => Buffer.from(text)],
    ['a Uint8Array', true, (text) => new TextEncoder().encode(text)],
    ['an object without a prototype', true, (text) => Object.assign(Object.create(null), JSON.parse(text))],
    ['a prototype', false, (text) => Object.create(JSON.parse(text))],
    ['nothing', false, () => undefined],
  ])('a body of which somebody else has made %s is taken: %s', async (_what, taken, bodyOf) => {
    const consume: RequestHandler = async (req, _res, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      const body = bodyOf(Buffer.concat(chunks).toString())
      if (body !== undefined) req.body = body
      next()
    }
    const answer = await send(await start(consume, router()), asJson(GOOD))
    if (taken) expectToken(answer)
    else expectBadRequest(answer)
  })

  describe('in a host app', () => {
    it('under a prefix, a prefix with a parameter, and behind a second router', async () => {
      const app = express()
        .use('/clearing', router())
        .use('/houses/:house', router())
        .use('/a', express.Router().use('/b', express.Router().use(router())))
      for (const prefix of ['/clearing', '/houses/north', '/a/b']) {
        await request(app).post(`${prefix}${TOKEN_PATH}`).send(GOOD).expect(200)
        await request(app).get(`${prefix}${TOKEN_PATH}`).expect(405)
      }
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

    it('hands the error of a middleware that fails while a response is sent to the error handler', async () => {
      const failing: RequestHandler = (_req, res, next) => {
        const { end } = res
        res.end = () => {
          res.end = end
          throw new Error('compression')
        }
        next()
      }
      const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.end(error.message)
      const { port } = await listen(express().use(failing, router()).use(onError))
      const answer = await send(port, { ...WRONG, headers: { ...WRONG.headers, Connection: 'close' } })
      expect(answer).toMatchObject({ status: 403 })
    })

    it('lets every other path through to what comes behind', async () => {
      const behind: RequestHandler = (req, res) => {
        res.json({ path: req.path, body: req.body ?? null })
      }
      const app = express().use(router(), express.json(), behind)
      const other = { path: '/other', body: { a: 1 } }
      await request(app).post('/other').send({ a: 1 }).expect(200, other)
      await request(app).get(`${TOKEN_PATH}/`).expect(200)
      await request(app).post(TOKEN_PATH.toUpperCase()).send({}).expect(200)
      await request(app).post(TOKEN_PATH).send({}).expect(400)
    })

    it('has nothing of the host’s settings in its answers, and keeps the headers that the host has set', async () => {
      const app = express()
        .set('etag', 'strong')
        .set('json spaces', 2)
        .set('json replacer', () => 'x')
        .use((_req, res, next) => {
          res.setHeader('Strict-Transport-Security', 'max-age=1')
          next()
        }, router())
      const { port } = await listen(app)
      const answer = await send(port, asJson(GOOD))
      expectToken(answer)
      for (const { headers } of [answer, await send(port, asJson({}))]) {
        expect(headers['strict-transport-security']).toBe('max-age=1')
      }
    })
  })

  it('adds nothing to the request that Passport adds', async () => {
    const keys: string[] = []
    const port = await start((req, res, next) => {
      res.once('finish', () => keys.push(...Object.keys(req)))
      next()
    }, router())
    expectToken(await send(port, asJson(GOOD)))
    await until(() => expect(keys).toContain('url'))
    for (const name of 'login logout isAuthenticated user account authInfo auth _passport'.split(' ')) {
      expect(keys).not.toContain(name)
    }
  })

  describe('accounts', () => {
    const known = (email: string) => (email === GOOD.email ? ACCOUNTS.alice : null)
    class Store {
      #accounts = makeStore()
      findByEmail(email: string) {
        return this.#accounts.findByEmail(email)
      }
    }
    it.each<[string, AccountLookup | AccountStore]>([
      ['a function', known],
      ['an async function', async (email) => known(email) ?? undefined],
      ['a store', { findByEmail: known }],
      ['an object of a class, whose method is called on it', new Store()],
    ])('%s', async (_what, accounts) => {
      const port = await serve({ accounts })
      expectToken(await send(port, asJson(GOOD)))
      expectForbidden(await send(port, asJson({ ...GOOD, email: 'nobody@example.com' })))
    })

    it.each<[string, object, object]>([
      ['its scopes', {}, { scopes: ['reports:read'] }],
      ['no scopes when it has none', { scopes: undefined }, { scopes: [] }],
      ['no scopes when they are null', { scopes: null }, { scopes: [] }],
      ['its claims', { claims: { house: 'north' } }, { claims: { house: 'north' } }],
      ['its lifetime', { lifetime: '5m' }, { minutes: 5 }],
    ])('give a token %s', async (_what, about, expected) => {
      const tokens = makeIssuer()
      const port = await serve({ tokens, accounts: () => ({ ...ACCOUNTS.alice, ...about }) })
      const { authenticationToken } = expectToken(await send(port, asJson(GOOD)))
      const { scopes, claims } = await tokens.verify(authenticationToken)
      const { iat, exp } = decodePayload(authenticationToken) as { iat: number; exp: number }
      const minutes = (exp - iat) / 60
      expect({ scopes, claims, minutes }).toMatchObject(expected)
    })
  })

  it('passwords: createPasswords() unless given', async () => {
    const passwordHash = await createPasswords().hash(GOOD.password)
    const port = await start(
      tokenRouter({ tokens: makeIssuer(), accounts: () => ({ ...ACCOUNTS.alice, passwordHash }) }),
    )
    expectToken(await send(port, asJson(GOOD)))
    expectForbidden(await send(port, WRONG))
  })

  it.each<[string, number, Partial<Options>]>([
    ['createLimits() unless given', 10, {}],
    ['of the host’s own limits', 2, { limits: createLimits({ limits: { pair: { points: 2, duration: '1h' } } }) }],
    ['none at all with false', 12, { limits: false }],
  ])('limits: %s: of a dozen wrong passwords %i are checked', async (_what, checked, options) => {
    const port = await serve(options)
    const codes: number[] = []
    for (let i = 0; i < 12; i++) codes.push((await send(port, WRONG)).status)
    expect(codes).toEqual([...Array(checked).fill(403), ...Array(12 - checked).fill(429)])
  })

  describe('onEvent', () => {
    const base = { time: expect.any(Date), address: '127.0.0.1' }
    const observed = async (options: Partial<Options> = {}) => {
      const events: Events = []
      return { port: await serve({ onEvent: (event) => events.push(event), ...options }), events }
    }
    const invalid = (reason: string, accountId?: string) => ({
      code: 'invalid_credentials',
      reason,
      ...(accountId && { accountId }),
    })
    const as = (change: object) => asJson({ ...GOOD, ...change })

    it.each<[string, Sent, object]>([
      ['an unknown e-mail', as({ email: 'nobody@example.com' }), invalid('unknown_account')],
      ['a wrong password', WRONG, invalid('wrong_password', 'acc-1')],
      ['a disabled account', as({ email: 'disabled@example.com' }), invalid('account_disabled', 'acc-3')],
      ['no password', as({ email: 'passwordless@example.com' }), invalid('no_password', 'acc-4')],
      ['a malformed request', asJson({}), { code: 'invalid_body' }],
      ['another method', { method: 'PUT' }, { code: 'method_not_allowed' }],
    ])('is told of a refused request, and why: %s', async (_why, sent, about) => {
      const { port, events } = await observed()
      await send(port, sent)
      expect(events).toEqual([{ type: 'token.refused', ...about, ...base }])
    })

    it('is told of a token that was issued', async () => {
      const tokens = makeIssuer()
      const { port, events } = await observed({ tokens })
      const { authenticationToken, expiration } = expectToken(await send(port, asJson(GOOD)))
      const { id } = await tokens.verify(authenticationToken)
      const issued = { accountId: 'acc-1', tokenId: id, expiresAt: new Date(expiration) }
      expect(events).toEqual([{ type: 'token.issued', ...issued, ...base }])
    })

    const error = new Error('down')
    const fails = () => {
      throw error
    }
    it.each<[string, Partial<Options>]>([
      ['accounts', { accounts: fails }],
      ['internal', { tokens: { ...makeIssuer(), now: fails } }],
    ])('is told of a failure of %s, and its cause', async (dependency, options) => {
      const { port, events } = await observed(options)
      expectUnavailable(await send(port, asJson(GOOD)))
      expect(events).toEqual([{ type: 'dependency.failed', dependency, refused: true, error, ...base }])
    })

    it('is told of a new hash that could not be stored; the login goes well', async () => {
      const passwords = createPasswords({ hashers: [countingHasher(), countingHasher('old:')] })
      const findByEmail = () => ({ ...ACCOUNTS.alice, passwordHash: `old:${GOOD.password}` })
      const { port, events } = await observed({ passwords, accounts: { findByEmail, replacePasswordHash: fails } })
      expectToken(await send(port, asJson(GOOD)))
      expect(events).toMatchObject([
        { type: 'dependency.failed', dependency: 'accounts', refused: false, error },
        { type: 'token.issued' },
      ])
    })

    it('is told the e-mail address, as it was sent, where the host asks for it', async () => {
      const { port, events } = await observed({ emailInEvents: true })
      await send(port, as({ email: 'Nobody@Example.com' }))
      expectToken(await send(port, asJson(GOOD)))
      expect(events).toMatchObject([{ email: 'Nobody@Example.com' }, { email: GOOD.email }])
    })
  })

  describe('refuse', () => {
    async function forwarding(options: Partial<Options>) {
      const errors: unknown[] = []
      const handler: ErrorRequestHandler = (error, _req, res, _next) => {
        errors.push(error)
        res.status(599).end()
      }
      const port = await start(router(options), handler as unknown as RequestHandler)
      return { port, errors }
    }

    it('may pass a failure on to the host’s error handler, with its cause', async () => {
      const cause = new Error('down')
      const { port, errors } = await forwarding({ refuse: passFailuresOn, accounts: () => Promise.reject(cause) })
      expect((await send(port, asJson(GOOD))).status).toBe(599)
      expect(errors).toMatchObject([{ code: 'unavailable', status: 503, dependency: 'accounts', cause }])
      expect(errors[0]).toBeInstanceOf(AuthError)
    })

    it('leaves every other refusal as it is', async () => {
      const { port, errors } = await forwarding({ refuse: passFailuresOn })
      expectToken(await send(port, asJson(GOOD)))
      expectForbidden(await send(port, WRONG))
      expectBadRequest(await send(port, asJson({})))
      expectUnsupported(await send(port, {}))
      expectTooLarge(await send(port, { headers: JSON_TYPE, body: 'x'.repeat(10_241) }))
      expect((await send(port, { method: 'GET' })).status).toBe(405)
      expect(errors).toEqual([])
    })

    it('may pass every refusal on to the host’s error handler, with the headers of its response', async () => {
      const { port, errors } = await forwarding({ refuse: passOn })
      const long = { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(100_000) }
      const sent = [await send(port, WRONG), await send(port, { method: 'PUT' }), await send(port, long)]
      expectToken(await send(port, asJson(GOOD)))
      const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
      expect(errors).toMatchObject([
        { code: 'invalid_credentials', status: 403, headers },
        { code: 'method_not_allowed', status: 405, headers: { ...headers, Allow: 'POST' } },
        { code: 'unsupported_media_type', status: 415, headers },
      ])
      const kept = { 'cache-control': 'no-store', pragma: 'no-cache' }
      expect(sent).toMatchObject([
        { status: 599, headers: kept },
        { status: 599, headers: { ...kept, allow: 'POST' } },
        { status: 599, headers: { ...kept, connection: 'close' } },
      ])
    })
  })

  it.each<[string, Sent]>([
    ['a good login', asJson(GOOD)],
    ['a bad login', WRONG],
    ['a malformed body', asJson({})],
    ['too large a body', { headers: JSON_TYPE, body: 'x'.repeat(20_000) }],
    ['too large a body in chunks', { headers: CHUNKED, body: 'x'.repeat(200_000) }],
    ['another type in chunks', { headers: { 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(200_000) }],
  ])('when the host has answered already, %s takes nothing down', async (_what, sent) => {
    const rejections = unhandledRejections()
    const onEvent = vi.fn()
    const failed = vi.fn()
    const impatient: RequestHandler = (_req, res, next) => {
      next()
      res.status(504).end('too late')
    }
    const handler: ErrorRequestHandler = (error, _req, _res, _next) => failed(error)
    const port = await start(impatient, router({ onEvent }), handler as unknown as RequestHandler)
    expect(await send(port, sent)).toMatchObject({ status: 504, body: 'too late' })
    await until(() => expect(onEvent).toHaveBeenCalled())
    await new Promise(setImmediate)
    expect([...rejections, ...failed.mock.calls]).toEqual([])
  })

  it('a host that closes its connections, to shut down, has each answer ended with its last byte', async () => {
    let last: Request['res']
    const port = await start((_req, res, next) => {
      last = res.setHeader('Connection', 'close')
      next()
    }, router())
    for (const [sent, status] of [
      [asJson(GOOD), 200],
      [WRONG, 403],
      [asJson({}), 400],
    ] as const) {
      expect((await send(port, sent)).status).toBe(status)
      expect(last?.writableEnded).toBe(true)
    }
  })
})
