// Tests passport/{bearer-strategy,login-strategy,passport-actions}.ts

import { issueNow } from '../../support/fixtures.js'
import 'reflect-metadata'
import { createRequire } from 'node:module'
import { PassportStrategy } from '@nestjs/passport'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import {
  authOf,
  type BeforeSignIn,
  createLimits,
  memoryStore,
  type Refuse,
  requireBearer,
  SignInRefusal,
  tokenRouter,
  type VerifiedToken,
} from 'express-token-endpoint'
import {
  BearerStrategy,
  type BearerStrategyOptions,
  type BearerVerify,
  LoginStrategy,
  type LoginVerify,
} from 'express-token-endpoint/passport'
import passport from 'passport'
import request from 'supertest'
import { describe, expect, it, vi } from 'vitest'
import { logInWith } from '../../support/auth.js'
import { until } from '../../support/concurrency.js'
import { expectMisuse, fatalErrors, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { passFailuresOn, passOn, sendEndlessly } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'
import { polluted } from '../../support/pollution.js'

type Strategy = BearerStrategy | LoginStrategy

const { alice } = ACCOUNTS
const tokens = makeIssuer()
const accounts = makeStore()
const passwords = fastPasswords()
const bearerOf = (accountId = alice.id, scopes = ['a']) => `Bearer ${issueNow(tokens, { accountId, scopes }).token}`

const onError: ErrorRequestHandler = ({ status = 500, headers = {}, code, message }, _req, res, _next) => {
  res.status(status).set(headers).json({ code, message })
}

/** An app that authenticates every request by one strategy, selected by its name, and shows what Passport set. */
function appOf(strategy: Strategy, own = new passport.Passport()): Express {
  own.use(strategy)
  const app = express()
  app.all('/', own.authenticate(strategy.name, { session: false }), (req, res) => {
    res.json({ user: req.user ?? null, info: req.authInfo ?? null, auth: req.auth?.id ?? null })
  })
  app.use(onError)
  return app
}

describe('BearerStrategy', () => {
  const ask = (app: Express, authorization?: string) =>
    authorization === undefined ? request(app).get('/') : request(app).get('/').set('Authorization', authorization)

  it('sets req.user and req.authInfo to the verified token, and req.auth for authOf', async () => {
    const { body, status } = await ask(appOf(new BearerStrategy({ tokens })), bearerOf())
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ accountId: alice.id, scopes: ['a'] })
    expect(body.info).toEqual(body.user)
    expect(body.auth).toBe(body.user.id)
  })

  it('sets req.user to the account without its password hash where accounts is given', async () => {
    const { body } = await ask(appOf(new BearerStrategy({ tokens, accounts })), bearerOf())
    expect(body.user).toMatchObject({ id: alice.id })
    expect(body.user).not.toHaveProperty('passwordHash')
    expect(body.info).toMatchObject({ accountId: alice.id })
  })

  it.each<[string, string | undefined, number, string | undefined, Partial<BearerStrategyOptions>?]>([
    ['no token', undefined, 401, 'Bearer realm="https://api.example.com"'],
    ['an invalid token', 'Bearer x.y.z', 401, 'error="invalid_token"'],
    ['another scheme', 'Basic abc', 401, 'Bearer realm='],
    ['malformed credentials', 'Bearer a b', 400, undefined],
    ['a missing scope', bearerOf(), 403, undefined, { scope: 'b' }],
  ])(
    'answers %s, and with a challenge where the status is 401',
    async (_, authorization, status, challenge, options = {}) => {
      const answer = await ask(appOf(new BearerStrategy({ tokens, ...options })), authorization)
      const expected = challenge && expect.stringContaining(challenge)
      expect([answer.status, answer.headers['www-authenticate'], answer.body]).toEqual([status, expected, {}])
    },
  )

  it('passes a request without a token when it is optional, and refuses an invalid one', async () => {
    const app = appOf(new BearerStrategy({ tokens, optional: true }))
    expect((await ask(app)).body).toEqual({ user: null, info: null, auth: null })
    expect((await ask(app, 'Bearer x.y.z')).status).toBe(401)
  })

  it('removes the account that an earlier guard set, when it forgives the token', async () => {
    const app = express().use(requireBearer({ tokens, accounts }))
    app.use(appOf(new BearerStrategy({ tokens, optional: 'lenient', isRevoked: () => true, onEvent() {} })))
    expect((await ask(app, bearerOf())).body).toEqual({ user: null, info: null, auth: null })
  })

  it('shows its parent no token that a polluted prototype has', async () => {
    const strategy = new BearerStrategy({ tokens })
    const ended = (authorization: string | undefined) =>
      new Promise<string>((resolve) => {
        const ends = { success: () => resolve('success'), fail: () => resolve('fail'), error: () => resolve('error') }
        const rawHeaders = authorization === undefined ? [] : ['Authorization', authorization]
        const req = { method: 'GET', headers: { authorization }, rawHeaders, httpVersionMajor: 1 }
        Object.assign(Object.create(strategy), ends).authenticate(req)
      })
    const access_token = bearerOf().slice(7)
    const ends = await polluted({ query: { access_token }, authorization: `Bearer ${access_token}` }, async () => [
      await ended(`Bearer ${access_token}`),
      await ended(undefined),
    ])
    expect(ends).toEqual(['success', 'fail'])
  })

  it('hands a failing dependency to the error handler, with Retry-After', async () => {
    const isRevoked = () => Promise.reject(new Error('down'))
    const answer = await ask(appOf(new BearerStrategy({ tokens, isRevoked, onEvent: () => {} })), bearerOf())
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'unavailable', '5'])
  })

  it('reports refusals to onEvent', async () => {
    const onEvent = vi.fn()
    await ask(appOf(new BearerStrategy({ tokens, onEvent })), 'Bearer x.y.z')
    const address = expect.stringMatching(/127\.0\.0\.1$/)
    expect(onEvent.mock.calls).toMatchObject([
      [{ type: 'bearer.refused', code: 'invalid_token', reason: 'malformed', address }],
    ])
  })

  it.each<[string, BearerVerify, number, object]>([
    [
      'changes the user',
      (user, auth, done) => done(null, { name: user === auth && auth.accountId }),
      200,
      { user: { name: alice.id }, info: { accountId: alice.id } },
    ],
    ['refuses the user', (_user, _auth, done) => done(null, false), 401, {}],
    ['fails', (_user, _auth, done) => done(new Error('no')), 500, { message: 'no' }],
    ['throws', () => expect.fail('thrown'), 500, { message: 'thrown' }],
    ['rejects', async () => Promise.reject(new Error('later')), 500, { message: 'later' }],
    [
      'acts twice',
      (_user, _auth, done) => {
        done(null, { first: true })
        done(new Error('second'))
      },
      200,
      { user: { first: true } },
    ],
  ])('takes a verify callback that %s', async (_, verify, status, body) => {
    const answer = await ask(appOf(new BearerStrategy({ tokens }, verify)), bearerOf())
    expect(answer).toMatchObject({ status, body })
  })

  it('is an error when passport.authenticate has an option of the constructor, which would have no effect', async () => {
    const own = new passport.Passport().use(new BearerStrategy({ tokens }))
    const app = express()
    app.get('/', own.authenticate('bearer', { session: false, scope: 'admin' }), (_req, res) => void res.json('in'))
    const answer = await ask(app.use(onError), bearerOf())
    expect(answer.status).toBe(500)
    expect(answer.body.message).toContain(
      'passport.authenticate() does not take "scope". Pass it to new BearerStrategy({',
    )
  })

  it('keeps its steps when a subclass has members of the same names', async () => {
    class Subclass extends BearerStrategy {
      check = () => ({ auth: undefined, user: undefined })
      refuse = () => undefined
      optional = true
      verify = () => {}
    }
    const app = appOf(new Subclass({ tokens }))
    expect((await ask(app)).status).toBe(401)
    expect((await ask(app, 'Bearer x.y.z')).status).toBe(401)
    expect((await ask(app, bearerOf())).body.user).toMatchObject({ accountId: alice.id })
  })

  it.each<[string, (strategy: BearerStrategy) => Parameters<typeof passport.authenticate>[0]]>([
    ['by its name', (strategy) => passport.use('named', strategy) && 'named'],
    ['as an object, which Passport shares', (strategy) => strategy as never],
  ])('keeps concurrent requests apart when it is passed %s', async (_, pass) => {
    const isRevoked = ({ accountId }: VerifiedToken) =>
      new Promise<boolean>((resolve) => setTimeout(resolve, Number(accountId) % 5, false))
    const app = express()
    const strategy = pass(new BearerStrategy({ tokens, isRevoked }))
    app.get(
      '/',
      passport.authenticate(strategy, { session: false }),
      (req, res) => void res.json(authOf(req).accountId),
    )
    const ids = Array.from({ length: 20 }, (_, i) => `${i}`)
    const answers = await Promise.all(ids.map((id) => ask(app, bearerOf(id))))
    expect(answers.map(({ body }) => body)).toEqual(ids)
  })

  it('admits nobody when verify first fails and then succeeds', async () => {
    const app = express()
    const strategy = new BearerStrategy({ tokens }, (user, _auth, done) => {
      done(new Error('first'))
      done(null, user)
    })
    app.get('/', new passport.Passport().use(strategy).authenticate('bearer', { session: false }))
    const render: ErrorRequestHandler = (_error, req, res, _next) =>
      void setImmediate(() => res.json({ auth: req.auth ?? null }))
    app.use(render)
    expect((await ask(app, bearerOf())).body).toEqual({ auth: null })
  })

  describe('leaves no req.auth of anybody', () => {
    class Anonymous {
      readonly name = 'anonymous'
      authenticate(this: { pass(): void }) {
        this.pass()
      }
    }

    it.each<[string, () => BearerStrategy, string | undefined]>([
      ['without a token on an optional strategy', () => new BearerStrategy({ tokens, optional: true }), undefined],
      ['with an invalid token', () => new BearerStrategy({ tokens }), 'Bearer x.y.z'],
      ['without the scope', () => new BearerStrategy({ tokens, scope: 'b' }), bearerOf()],
      ['refused by verify', () => new BearerStrategy({ tokens }, (_u, _a, done) => done(null, false)), bearerOf()],
    ])(
      '%s, where an earlier middleware has set one and a strategy that admits everyone follows',
      async (_, strategy, authorization) => {
        const own = new passport.Passport().use(strategy()).use(new Anonymous() as never)
        const app = express().use((req, _res, next) => {
          Object.assign(req, { auth: 'stale' })
          next()
        })
        const authenticate = own.authenticate(['bearer', 'anonymous'], { session: false })
        app.get('/', authenticate, (req, res) => void res.json({ auth: req.auth ?? null }))
        expect((await ask(app, authorization)).body).toEqual({ auth: null })
      },
    )
  })

  describe('decides as requireBearer by each option', () => {
    const lately = bearerOf()
    const events: string[] = []
    const hangs = () => new Promise<boolean>(() => {})
    type Row = [authorization: string | undefined, options: Partial<BearerStrategyOptions>]
    /** A request whose result the option changes. The compiler asks for a row of each option. */
    const ROWS: { [option in keyof Required<BearerStrategyOptions>]: Row } = {
      tokens: [lately, { tokens: makeIssuer({ issuer: 'https://other.example' }) }],
      scope: [lately, { scope: 'b' }],
      anyScope: [lately, { anyScope: 'b c' }],
      signedInWithin: [
        `Bearer ${issueNow(tokens, { accountId: alice.id, issuedAt: new Date(Date.now() - 60_000) }).token}`,
        { signedInWithin: 1 },
      ],
      secondFactor: [lately, { secondFactor: true }],
      acting: [
        `Bearer ${issueNow(tokens, { accountId: alice.id, claims: { act: { sub: 'a' } } }).token}`,
        { acting: false },
      ],
      accounts: [lately, { accounts: makeStore([]) }],
      isRevoked: [lately, { isRevoked: () => true }],
      store: [lately, { store: memoryStore() }],
      optional: [undefined, { optional: true }],
      allow: [lately, { accounts: makeStore(), allow: () => false }],
      scheme: [lately, { scheme: 'Token' }],
      tokenFrom: [lately, { tokenFrom: () => undefined }],
      realm: [undefined, { realm: 'reports' }],
      timeout: [lately, { isRevoked: hangs, timeout: '1ms' }],
      onEvent: [undefined, { onEvent: ({ type }) => events.push(type) }],
      refuse: [undefined, { refuse: (_error, _req, next) => next(Object.assign(new Error(), { status: 418 })) }],
    }

    it.each(Object.entries(ROWS))('%s', async (_, [authorization, options]) => {
      const resultOf = async (app: Express) => {
        const { status, headers } = await ask(app, authorization)
        return [status, status === 401 && headers['www-authenticate'], events.splice(0)]
      }
      const quiet = { tokens, onEvent() {} }
      const guarded = (given: object) => {
        const app = express().use(requireBearer({ refuse: passFailuresOn, ...quiet, ...given }), (_req, res) =>
          res.json(),
        )
        return app.use(onError)
      }
      const expected = await resultOf(guarded(options))
      expect(await resultOf(appOf(new BearerStrategy({ ...quiet, ...options })))).toEqual(expected)
      expect(await resultOf(guarded({}))).not.toEqual(expected)
    })
  })

  it('takes the options of requireBearer, and names itself in its errors', () => {
    expectMisuse(() => new BearerStrategy({} as never), 'BearerStrategy: option "tokens" must be')
    const authenticate = () => BearerStrategy.prototype.authenticate.call({} as never, {} as never)
    expectMisuse(authenticate, 'BearerStrategy: the request must be Node')
    expectMisuse(
      () => new BearerStrategy({ tokens, forwardErrors: true } as never),
      'BearerStrategy: unknown option "forwardErrors". Pass refuse(error, req, next), which returns',
    )
    expectMisuse(() => new BearerStrategy({ tokens, sessions: {} } as never), 'Did you mean "store"?')
  })
})

describe('a verify callback that refuses', () => {
  type Failure = [user: unknown, info: unknown, status: unknown]
  const credentials = { email: alice.email, password: PASSWORD }
  const ask = (app: Express) => request(app).post('/').set('Authorization', bearerOf()).send(credentials)
  const bearer = (info?: object | string, more: Partial<BearerStrategyOptions> = {}) =>
    new BearerStrategy({ tokens, onEvent() {}, ...more }, (_user, _auth, done) => done(null, false, info))
  const login = (info?: object | string) =>
    new LoginStrategy({ accounts, passwords, limits: false }, (_user, done) => done(null, false, info))
  const challengeOf = (description = 'The access token is not valid.') =>
    `Bearer realm="https://api.example.com", error="invalid_token", error_description="${description}"`

  /** Returns what a callback of the host's own for `authenticate` receives. */
  async function failureOf(...strategies: Strategy[]): Promise<Failure> {
    const own = new passport.Passport()
    strategies.forEach((strategy, i) => void own.use(`${i}`, strategy as never))
    const app = express()
    const names = strategies.map((_, i) => `${i}`)
    app.post('/', (req, res, next) => {
      const callback = (error: unknown, ...failure: unknown[]) => (error ? next(error) : res.json(failure))
      own.authenticate(names.length > 1 ? names : '0', { session: false }, callback)(req, res, next)
    })
    return (await ask(app).expect(200)).body
  }

  it.each<[string, object | string | undefined, string]>([
    ['nothing', undefined, 'The access token is not valid.'],
    ['a text', 'No clerk', 'No clerk'],
    ['a message', { message: 'No clerk' }, 'No clerk'],
    ['an empty text', '', 'The access token is not valid.'],
    ['a message that is not a text', { message: 7 }, 'The access token is not valid.'],
    ['what a header cannot hold', { message: 'a "b"\r\nX: ł' }, 'a \\"b\\"  X:  '],
  ])('of BearerStrategy says %s in a challenge', async (_, info, description) => {
    const answer = await ask(appOf(bearer(info)))
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challengeOf(description)])
    expect(await failureOf(bearer(info))).toEqual([false, challengeOf(description), 401])
  })

  it('of BearerStrategy names the realm and the scopes of the guard, is an event, and is a refusal for refuse', async () => {
    const onEvent = vi.fn()
    const own = await ask(appOf(bearer(undefined, { realm: 'reports', scope: 'a', onEvent })))
    expect(own.headers['www-authenticate']).toBe(
      `${challengeOf().replace('https://api.example.com', 'reports')}, scope="a"`,
    )
    expect(onEvent.mock.calls).toMatchObject([
      [{ type: 'bearer.refused', code: 'invalid_token', accountId: alice.id, tokenId: expect.any(String) }],
    ])
    const refuse: Refuse = (error, _req, next) => next(Object.assign(new Error(error.message), { status: 418 }))
    expect(await ask(appOf(bearer('No clerk', { refuse })))).toMatchObject({
      status: 418,
      body: { message: 'No clerk' },
    })
  })

  it.each<[object | string | undefined, unknown]>([
    [
      { message: 'Confirm your address', code: 7 },
      { message: 'Confirm your address', code: 7 },
    ],
    ['Złe konto', { message: 'Złe konto' }],
    [undefined, null],
  ])('of LoginStrategy passes its info %j on, and sends none of it', async (info, expected) => {
    expect((await failureOf(login(info))).slice(0, 3)).toEqual([false, expected, 401])
    const answer = await ask(appOf(login(info)))
    expect([answer.status, answer.headers['www-authenticate'], answer.text]).toEqual([401, undefined, 'Unauthorized'])
  })

  it('is one of several failures of a chain, and the first one gives the status', async () => {
    const info = { message: 'No clerk' }
    expect(await failureOf(bearer(info), login(info))).toEqual([false, [challengeOf('No clerk'), info], [401, 401]])
    const own = new passport.Passport().use(login(info)).use(bearer(info))
    const app = express().post('/', own.authenticate(['login', 'bearer'], { session: false }))
    const answer = await ask(app)
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challengeOf('No clerk')])
    const next = new passport.Passport()
      .use(bearer(info))
      .use(new LoginStrategy({ accounts, passwords, limits: false }))
    const admits = express().post('/', next.authenticate(['bearer', 'login'], { session: false }), (req, res) => {
      res.json({ user: req.user, auth: req.auth ?? null })
    })
    expect((await ask(admits)).body).toMatchObject({ user: { id: alice.id }, auth: null })
  })

  it('keeps its challenge with failWithError, and its message with failureFlash and failureMessage', async () => {
    const flashed: unknown[] = []
    const session = { messages: undefined as unknown }
    for (const strategy of [login({ message: 'No clerk' }), login('No clerk')]) {
      const own = new passport.Passport().use(strategy)
      const app = express().use((req, _res, next) => {
        Object.assign(req, { session, flash: (...flash: unknown[]) => flashed.push(flash) })
        next()
      })
      const options = { session: false, failureFlash: true, failureMessage: true }
      await ask(app.post('/', own.authenticate('login', options))).expect(401)
    }
    expect(flashed).toEqual([
      ['error', 'No clerk'],
      ['error', 'No clerk'],
    ])
    expect(session.messages).toEqual(['No clerk', 'No clerk'])
    const own = new passport.Passport().use(bearer('No clerk'))
    const app = express().post('/', own.authenticate('bearer', { session: false, failWithError: true }))
    const answer = await ask(app.use(onError))
    expect(answer).toMatchObject({ status: 401, body: { message: 'Unauthorized' } })
    expect(answer.headers['www-authenticate']).toBe(challengeOf('No clerk'))
  })
})

describe('LoginStrategy', () => {
  const options = { accounts, passwords, limits: false as const }
  const logIn = (app: Express, body: object = { email: alice.email, password: PASSWORD }) =>
    request(app).post('/').send(body)

  it('ends with the error that refuse passes on, and fails as without refuse when refuse returns a response', async () => {
    const wrong = { email: alice.email, password: 'wrong' }
    const own: Refuse = (error, _req, next) =>
      next(Object.assign(new Error(), { status: 418, code: `own ${error.code}` }))
    const passed = await logIn(appOf(new LoginStrategy({ ...options, refuse: own, onEvent() {} })), wrong)
    expect([passed.status, passed.body.code]).toEqual([418, 'own invalid_credentials'])
    for (const refuse of [passOn, () => ({ status: 418 })] as Refuse[]) {
      const failed = await logIn(appOf(new LoginStrategy({ ...options, refuse, onEvent() {} })), wrong)
      expect(failed.status).toBe(403)
    }
  })

  it('refuses options of a login next to logIn, and names itself', () => {
    const logIn = logInWith({ accounts })
    expectMisuse(
      () => new LoginStrategy({ logIn, accounts } as never),
      'LoginStrategy: unknown option "accounts". It has no effect next to "logIn". Pass it to createAuth()',
    )
  })

  it('sets req.user to the account without its password hash, and req.authInfo.subject to what issue needs', async () => {
    const { body, status } = await logIn(appOf(new LoginStrategy(options)))
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ id: alice.id })
    expect(body.user).not.toHaveProperty('passwordHash')
    expect(body.info.subject).toMatchObject({ accountId: alice.id, scopes: alice.scopes })
    expect(new Date(body.info.subject.issuedAt).getTime()).toBeGreaterThan(0)
  })

  it('fails with 403 for invalid credentials and with 400 for a malformed body', async () => {
    const onEvent = vi.fn()
    const app = appOf(new LoginStrategy({ ...options, onEvent }))
    expect((await logIn(app, { email: alice.email, password: 'wrong' })).status).toBe(403)
    expect((await logIn(app, { email: '', password: '' })).status).toBe(403)
    expect((await logIn(app, { email: alice.email })).status).toBe(400)
    const event = { type: 'token.refused', address: expect.stringMatching(/127\.0\.0\.1$/) }
    const codes = ['invalid_credentials', 'invalid_credentials', 'invalid_body']
    expect(onEvent.mock.calls).toMatchObject(codes.map((code) => [{ ...event, code }]))
  })

  it('takes an empty password like the router, whether it is right or not', async () => {
    const store = makeStore([{ ...alice, passwordHash: 'plain:' }])
    const verify: LoginVerify = (user, done) => done(null, (user as { id: string }).id === 'nobody' ? false : user)
    const common = { ...options, accounts: store }
    const router = express().use(tokenRouter({ ...common, tokens, path: '/' }))
    for (const app of [router, appOf(new LoginStrategy(common)), appOf(new LoginStrategy(common, verify))]) {
      expect((await logIn(app, { email: alice.email, password: '' })).status).toBe(200)
      expect((await logIn(app, { email: alice.email, password: PASSWORD })).status).toBe(403)
      expect((await logIn(app, { email: '', password: '' })).status).toBe(403)
    }
  })

  it('hands a reached limit and a failing store to the error handler, with Retry-After', async () => {
    const limits = createLimits({ limits: { pair: { points: 1, duration: 60 } } })
    const app = appOf(new LoginStrategy({ ...options, limits, onEvent: () => {} }))
    await logIn(app, { email: alice.email, password: 'wrong' })
    const limited = await logIn(app)
    expect([limited.status, Number(limited.headers['retry-after']) > 0]).toEqual([429, true])
    const down = () => Promise.reject(new Error('down'))
    const failing = await logIn(appOf(new LoginStrategy({ ...options, accounts: down, onEvent: () => {} })))
    expect([failing.status, failing.headers['retry-after']]).toEqual([503, '5'])
  })

  it('hands an account that cannot be read to the error handler', async () => {
    const get = () => {
      throw new Error('closed')
    }
    const own = (email: string) => accounts.findByEmail(email)
    const lazy = async (email: string) =>
      Object.defineProperty({ ...(await own(email)) }, 'disabled', { enumerable: true, get })
    const { status, body } = await logIn(
      appOf(new LoginStrategy({ ...options, accounts: lazy as never, onEvent: () => {} })),
    )
    expect([status, body.code]).toEqual([503, 'unavailable'])
  })

  it('lets the verify callback change the user', async () => {
    const verify: LoginVerify = (user, done) => done(null, { name: (user as { id: string }).id })
    expect((await logIn(appOf(new LoginStrategy(options, verify)))).body.user).toEqual({ name: alice.id })
  })

  it('refuses with 401 whom the verify callback refuses', async () => {
    const verify = vi.fn<LoginVerify>((_user, done) => done(null, false))
    expect((await logIn(appOf(new LoginStrategy(options, verify)))).status).toBe(401)
    expect(verify).toHaveBeenCalledOnce()
  })

  it.each([true, false])('with emailInEvents: %s, tells the e-mail address', async (emailInEvents) => {
    const onEvent = vi.fn()
    await logIn(appOf(new LoginStrategy({ ...options, emailInEvents, onEvent })), { email: alice.email, password: 'x' })
    expect(onEvent.mock.calls[0]?.[0].email).toBe(emailInEvents ? alice.email : undefined)
  })

  describe('with auth.logIn', () => {
    it('has the limits of the app, and passes it the members of the body that it needs', async () => {
      const fields: object[] = []
      const beforeSignIn: BeforeSignIn = (signIn) => void fields.push({ ...signIn.fields })
      const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
      const auth = logInWith({ accounts, limits, extraFields: ['code'], beforeSignIn })
      const app = appOf(new LoginStrategy({ logIn: auth }))
      const good = { email: alice.email, password: PASSWORD }
      expect((await logIn(app, { ...good, code: '1', other: '2' })).status).toBe(200)
      expect(fields).toEqual([{ code: '1' }])
      expect((await logIn(app, { ...good, password: 'wrong' })).status).toBe(403)
      expect((await logIn(app, good)).status).toBe(429)
      expect(await rejectionOf(auth(good))).toMatchObject({ code: 'too_many_attempts' })
    })

    it('reports a refused login to the app, and a malformed body itself', async () => {
      const [ofApp, own] = [vi.fn(), vi.fn()]
      const app = appOf(new LoginStrategy({ logIn: logInWith({ accounts, onEvent: ofApp }), onEvent: own }))
      expect((await logIn(app, { email: alice.email })).status).toBe(400)
      expect([ofApp.mock.calls.length, own.mock.calls]).toMatchObject([0, [[{ code: 'invalid_body' }]]])
      expect((await logIn(app, { email: alice.email, password: 'wrong' })).status).toBe(403)
      expect(ofApp.mock.calls).toMatchObject([[{ code: 'invalid_credentials' }]])
    })

    it('ends with the error that refuse of the app passes on, and reports nothing', async () => {
      const [ofApp, own] = [vi.fn(), vi.fn()]
      const refuse: Refuse = (error, _req, next) =>
        next(Object.assign(new Error(), { status: 418, code: `own ${error.code}` }))
      const app = appOf(new LoginStrategy({ logIn: logInWith({ accounts, onEvent: ofApp, refuse }), onEvent: own }))
      const { status, body } = await logIn(app, { email: alice.email, password: 'wrong' })
      expect([status, body.code]).toEqual([418, 'own invalid_credentials'])
      expect([ofApp.mock.calls.length, own.mock.calls.length]).toEqual([1, 0])
    })

    it.each<[string, unknown, number, string]>([
      ['a SignInRefusal', new SignInRefusal('closed', { status: 451 }), 451, 'closed'],
      ['an error that a client may see', Object.assign(new Error('Pay'), { status: 402, expose: true }), 402, 'Pay'],
      ['another error', new Error('bug'), 503, 'unavailable'],
    ])('passes %s of beforeSignIn on', async (_, thrown, status, says) => {
      const auth = logInWith({ accounts, onEvent() {}, beforeSignIn: () => Promise.reject(thrown) })
      const own = vi.fn()
      const answer = await logIn(appOf(new LoginStrategy({ logIn: auth, onEvent: own })))
      expect(own).not.toHaveBeenCalled()
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(says)])
    })
  })

  it('takes the options of tokenRouter, and names itself in its errors', () => {
    expectMisuse(() => new LoginStrategy({} as never), 'LoginStrategy: option "accounts" must be')
    expectMisuse(() => new LoginStrategy({ ...options, path: '/x' } as never), 'LoginStrategy: unknown option "path"')
  })
})

describe('an unread body', () => {
  const refusing: BearerVerify = (_user, _auth, done) => done(null, false)
  const down = () => Promise.reject(new Error('down'))

  it.each<[string, number, Strategy, string]>([
    ['without the scope', 403, new BearerStrategy({ tokens, scope: 'b' }), 'Forbidden'],
    ['of a user that verify refuses', 401, new BearerStrategy({ tokens }, refusing), 'Unauthorized'],
    [
      'after a failure',
      503,
      new BearerStrategy({ tokens, isRevoked: down, onEvent: () => {} }),
      '"code":"unavailable"',
    ],
    ['that is too long', 413, new LoginStrategy({ accounts, passwords, limits: false }), '"code":"body_too_large"'],
  ])('%s does not keep the connection open: %i', async (_, status, strategy, body) => {
    const { port } = await listen(appOf(strategy))
    const head = `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearerOf()}\r\n`
    const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const answer = await sendEndlessly(port, head + type, `4000\r\n${' '.repeat(0x4000)}\r\n`)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n[^]*${body}`))
  })

  const callback = (respond: (req: Request, res: Response) => unknown) => {
    const own = new passport.Passport().use(new BearerStrategy({ tokens }))
    return express().post('/', (req, res, next) =>
      own.authenticate('bearer', { session: false }, () => respond(req, res))(req, res, next),
    )
  }

  it('ends a response of the host as the host ends it', async () => {
    const done = vi.fn()
    for (const sent of [['\xe9', 'latin1', done], [done]] as unknown as [string, 'latin1'][]) {
      const { port } = await listen(callback((_req, res) => res.end(...sent)))
      const answer = await sendEndlessly(
        port,
        'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n',
        'x'.repeat(0x4000),
      )
      expect(answer.includes('\xe9')).toBe(sent.length > 1)
    }
    await until(() => expect(done).toHaveBeenCalledTimes(2))
  })

  it.each<[string, (req: Request, res: Response) => unknown]>([
    ['has been read until the response', (req, res) => req.resume().once('end', () => res.end('sent'))],
    ['is left after the headers of a response', (_req, res) => res.write('') && res.end('sent')],
  ])('that %s keeps it', async (_, respond) => {
    const { text, headers } = await request(callback(respond))
      .post('/')
      .set('Connection', 'keep-alive')
      .send('x'.repeat(70_000))
    expect([text, headers['connection']]).toEqual(['sent', 'keep-alive'])
  })
})

describe('a custom callback that throws', () => {
  const { ExtractJwt, Strategy: JwtStrategy } = createRequire(import.meta.url)('passport-jwt')
  const jwt = () =>
    new JwtStrategy(
      { jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: 'x' },
      () => {},
    ) as BearerStrategy
  const revoking = () => new BearerStrategy({ tokens, isRevoked: async () => true })
  const later = () => new BearerStrategy({ tokens }, (user, _auth, done) => void setImmediate(done, null, user))
  const verify: BearerVerify = async (user, _auth, done) => done(null, user)

  const STRATEGIES: [string, () => Strategy, string | undefined][] = [
    ['passport-jwt, without a token', jwt, undefined],
    ['passport-jwt, with an invalid token', jwt, 'Bearer x.y.z'],
    ['BearerStrategy, without a token', () => new BearerStrategy({ tokens }), undefined],
    ['BearerStrategy, with an invalid token', () => new BearerStrategy({ tokens }), 'Bearer x.y.z'],
    ['BearerStrategy, with a revoked token', revoking, bearerOf()],
    ['BearerStrategy, with a valid token', () => new BearerStrategy({ tokens }), bearerOf()],
    ['BearerStrategy, with an async verify', () => new BearerStrategy({ tokens }, verify), bearerOf()],
    ['BearerStrategy, with a verify that takes time', later, bearerOf()],
    ['LoginStrategy', () => new LoginStrategy({ accounts, passwords, limits: false }), undefined],
  ]

  describe.each(EXPRESS)('on %s', (_express, version) => {
    it.each(STRATEGIES)('is a 500 of the error handler: %s', async (_, strategyOf, authorization) => {
      const strategy = strategyOf()
      const own = new passport.Passport().use(strategy)
      const callback = vi.fn(() => {
        throw new Error('thrown')
      })
      const router = version.Router()
      router.post('/', (req, res, next) =>
        own.authenticate(strategy.name, { session: false }, callback)(req, res, next),
      )
      const app = version().use('/mounted', router).use(onError)
      const { status, body } = await request(app)
        .post('/mounted')
        .set(authorization ? { authorization } : {})
      expect([status, body.message]).toEqual([500, 'thrown'])
      expect(callback).toHaveBeenCalledOnce()
    })
  })

  it('throws what the action or a late callback throws where there is no Express', async () => {
    const own = new passport.Passport().use(revoking())
    const fatal = fatalErrors()
    const callback = () => {
      throw new Error('thrown')
    }
    const req = { headers: {}, rawHeaders: [], url: '/', socket: {} }
    const authenticate = own.authenticate('bearer', { session: false }, callback)
    for (const headers of [{}, { authorization: bearerOf() }]) authenticate({ ...req, headers }, {}, () => {})
    await until(() => expect(fatal).toEqual(['uncaughtException: thrown', 'uncaughtException: thrown']))
    const late: BearerVerify = (user, _auth, done) => {
      done(null, user)
      throw new Error('late')
    }
    const other = new passport.Passport().use(new BearerStrategy({ tokens }, late))
    const admitting = other.authenticate('bearer', { session: false }, () => {})
    admitting({ ...req, headers: { authorization: bearerOf() } }, {}, () => {})
    await until(() => expect(fatal.at(-1)).toBe('uncaughtException: late'))
  })
})

describe('in Nest', () => {
  it('PassportStrategy() mixes both classes in, and calls validate', async () => {
    // Nest's mixin registers the strategy at the global Passport.
    class Bearer extends PassportStrategy(BearerStrategy, 'nest-bearer') {
      constructor() {
        super({ tokens })
      }
      validate(user: object, auth: VerifiedToken) {
        return { validated: auth.accountId, ...user }
      }
    }
    class Login extends PassportStrategy(LoginStrategy, 'nest-login') {
      constructor() {
        super({ accounts, passwords, limits: false })
      }
      async validate(user: { id: string }) {
        return { validated: user.id }
      }
    }
    new Bearer()
    new Login()
    const app = express()
    app.get('/', passport.authenticate('nest-bearer', { session: false }), (req, res) => {
      res.json({ user: req.user, account: authOf(req).accountId })
    })
    app.post('/', passport.authenticate('nest-login', { session: false }), (req, res) => void res.json(req.user))
    const guarded = await request(app).get('/').set('Authorization', bearerOf())
    expect(guarded.body).toMatchObject({ user: { validated: alice.id }, account: alice.id })
    const loggedIn = await request(app).post('/').send({ email: alice.email, password: PASSWORD })
    expect(loggedIn.body).toEqual({ validated: alice.id })
    expect((await request(app).post('/').send({ email: alice.email, password: 'wrong' })).status).toBe(403)
  })
})
