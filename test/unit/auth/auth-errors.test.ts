// Tests http/parser-refusal.ts

import type { ErrorRequestHandler } from 'express'
import {
  AuthError,
  type AuthEvent,
  createLimits,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { BearerStrategy, LoginStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import request from 'supertest'
import { describe, expect, it, vi } from 'vitest'
import { authWith } from '../../support/auth.js'
import { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { passFailuresOn, passOn, sendEndlessly } from '../../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'

const { alice } = ACCOUNTS
const GOOD = { email: alice.email, password: PASSWORD }
const WRONG = { ...GOOD, password: 'wrong' }
const tokens = makeIssuer()

describe.each(EXPRESS)('auth.errors, on %s', (_version, express) => {
  const appOf = (options: object = {}) => authWith({ accounts: makeStore(), ...options })
  const errorsOf = (options: object = {}) => appOf(options).errors

  it('sends the refusals of routes of the host as the router does', async () => {
    const { logIn, errors } = appOf({
      limits: createLimits({ limits: { account: { points: 1, duration: '1h' } } }),
    })
    const app = express().use(express.json())
    app.post('/own', (req, res, next) => void logIn(req.body, req).then(({ account }) => res.json(account), next))
    app.get('/own', (req, res, next) => void tokens.verify(req.headers.authorization ?? '').then(() => res.end(), next))
    app.use(errors)
    await request(app).post('/own').send(GOOD).expect(200)
    const wrong = await request(app).post('/own').send(WRONG).expect(403)
    expect([wrong.text, wrong.headers['cache-control']]).toEqual(['', 'no-store'])
    const limited = await request(app).post('/own').send(GOOD).expect(429)
    expect(limited.body).toMatchObject({ code: 'too_many_attempts', status: 429 })
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
    await request(app).post('/own').send({}).expect(400).expect('Content-Type', 'application/problem+json')
    const { headers } = await request(app).get('/own').expect(401)
    expect(headers['www-authenticate']).toBe(
      'Bearer realm="", error="invalid_token", error_description="The access token is not valid."',
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
    const answer = await request(app.use(errorsOf())).get('/own').expect(403)
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
      const app = express().use(parsers, errorsOf(), onError)
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
    await request(app.use(errorsOf(), onError)).get('/')
    expect(onError.mock.calls[0]?.[0]).toBe(thrown)
  })

  it('makes a refusal of an error of 400 with a type and a body, also as text', async () => {
    const app = express().get('/', (_req, _res, next) => next({ type: 'own', status: 400, body: 'hunter2' }))
    const { body } = await request(app.use(errorsOf())).get('/').expect(400)
    expect(body).toMatchObject({ code: 'invalid_body', detail: 'The request body is malformed.' })
  })

  it('closes the connection after a body that nobody has read', async () => {
    const refusal = new AuthError('invalid_credentials')
    const { port } = await listen(
      express().use((_req: unknown, _res: unknown, next: (error: Error) => void) => next(refusal), errorsOf()),
    )
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n'
    expect(await sendEndlessly(port, head, 'x'.repeat(0x4000))).toMatch(
      /^HTTP\/1.1 403 [\s\S]*\r\nConnection: close\r\n/,
    )
  })

  it('reports the refusal of a guard as one', async () => {
    const onEvent = vi.fn()
    const app = express().get('/', (_req, _res, next) => next(new AuthError('insufficient_scope')))
    const { headers } = await request(app.use(errorsOf({ onEvent })))
      .get('/')
      .set('Connection', 'keep-alive')
      .expect(403)
    expect(headers['connection']).toBe('keep-alive')
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'bearer.refused', code: 'insufficient_scope' }]])
  })

  it('passes a refusal on when a response has begun', async () => {
    const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.end())
    const refusal = new AuthError('invalid_credentials')
    const app = express().get('/own', (_req, res, next) => {
      res.write('begun')
      next(refusal)
    })
    await request(app.use(errorsOf(), onError)).get('/own').expect(200, 'begun')
    expect(onError.mock.calls[0]?.[0]).toBe(refusal)
  })

  const down = { ...tokens, issue: () => Promise.reject(new AuthError('unavailable', { dependency: 'keys' })) }
  const failing = () => Promise.reject(new Error('down'))
  const bearer = ['Authorization', 'Bearer x'] as const
  const parts = (events: Pick<TokenRouterOptions, 'onEvent'>) => {
    const { logIn } = appOf(events)
    const ownGuard = requireBearer({ tokens, ...events })
    const guards = requireBearer({ tokens: { ...tokens, verify: failing }, refuse: passFailuresOn, ...events })
    const broken = { accounts: failing, passwords: fastPasswords(), limits: false, ...events } as const
    const fine = { accounts: makeStore(), passwords: fastPasswords(), limits: false } as const
    const passport = new Passport().use(new LoginStrategy(broken))
    passport.use(new BearerStrategy({ tokens: { ...tokens, verify: failing }, ...events }))
    const app = express().use('/login', passport.authenticate('login', { session: false }))
    app.use('/passport', passport.authenticate('bearer', { session: false }), guards)
    app.use('/guard', guards)
    app.use('/all', requireBearer({ tokens, refuse: passOn, ...events }))
    app.use('/503', tokenRouter({ tokens, ...broken, path: '/', refuse: passFailuresOn }))
    app.use('/403', tokenRouter({ tokens, ...fine, path: '/', refuse: passOn, ...events }))
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
    const app = parts({ onEvent }).use(errorsOf({ onEvent }))
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
    await request(parts({}).use(errorsOf()))
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
      .use(errorsOf({ onEvent }))
    for (const path of ['/guard', '/own', '/guard', '/own', '/kept', '/kept', '/kept']) {
      await request(app)
        .get(path)
        .set(...bearer)
        .expect(503)
      expect(events.splice(0)).toMatchObject([failed('keys')])
    }
  })

  it('keeps the headers of refusals that a router passes on, and passes other errors on', async () => {
    const app = express().use(appOf({ refuse: passOn }).router, errorsOf())
    app.get('/bug', () => {
      throw new Error('bug')
    })
    const onError: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).send('own')
    app.use(onError)
    await request(app).put(TOKEN_PATH).expect(405).expect('Allow', 'POST')
    await request(app).post(TOKEN_PATH).send(WRONG).expect(403)
    await request(app).get('/bug').expect(500, 'own')
  })
})
