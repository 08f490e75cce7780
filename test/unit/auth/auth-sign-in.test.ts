// Tests login/{finish-sign-in,known-sign-in}.ts and sessions/acting-id.ts

import express, { type Request, type RequestHandler, type Response } from 'express'
import {
  type Auth,
  type AuthOptions,
  createTokenIssuer,
  requireBearer,
  type SignedIn,
  SignInRefusal,
  type TokenSubject,
  type VerifiedToken,
} from 'express-token-endpoint'
import { LoginStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import { describe, expect, it } from 'vitest'
import { carol, parse, startAuth } from '../../support/auth-app.js'
import { expectMisuse, refusalOf, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, decodePayload, frozenClock, ISSUER, SECRET } from '../../support/fixtures.js'
import { asJson, expectForbidden, expectProblem, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'

const { alice, bob } = ACCOUNTS
const HS256 = { alg: 'HS256', secret: SECRET } as const

describe('auth.signIn', () => {
  it('signs an account in without its password: with a session, and a token that the guards accept', async () => {
    const { events, get, post } = await startAuth()
    const response = await post('/passkey')
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const { authenticationToken, expiration, ...rest } = parse(response)
    expect(rest).toEqual({})
    expect(new Date(expiration).toISOString()).toBe(expiration)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    expect(events).toMatchObject([{ type: 'session.started' }, { type: 'token.issued', address: '127.0.0.1' }])
  })

  it('sets the cookie with the refresh token for the mount path of the router', async () => {
    const { post } = await startAuth({ refresh: 'cookie', mountPath: '/api/v1' }, '/api/v1')
    const { headers } = await post('/passkey')
    expect(String(headers['set-cookie'])).toMatch(/Path=\/api\/v1\/api\/v2013\/authentication\/token; Max-Age=/)
    const [cookie] = String(headers['set-cookie']).split(';')
    const refreshed = await post(`/api/v1${TOKEN_PATH}/refresh`, {}, { cookie, 'sec-fetch-site': 'same-origin' })
    expect(refreshed).toMatchObject({ status: 200 })
  })

  it('sets a cookie that ends with the browser, and names the device, as its details say', async () => {
    const { get, post } = await startAuth({ refresh: 'cookie' })
    const answer = await post('/device')
    expect(String(answer.headers['set-cookie'])).toContain(`Path=${TOKEN_PATH};`)
    expect(String(answer.headers['set-cookie'])).not.toContain('Max-Age')
    expect(parse(await get('/sessions', parse(answer).authenticationToken)).sessions).toMatchObject([
      { label: 'Phone' },
    ])
  })

  it('returns the refresh token in the body, where the client keeps it', async () => {
    const { post } = await startAuth({ refresh: 'body' })
    const { refreshToken } = parse(await post('/passkey'))
    expect(await post(`${TOKEN_PATH}/refresh`, { refreshToken })).toMatchObject({ status: 200 })
  })

  it('returns what respond returned', async () => {
    const { post } = await startAuth({ respond: ({ token }) => ({ access: token }) })
    expect(parse(await post('/passkey'))).toEqual({ access: expect.any(String) })
  })

  it.each<[string, object, string]>([
    ['is disabled', { disabled: true }, 'account_disabled'],
    ['has ended its sign-ins later', { tokensValidAfter: new Date(Date.now() + 60_000) }, 'superseded'],
    ['is gone', { id: 'acc-0' }, 'unknown_account'],
  ])('refuses an account that %s, and leaves no session', async (_, change, reason) => {
    const { events, list, post, sessions } = await startAuth()
    Object.assign(list[0] as object, change)
    expect(await post('/passkey')).toMatchObject({ status: 403, body: '' })
    expect(await sessions.list(alice.id)).toEqual([])
    expect(events.map(({ type }) => type)).toEqual(['token.refused'])
    expect(events.at(-1)).toMatchObject({ code: 'invalid_credentials', reason, accountId: alice.id })
  })

  it('starts a session without the response, and none after the response was sent', async () => {
    const { auth, sessions } = await startAuth()
    const request = { headers: {}, socket: {} } as Request
    await auth.signIn(alice.id, request)
    expect(await sessions.list(alice.id)).toHaveLength(1)
    const refusal = await refusalOf(auth.signIn(bob.id, request, { headersSent: true } as Response))
    expect(refusal).toMatchObject({ code: 'client_closed_request' })
    expect(await sessions.list(bob.id)).toEqual([])
  })

  it('asks beforeSignIn as each sign-in does, whose terms hold for its tokens', async () => {
    const asked: object[] = []
    const beforeSignIn: AuthOptions['beforeSignIn'] = (signIn) => {
      asked.push(signIn)
      return { scopes: [], claims: { kiosk: true } }
    }
    const { auth, post } = await startAuth({ refresh: 'body', beforeSignIn })
    const req = { headers: {}, socket: {} } as Request
    for (const whom of [alice, alice.id]) {
      const { authenticationToken, refreshToken } = await auth.signIn(whom, req, undefined, { amr: ['hwk', 'user'] })
      const refreshed = parse(await post(`${TOKEN_PATH}/refresh`, { refreshToken }))
      for (const token of [authenticationToken, refreshed.authenticationToken]) {
        expect(decodePayload(token)).toMatchObject({ kiosk: true, amr: ['hwk', 'user'] })
        expect(decodePayload(token)).not.toHaveProperty('scope')
      }
    }
    await auth.signIn(alice.id, req)
    const { passwordHash: _, ...account } = { ...alice, team: 'north' }
    const signal = expect.any(AbortSignal)
    const host = { account, method: 'host', amr: ['hwk', 'user'], fields: {}, req, signal }
    expect(asked).toEqual([host, host, { ...host, amr: [] }])
  })

  it('is refused by beforeSignIn, and leaves no session', async () => {
    const beforeSignIn = () => Promise.reject(new SignInRefusal('email_not_verified'))
    const { events, post, sessions } = await startAuth({ beforeSignIn })
    expectProblem(await post('/passkey'), 403, 'email_not_verified', 'Forbidden')
    expect(await sessions.list(alice.id)).toEqual([])
    expect(events).toMatchObject([{ type: 'token.refused', code: 'email_not_verified', accountId: alice.id }])
  })

  it('rejects with the error that refuse passes to next, and with the refusal where refuse returns a response', async () => {
    const own = new Error('own')
    const passing = await startAuth({ refuse: (_error, _req, next) => next(own) })
    const req = { headers: {}, socket: {} } as Request
    expect(await rejectionOf(passing.auth.signIn('nobody', req))).toBe(own)
    expect(passing.events).toMatchObject([{ type: 'token.refused', reason: 'unknown_account' }])
    expect(await rejectionOf(passing.auth.signIn('', req))).toBeInstanceOf(TypeError)
    const returning = await startAuth({ refuse: () => ({ status: 418, body: 'tea' }) })
    expect(await refusalOf(returning.auth.signIn('nobody', req))).toMatchObject({ code: 'invalid_credentials' })
    returning.list.length = 0
    expect(await returning.post('/passkey')).toMatchObject({ status: 418, body: 'tea' })
    expect(returning.events).toHaveLength(2)
  })

  it('does not ask beforeSignIn for an administrator who acts as the account, and names the methods of the administrator', async () => {
    const methods: string[] = []
    const beforeSignIn: AuthOptions['beforeSignIn'] = ({ method }) => void methods.push(method)
    const { actAs, signIn } = await startAuth({ beforeSignIn })
    const acting = parse(await actAs(bob, (await signIn()).authenticationToken))
    expect(decodePayload(acting.authenticationToken)).toMatchObject({ sub: bob.id, amr: ['pwd'] })
    expect(methods).toEqual(['password'])
  })

  it.each(['pwd', [7], ['']])('throws a TypeError for the methods %o', async (amr) => {
    const { auth } = await startAuth()
    const error = await rejectionOf(auth.signIn(alice, { headers: {} } as Request, undefined, { amr } as never))
    expect(error).toMatchObject({ message: expect.stringContaining('signIn: option "amr" must be an array of texts') })
  })

  it('is unavailable when the store of accounts hangs', async () => {
    const accounts = { findByEmail: () => undefined, findById: () => new Promise<never>(() => {}) }
    const { auth } = await startAuth({ accounts, timeout: '1ms' })
    const refusal = await refusalOf(auth.signIn(alice.id, { headers: {}, socket: {} } as Request))
    expect(refusal).toMatchObject({ code: 'unavailable', cause: { message: 'no result within 1 ms' } })
  })

  it('lets an administrator act as a user: with both names in the token and in the event, and without refresh', async () => {
    const { actAs, events, get, signIn } = await startAuth({ refresh: 'cookie' })
    const { authenticationToken } = await signIn()
    events.length = 0
    const answer = await actAs(bob, authenticationToken)
    const acting = parse(answer).authenticationToken
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(decodePayload(acting)).toMatchObject({ sub: bob.id, act: { sub: alice.id, iss: ISSUER } })
    const actor = { actorId: alice.id, actorIssuer: ISSUER }
    expect(events.at(-1)).toMatchObject({ type: 'token.issued', accountId: bob.id, ...actor })
    expect(parse(await get('/me', acting)).user).toMatchObject({ id: bob.id })
  })

  it.each([undefined, 'body' as const])(
    'ends no session of the user where only one is allowed, refresh: %s',
    async (refresh) => {
      const time = { now: Date.now() }
      const clock = () => time.now
      const { auth, events, sessions } = await startAuth({ maxPerAccount: 1, refresh, clock })
      const request = () => ({ headers: {}, socket: {} }) as Request
      const verified = async (token: Promise<SignedIn>) => auth.tokens.verify((await token).authenticationToken)
      const actor = await verified(auth.signIn(alice.id, request()))
      const own = await verified(auth.signIn(bob.id, request()))
      const acting = []
      for (let i = 0; i < 101; i++) {
        time.now++
        acting.push(await verified(auth.signIn(bob.id, request(), undefined, { actor })))
      }
      const endedOf = async (list: VerifiedToken[]) => Promise.all(list.map((one) => sessions.isEnded(one)))
      expect(await endedOf([own, ...acting])).toEqual([false, true, ...Array(100).fill(false)])
      expect(await sessions.list(bob.id)).toHaveLength(101)
      const next = await verified(auth.signIn(bob.id, request()))
      expect(await endedOf([own, next, ...acting])).toEqual([true, false, true, ...Array(100).fill(false)])
      expect(events.filter(({ type }) => type === 'session.ended')).toMatchObject([
        { reason: 'maximum', sessionId: acting[0]?.sessionId },
        { reason: 'maximum', [refresh ? 'sessionId' : 'tokenId']: refresh ? own.sessionId : own.id },
      ])
      await sessions.endAll(bob.id)
      expect(await endedOf([next, ...acting])).toEqual(Array(102).fill(true))
    },
  )

  it('keeps the first actor when an acting administrator acts as somebody else', async () => {
    const { actAs, signIn } = await startAuth()
    const acting = parse(await actAs(bob, (await signIn()).authenticationToken))
    const again = parse(await actAs(carol, acting.authenticationToken))
    expect(decodePayload(again.authenticationToken)['act']).toEqual({
      ...{ sub: bob.id, iss: ISSUER },
      act: { sub: alice.id, iss: ISSUER },
    })
  })

  it('issues no token that outlives the one of the administrator', async () => {
    const clock = frozenClock()
    const { auth } = await startAuth({ clock, lifetime: '10m' })
    const actor = await auth.tokens.verify((await auth.tokens.issue({ accountId: alice.id })).token)
    const req = { headers: {}, rawHeaders: [], socket: {} } as unknown as Request
    const expOf = async (id: string) =>
      decodePayload((await auth.signIn(id, req, undefined, { actor })).authenticationToken)['exp']
    const end = actor.expiresAt.getTime() / 1000
    expect(await expOf(bob.id)).toBe(end)
    clock.advance(590_300)
    expect(await expOf(bob.id)).toBeLessThanOrEqual(end)
    clock.advance(actor.expiresAt.getTime() - clock() - 999)
    const refused = { code: 'invalid_token', reason: 'expired', accountId: alice.id }
    expect(await refusalOf(auth.signIn(bob.id, req, undefined, { actor }))).toMatchObject(refused)
  })

  it('refuses a sign-in without an actor for the request of an acting administrator', async () => {
    const { actAs, auth, sessions, signIn } = await startAuth()
    const { authenticationToken } = parse(await actAs(bob, (await signIn()).authenticationToken))
    const acting = await auth.tokens.verify(authenticationToken)
    const req = { headers: {}, rawHeaders: [], socket: {}, auth: acting } as unknown as Request
    const before = await sessions.list(bob.id)
    for (const whom of [bob.id, carol.id, (await auth.logIn(GOOD)).subject])
      expect(await refusalOf(auth.signIn(whom, req))).toMatchObject({
        code: 'forbidden',
        status: 403,
        accountId: bob.id,
      })
    expect(await sessions.list(bob.id)).toHaveLength(before.length)
    expect(await auth.signIn(carol.id, req, undefined, { actor: acting })).toHaveProperty('authenticationToken')
  })

  it('lets no administrator renew a token by acting as themselves, also not through another account', async () => {
    const { actAs, events, sessions, signIn } = await startAuth()
    const { authenticationToken } = await signIn()
    expect(await actAs(alice, authenticationToken)).toMatchObject({ status: 403, body: '' })
    const acting = parse(await actAs(bob, authenticationToken))
    for (const one of [alice, bob])
      expect(await actAs(one, acting.authenticationToken)).toMatchObject({ status: 403, body: '' })
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', code: 'invalid_credentials', accountId: bob.id })
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('keeps administrators out of routes that need a recent sign-in, and out of the sessions of the user', async () => {
    const { actAs, events, get, send, sessions, signIn } = await startAuth()
    const { authenticationToken } = await signIn()
    await signIn({ ...GOOD, email: bob.email })
    const acting = parse(await actAs(bob, authenticationToken)).authenticationToken
    expect(await get('/recent', authenticationToken)).toMatchObject({ status: 200 })
    expect(await get('/me', acting)).toMatchObject({ status: 200 })
    expect(await get('/recent-or-acting', acting)).toMatchObject({ status: 200 })
    const before = await sessions.list(bob.id)
    for (const [method, path] of [
      ['GET', '/recent'],
      ['GET', '/sessions'],
      ['DELETE', '/sessions'],
      ...before.map(({ id }) => ['DELETE', `/sessions/${id}`]),
    ] as const) {
      events.length = 0
      const answer = await send({ ...bearer(acting, path), method })
      expectProblem(answer, 403, 'forbidden', 'Forbidden')
      expect(answer.headers).not.toHaveProperty('www-authenticate')
      expect(events).toMatchObject([{ type: 'bearer.refused', code: 'forbidden', accountId: bob.id }])
    }
    expect(await sessions.list(bob.id)).toHaveLength(before.length)
    expect(await send({ ...bearer(acting, '/sessions/sign-out'), method: 'POST' })).toMatchObject({ status: 204 })
    expect(await sessions.list(bob.id)).toHaveLength(before.length - 1)
    expect(await get('/me', acting)).toMatchObject({ status: 401 })
  })

  it('takes the claim act of the token itself for an actor, and no inherited one', async () => {
    const { auth, get } = await startAuth({ store: undefined })
    const tokenWith = async (claims: object) =>
      (await auth.tokens.issue({ accountId: bob.id, claims: { ...claims } })).token
    for (const act of [{ sub: 'x' }, 'x', false, null])
      expect(await get('/recent', await tokenWith({ act }))).toMatchObject({ status: 403 })
    Object.assign(Object.prototype, { act: { sub: 'x' } })
    try {
      expect(await get('/recent', await tokenWith({}))).toMatchObject({ status: 200 })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'act')
    }
  })

  it('lets nobody act as themselves through an API key or an old token', async () => {
    const urn = 'urn:keys'
    const verify = async (text: string) => ({ id: text, accountId: text, scopes: [], issuedAt: new Date() })
    const keys = { issuer: urn, accepts: () => true, verify }
    const earlier = createTokenIssuer({ issuer: 'https://earlier.example.com', keys: HS256 })
    const { actAs, auth, post, events } = await startAuth({ store: undefined, alsoAccept: [keys, earlier] })
    const old = await earlier.issue({ accountId: alice.id })
    for (const token of [alice.id, old.token]) {
      expect(await actAs(alice, token)).toMatchObject({ status: 403, body: '' })
      const acting = parse(await actAs(bob, token)).authenticationToken
      expect(await post(`/act-as/${alice.id}`, {}, { authorization: `Bearer ${acting}` })).toMatchObject({
        status: 403,
      })
    }
    expect(decodePayload(parse(await actAs(bob, alice.id)).authenticationToken)['act']).toEqual({
      sub: alice.id,
      iss: urn,
    })
    expect(events.at(-1)).toMatchObject({ type: 'token.issued', actorId: alice.id, actorIssuer: urn })
    const elsewhere = await startAuth({ store: undefined })
    const guard = requireBearer({ tokens: [elsewhere.auth.tokens, keys] })
    const req = { headers: { authorization: `Bearer ${alice.id}` }, rawHeaders: [], socket: {} } as unknown as Request
    const actor = await guard.authenticate(req)
    expect(await refusalOf(elsewhere.auth.signIn(alice.id, req, undefined, { actor }))).toMatchObject({
      code: 'invalid_credentials',
    })
    expect(auth.tokens.issuer).toBe(ISSUER)
  })

  it('takes the time of the sign-in from the administrator, for routes that need a recent one', async () => {
    const now = Date.now()
    let ahead = 0
    const { actAs, auth, get } = await startAuth({ store: undefined, clock: () => now + ahead })
    const old = await auth.tokens.issue({ accountId: alice.id })
    expect(await get('/recent-or-acting', parse(await actAs(bob, old.token)).authenticationToken)).toMatchObject({
      status: 200,
    })
    ahead = 120_000
    const acting = parse(await actAs(bob, old.token)).authenticationToken
    expect(await get('/recent-or-acting', acting)).toMatchObject({ status: 401 })
    const again = parse(await actAs(carol, acting)).authenticationToken
    expect(await get('/recent-or-acting', again)).toMatchObject({ status: 401 })
  })

  it('names the issuer of an administrator whose token another issuer has issued', async () => {
    const { auth } = await startAuth({ store: undefined })
    const other = createTokenIssuer({ issuer: 'https://staff.example.com', keys: HS256 })
    const actor = await other.verify((await other.issue({ accountId: bob.id })).token)
    const { authenticationToken } = await auth.signIn(bob.id, { headers: {}, socket: {} } as Request, undefined, {
      actor,
    })
    const staff = { sub: bob.id, iss: 'https://staff.example.com' }
    expect(decodePayload(authenticationToken)['act']).toEqual(staff)
    const claims = { act: { sub: carol.id } }
    const behind = await other.verify((await other.issue({ accountId: bob.id, claims })).token)
    const again = await auth.signIn(carol.id, { headers: {}, socket: {} } as Request, undefined, { actor: behind })
    const act = { sub: carol.id, iss: 'https://staff.example.com' }
    expect(decodePayload(again.authenticationToken)['act']).toEqual({ ...staff, act })
  })

  const req = { headers: {} } as Request
  it.each<[string, unknown[], string]>([
    ['no account', [undefined, req], 'pass the account, its id'],
    ['an empty id', ['', req], 'pass the account, its id'],
    ['no request', ['acc-1'], 'pass the request'],
    ['no response for the cookie', ['acc-1', req], 'pass the response too'],
    ['an unknown detail', ['acc-1', req, {}, { devise: 'x' }], 'signIn: unknown option "devise"'],
    ['a text as a time', ['acc-1', req, {}, { issuedAt: 'now' }], '"issuedAt" must be a valid Date'],
    ['an actor that is undefined', ['acc-1', req, {}, { actor: undefined }], '"actor" is undefined'],
    ['an actor that is no verified token', ['acc-1', req, {}, { actor: { accountId: 'acc-2' } }], 'authOf(req)'],
  ])('throws a TypeError for %s', async (_, args, message) => {
    const { auth } = await startAuth({ refresh: 'cookie' })
    const error = await rejectionOf(auth.signIn(...(args as Parameters<typeof auth.signIn>)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('refuses a sign-in whose user has ended all sessions since the host authenticated the user, also without sessions', async () => {
    const { auth, list } = await startAuth({ store: undefined })
    const request = { ...req, socket: {} } as Request
    Object.assign(list[0] as object, { tokensValidAfter: new Date(Date.now() - 1000) })
    const old = { issuedAt: new Date(Date.now() - 5000) }
    expect(await rejectionOf(auth.signIn(alice.id, request, undefined, old))).toMatchObject({ reason: 'superseded' })
  })

  it('keeps the time of an earlier sign-in for signedInWithin through a refresh', async () => {
    const { auth, post } = await startAuth({ refresh: 'body' })
    const issuedAt = new Date(Date.now() - 172_800_000)
    const request = { ...req, socket: {} } as Request
    const signedIn = await auth.signIn(alice.id, request, undefined, { issuedAt })
    const refreshed = parse(await post(`${TOKEN_PATH}/refresh`, { refreshToken: signedIn.refreshToken }))
    for (const { authenticationToken } of [signedIn, refreshed])
      expect(decodePayload(authenticationToken)['auth_time']).toBe(Math.floor(issuedAt.getTime() / 1000))
  })

  it('takes the time of an earlier sign-in for signedInWithin, and issues a token that has just begun', async () => {
    const { auth } = await startAuth({ store: undefined })
    const issuedAt = new Date(Date.now() - 172_800_000)
    const { authenticationToken } = await auth.signIn(alice.id, { ...req, socket: {} } as Request, undefined, {
      issuedAt,
    })
    const { iat, auth_time } = decodePayload(authenticationToken)
    expect(Number(iat)).toBeGreaterThan(issuedAt.getTime() / 1000 + 172_000)
    expect(auth_time).toBe(Math.floor(issuedAt.getTime() / 1000))
  })
})

describe('auth.signIn after a login', () => {
  type Options = Parameters<typeof startAuth>[0]

  /** Starts an app with a route that signs in with the result of a login, after a change of the test. */
  async function start(options: Options = {}, logIn?: (auth: Auth) => RequestHandler) {
    const changes: (() => void)[] = []
    const app = await startAuth(options)
    const { auth } = app
    const own: RequestHandler = async (req, res) => {
      const { subject } = await auth.logIn(req.body, req)
      for (const change of changes) change()
      res.json(await auth.signIn(subject, req, res, { label: 'Kiosk' }))
    }
    const routes = express()
      .use(express.json())
      .post('/kiosk', logIn?.(auth as never) ?? own)
      .use(auth.errors)
    const send = client((await listen(routes)).port)
    const signIn = () => send({ ...asJson(GOOD), method: 'POST', path: '/kiosk' })
    return { ...app, signIn, changes }
  }

  const beforeSignIn = () => ({ scopes: [], claims: { kiosk: true } })

  it('issues a token with the terms of the login, and starts its session', async () => {
    const { signIn, sessions, events } = await start({ beforeSignIn })
    const { authenticationToken } = parse(await signIn())
    expect(decodePayload(authenticationToken)).toMatchObject({ sub: alice.id, kiosk: true })
    expect(decodePayload(authenticationToken)).not.toHaveProperty('scope')
    expect(await sessions.list(alice.id)).toMatchObject([{ label: 'Kiosk' }])
    expect(events.map(({ type }) => type)).toEqual(['session.started', 'token.issued'])
  })

  it('does not ask beforeSignIn again, and has the methods of the login or of the call', async () => {
    const methods: string[] = []
    const { auth } = await startAuth({ beforeSignIn: ({ method }) => void methods.push(method) })
    const req = { headers: {}, socket: {} } as Request
    for (const [amr, expected] of [
      [undefined, ['pwd']],
      [
        ['pwd', 'otp'],
        ['pwd', 'otp'],
      ],
    ] as const) {
      const { subject } = await auth.logIn(GOOD)
      const { authenticationToken } = await auth.signIn(subject, req, undefined, { amr })
      expect(decodePayload(authenticationToken)).toMatchObject({ amr: expected })
    }
    expect(methods).toEqual(['password', 'password'])
  })

  it('keeps the terms through a refresh', async () => {
    const { signIn, post } = await start({ beforeSignIn, refresh: 'body' })
    const { refreshToken } = parse(await signIn())
    const refreshed = parse(await post(`${TOKEN_PATH}/refresh`, { refreshToken }))
    expect(decodePayload(refreshed.authenticationToken)).toMatchObject({ kiosk: true })
    expect(decodePayload(refreshed.authenticationToken)).not.toHaveProperty('scope')
  })

  it.each<[string, object]>([
    ['got another password', { passwordHash: 'plain:another' }],
    ['been disabled', { disabled: true }],
    ['been deleted', { email: 'gone' }],
    ['ended its earlier tokens', { tokensValidAfter: new Date(9e12) }],
  ])('is refused, and leaves no session, when the account has meanwhile %s', async (_what, change) => {
    const { signIn, sessions, list, changes } = await start()
    changes.push(() => Object.assign(list[0] as object, change))
    expectForbidden(await signIn())
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('needs no findById', async () => {
    const accounts = (email: string) => (email === alice.email ? { ...alice, team: 'north' } : undefined)
    const { signIn, sessions } = await start({ accounts })
    expect(await signIn()).toMatchObject({ status: 200 })
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('takes the subject of LoginStrategy too', async () => {
    const byPassport = (auth: Auth): RequestHandler => {
      const passport = new Passport().use(new LoginStrategy({ logIn: auth.logIn }))
      const authenticate: RequestHandler = passport.authenticate('login', { session: false })
      const respond: RequestHandler = async (req, res) => {
        const { subject } = req.authInfo as { subject: TokenSubject }
        res.json(await auth.signIn(subject, req, res))
      }
      return express.Router().use(authenticate, respond)
    }
    const { signIn, sessions } = await start({ beforeSignIn }, byPassport)
    expect(decodePayload(parse(await signIn()).authenticationToken)).toMatchObject({ kiosk: true })
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('throws a TypeError for a copy of the subject, which has not the facts of the login', async () => {
    const { auth, sessions } = await startAuth()
    const { subject } = await auth.logIn(GOOD)
    const req = { headers: {}, rawHeaders: [] } as unknown as Request
    const error = await rejectionOf(auth.signIn({ ...subject }, req))
    const says = 'signIn: pass the account, its id as a non-empty string, or the subject that auth.logIn() returned'
    const thrown = () => {
      throw error
    }
    expectMisuse(thrown, says, [alice.id])
    expect(await sessions.list(alice.id)).toEqual([])
  })
})
