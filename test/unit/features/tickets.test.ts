import express from 'express'
import {
  type Account,
  type AuthEvent,
  type AuthOptions,
  authOf,
  createAuth,
  memoryAccounts,
  memoryStore,
  type Sessions,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, decodePayload, fastPasswords, frozenClock, ISSUER, SECRET } from '../../support/fixtures.js'
import { asJson, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'
import { memorySessions } from '../../support/sessions.js'

const { alice } = ACCOUNTS

async function start(options: Partial<AuthOptions> = {}) {
  const accounts = memoryAccounts([alice])
  const store = memoryStore()
  const keys = { alg: 'HS256', secret: SECRET } as const
  const own = { passwords: fastPasswords(), limits: false as const, onEvent() {} }
  const auth = createAuth({ issuer: ISSUER, keys, accounts, store, ...own, ...options })
  const app = express()
  app.use(auth.router)
  const files = express.Router()
  files.all(
    '/:name',
    auth.guard({ ticket: true, scope: 'reports:read' }),
    (req, res) => void res.json(authOf(req).claims),
  )
  app.use('/files', files)
  app.get('/plain', auth.guard(), (_req, res) => void res.json(1))
  app.post(
    '/tickets',
    auth.guard(),
    express.json(),
    async (req, res) => void res.json(await auth.ticket(req, req.body)),
  )
  app.use(auth.guard({ ticket: true }), (_req, res) => void res.json(1))
  app.use(auth.errors)
  const send = client((await listen(app)).port)
  const post = async (path: string, body: object, token = '') => {
    const { headers, ...sent } = asJson(body)
    const authorization = token && { Authorization: `Bearer ${token}` }
    return send({ ...sent, method: 'POST', path, headers: { ...headers, ...authorization } })
  }
  const token: string = JSON.parse((await post(TOKEN_PATH, GOOD)).body).authenticationToken
  const ticketFor = async (route: object, of = token) => JSON.parse((await post('/tickets', route, of)).body) as string
  const get = (path: string, method = 'GET') => send({ method, path }).then(({ status }) => status)
  return { auth, sessions: auth.sessions as Sessions, send, post, token, ticketFor, get }
}

describe('a ticket', () => {
  const path = '/files/7.pdf'

  it('admits requests for its path until it expires, without a header', async () => {
    const clock = frozenClock()
    const { ticketFor, send, get } = await start({ clock })
    const ticket = await ticketFor({ path })
    const { status, body } = await send({ method: 'GET', path: `${path}?page=2&ticket=${ticket}` })
    const { auth_time, ...claims } = JSON.parse(body)
    expect({ status, claims }).toEqual({ status: 200, claims: { method: 'GET', path } })
    clock.advance(59_000)
    expect(await get(`${path}?ticket=${ticket}`)).toBe(200)
    clock.advance(1000)
    expect(await get(`${path}?ticket=${ticket}`)).toBe(401)
  })

  it.each(['with sessions', 'without sessions'])('is kept by no store, in an app %s', async (which) => {
    const store = memorySessions()
    const add = vi.spyOn(store, 'add')
    const { ticketFor, get } = await start({ store: which === 'with sessions' ? { sessions: store } : undefined })
    const started = add.mock.calls.length
    const ticket = await ticketFor({ path })
    expect(await Promise.all([1, 2].map(() => get(`${path}?ticket=${ticket}`)))).toEqual([200, 200])
    expect([started, add.mock.calls.length]).toEqual(Array(2).fill(which === 'with sessions' ? 1 : 0))
  })

  it.each<[string, (ticket: string) => [path: string, method?: string]]>([
    ['another path', (ticket) => [`/files/8.pdf?ticket=${ticket}`]],
    ['another spelling of its path', (ticket) => [`/files/%37.pdf?ticket=${ticket}`]],
    ['another letter case', (ticket) => [`/FILES/7.pdf?ticket=${ticket}`]],
    ['a slash at the end', (ticket) => [`${path}/?ticket=${ticket}`]],
    ['a parameter of its path', (ticket) => [`${path};v=1?ticket=${ticket}`]],
    ['an encoded question mark', (ticket) => [`${path}%3Fx?ticket=${ticket}`]],
    ['an encoded member', (ticket) => [`${path}?t%69cket=${ticket}`]],
    ['another method', (ticket) => [`${path}?ticket=${ticket}`, 'POST']],
    ['two tickets', (ticket) => [`${path}?ticket=${ticket}&ticket=${ticket}`]],
    ['a changed signature', (ticket) => [`${path}?ticket=${ticket.slice(0, -4)}AAAA`]],
    ['a ticket in another member', (ticket) => [`${path}?tick?et=${ticket}`]],
    ['no ticket', () => [path]],
    ['an empty ticket', () => [`${path}?ticket=`]],
    ['a route without tickets', (ticket) => [`/plain?ticket=${ticket}`]],
  ])('does not admit %s', async (_, request) => {
    const { ticketFor, get } = await start()
    const ticket = await ticketFor({ path })
    expect(await get(...request(ticket))).toBe(401)
    expect(await get(`${path}?ticket=${ticket}`)).toBe(200)
  })

  it('for GET is also one for HEAD and the other way round, and one for POST is only for POST', async () => {
    const { ticketFor, get } = await start({ store: undefined })
    expect(await get(`${path}?ticket=${await ticketFor({ path })}`, 'HEAD')).toBe(200)
    for (const method of ['GET', 'HEAD'])
      expect(await get(`${path}?ticket=${await ticketFor({ path, method: 'HEAD' })}`, method)).toBe(200)
    const post = await ticketFor({ path, method: 'POST' })
    expect(await get(`${path}?ticket=${post}`)).toBe(401)
    expect(await get(`${path}?ticket=${post}`, 'POST')).toBe(200)
  })

  it('is not an access token, and an access token is not a ticket', async () => {
    const { send, ticketFor, token, get } = await start()
    const ticket = await ticketFor({ path: '/plain' })
    expect(await send(bearer(ticket, '/plain'))).toMatchObject({ status: 401 })
    expect(await get(`${path}?ticket=${token}`)).toBe(401)
    expect(await send(bearer(token, path))).toMatchObject({ status: 200 })
  })

  it('of a key that was replaced is refused, and new tickets have the new key', async () => {
    const { auth, ticketFor, get, token } = await start({ store: undefined })
    const [old, req] = [await ticketFor({ path }), { headers: { authorization: `Bearer ${token}` }, rawHeaders: [] }]
    await auth.guard().authenticate(req as never)
    auth.tokens.replaceKeys({ alg: 'HS256', secret: `another ${SECRET}`, kid: 'new' })
    expect(await get(`${path}?ticket=${old}`)).toBe(401)
    expect(await get(`${path}?ticket=${await auth.ticket(req as never, { path })}`)).toBe(200)
  })

  it('counts for nothing beside a header', async () => {
    const { send, ticketFor, get } = await start()
    const ticket = await ticketFor({ path })
    expect(await send(bearer('x', `${path}?ticket=${ticket}`))).toMatchObject({ status: 401 })
    expect(await get(`${path}?ticket=${ticket}`)).toBe(200)
  })

  it('ends with the session of its token, and with its time', async () => {
    const time = { now: Date.now() }
    const { ticketFor, get, sessions } = await start({ clock: () => time.now })
    const [short, long] = [await ticketFor({ path, lifetime: '5s' }), await ticketFor({ path, lifetime: '10m' })]
    time.now += 6000
    expect(await get(`${path}?ticket=${short}`)).toBe(401)
    await sessions.endAll(alice.id)
    expect(await get(`${path}?ticket=${long}`)).toBe(401)
  })

  it('refuses in the form of the guard: a request without a ticket needs a token, and a ticket for another path is invalid', async () => {
    const events: AuthEvent[] = []
    const { send, ticketFor } = await start({ onEvent: (event) => events.push(event) })
    const codeOf = async (path: string) => JSON.parse((await send({ method: 'GET', path })).body).code
    expect(await codeOf(`${path}?page=2`)).toBe('missing_token')
    expect(await codeOf(`/files/8.pdf?ticket=${await ticketFor({ path })}`)).toBe('invalid_token')
    expect(events.at(-1)).toMatchObject({ type: 'bearer.refused', reason: 'audience' })
  })

  it('lasts 60 s, but not longer than the token of its request', async () => {
    const clock = frozenClock()
    const { ticketFor } = await start({ clock, lifetime: '5m', store: undefined })
    const secondsOf = async () => {
      const { exp } = decodePayload(await ticketFor({ path }))
      return Number(exp) - clock.seconds()
    }
    expect(await secondsOf()).toBe(60)
    clock.advance(270_000)
    expect(await secondsOf()).toBe(30)
    clock.advance(29_500)
    expect(await secondsOf()).toBe(1)
  })

  it('is refused when its token is, although the request in progress had been admitted before', async () => {
    const clock = frozenClock()
    const account: Account = { ...alice }
    const accounts = { findByEmail: () => account, findById: () => account }
    const { auth, token } = await start({ clock, accounts, store: undefined })
    const headers = { authorization: `Bearer ${token}` }
    const req = { method: 'GET', url: '/', headers, rawHeaders: [] } as never
    await auth.guard().authenticate(req)
    clock.advance(5000)
    const admitted = async () => {
      const url = `${path}?ticket=${await auth.ticket(req, { path })}`
      return auth.guard({ ticket: true }).authenticate({ method: 'GET', url, headers: {}, rawHeaders: [] } as never)
    }
    expect(await admitted()).toMatchObject({ accountId: alice.id })
    account.tokensValidAfter = new Date(clock() - 1000)
    expect(await rejectionOf(admitted())).toMatchObject({ code: 'invalid_token', reason: 'superseded' })
  })

  it('cannot be created by a ticket that only the tolerance of the clock still admits', async () => {
    const clock = frozenClock()
    const { auth, ticketFor } = await start({ clock, clockTolerance: '60s', store: undefined })
    const url = `${path}?ticket=${await ticketFor({ path })}`
    const req = { method: 'GET', url, headers: {}, rawHeaders: [] } as never
    for (const ms of [60_000, 1000]) {
      clock.advance(ms)
      await auth.guard({ ticket: true }).authenticate(req)
      expect(await rejectionOf(auth.ticket(req, { path }))).toMatchObject({ code: 'invalid_token', reason: 'expired' })
    }
  })

  it('admits a request that the host authenticates itself', async () => {
    const { auth, ticketFor, token } = await start()
    const guard = auth.guard({ ticket: true })
    const ask = (url: string, authorization?: string) =>
      guard.authenticate({ method: 'GET', url, headers: { authorization }, rawHeaders: [] } as never)
    expect(await ask(`${path}?ticket=${await ticketFor({ path })}`)).toMatchObject({ claims: { path } })
    expect(await ask(path, `Bearer ${token}`)).toMatchObject({ accountId: alice.id })
  })

  it('is as old as the sign-in of its request, for a route that needs a recent one', async () => {
    const clock = frozenClock()
    const { auth, ticketFor } = await start({ clock, store: undefined })
    const guard = auth.guard({ ticket: true, signedInWithin: '5m' })
    const ask = async () => {
      const url = `${path}?ticket=${await ticketFor({ path })}`
      return guard.authenticate({ method: 'GET', url, headers: {}, rawHeaders: [] } as never)
    }
    clock.advance(299_000)
    expect(await ask()).toMatchObject({ accountId: alice.id })
    clock.advance(2_000)
    expect(await rejectionOf(ask())).toMatchObject({ code: 'insufficient_user_authentication' })
  })

  it('names the administrator who acts as the account', async () => {
    const { auth, send, token } = await start({
      accounts: memoryAccounts([alice, { ...alice, id: 'other', email: 'b@c.d' }]),
    })
    const requestOf = (text: string) =>
      ({ headers: { authorization: `Bearer ${text}` }, rawHeaders: [], url: '/' }) as never
    const [own, acting] = [requestOf(token), {} as { token: string }]
    const actor = await auth.guard().authenticate(own)
    const signedIn = (await auth.signIn('other', own, undefined, { actor })) as Record<'authenticationToken', string>
    acting.token = signedIn.authenticationToken
    const req = requestOf(acting.token)
    await auth.guard().authenticate(req)
    const { body } = await send({ method: 'GET', path: `${path}?ticket=${await auth.ticket(req, { path })}` })
    expect(JSON.parse(body)).toMatchObject({ path, act: { sub: alice.id } })
  })

  it("is refused when the host's isRevoked says so, or does not decide", async () => {
    const { ticketFor, get } = await start({ isRevoked: (auth) => 'path' in auth.claims })
    expect(await get(`${path}?ticket=${await ticketFor({ path })}`)).toBe(401)
    const odd = await start({ isRevoked: (auth) => ('path' in auth.claims ? undefined : false) as never })
    expect(await odd.get(`${path}?ticket=${await odd.ticketFor({ path })}`)).toBe(503)
  })

  it.each<[string, object, string]>([
    [
      'a path with a query',
      { path: '/a?b' },
      'auth.ticket: option "path" must be a path like "/reports/7.pdf", without a query, but is',
    ],
    ['a path without its first slash', { path: 'files/7.pdf' }, 'option "path"'],
    ['no path', {}, 'option "path"'],
    ['a long lifetime', { path, lifetime: '1h' }, 'option "lifetime"'],
    ['a method in lower case', { path, method: 'get' }, 'option "method" must be a method in upper case, but is'],
    ['a method in mixed case', { path, method: 'Get' }, 'option "method"'],
    ['a method with a small letter before it', { path, method: 'xGET' }, 'option "method"'],
  ])('cannot be created with %s', async (_, route, message) => {
    const { auth } = await start()
    const error = await rejectionOf(auth.ticket({ headers: {} } as never, route as never))
    expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining(message) })
  })

  it('keeps the time of the sign-in, for a guard that needs a recent one', async () => {
    const time = { now: Date.now() }
    const { auth, token } = await start({ clock: () => time.now })
    const guard = auth.guard({ ticket: true, signedInWithin: '5m' })
    const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: [] } as never
    await auth.guard().authenticate(req)
    const ask = async () =>
      guard.authenticate({
        method: 'GET',
        url: `${path}?ticket=${await auth.ticket(req, { path })}`,
        headers: {},
        rawHeaders: [],
      } as never)
    expect(await ask()).toMatchObject({ accountId: alice.id })
    time.now += 301_000
    expect(await rejectionOf(ask())).toMatchObject({ code: 'insufficient_user_authentication' })
  })

  it('names the administrator who acts as the account, and no other claim of the token', async () => {
    const { auth, ticketFor, send } = await start()
    const act = { sub: 'admin-1' }
    const { token, id } = await auth.tokens.issue({
      accountId: alice.id,
      scopes: ['reports:read'],
      claims: { act, plan: 'pro' },
    })
    await auth.sessions?.start({ id, accountId: alice.id, expiresAt: new Date(Date.now() + 60_000) } as never)
    const ticket = await ticketFor({ path }, token)
    expect(JSON.parse((await send({ method: 'GET', path: `${path}?ticket=${ticket}` })).body)).toEqual({
      act,
      path,
      method: 'GET',
      auth_time: expect.any(Number),
    })
  })

  it('keeps the response out of shared caches, and makes a browser ask again', async () => {
    const { ticketFor, send, token } = await start()
    const cacheOf = async (request: object) => (await send(request as never)).headers['cache-control']
    expect(await cacheOf({ method: 'GET', path: `${path}?ticket=${await ticketFor({ path })}` })).toBe(
      'private, no-cache',
    )
    expect(await cacheOf(bearer(token, path))).toBe('private, no-cache')
  })

  it('cannot be created for an API key or an old token, and the client is told to sign in', async () => {
    const key = { id: 'key-1', accountId: alice.id, scopes: ['reports:read'], issuedAt: new Date() }
    const apiKeys = { issuer: 'api-keys', accepts: (text: string) => text.startsWith('key_'), verify: async () => key }
    const events: AuthEvent[] = []
    const { post } = await start({ alsoAccept: [apiKeys], onEvent: (event) => events.push(event) })
    const { status, body } = await post('/tickets', { path }, 'key_1')
    expect({ status, code: JSON.parse(body).code }).toEqual({ status: 401, code: 'invalid_token' })
    expect(JSON.parse(body).detail).toMatch(/^To get a ticket, send a token that this API issued/)
    expect(events.at(-1)).toMatchObject({ reason: 'issuer' })
  })

  it('cannot be created for a request without a verified token', async () => {
    const { auth } = await start()
    expect(await rejectionOf(auth.ticket({ headers: {}, method: 'GET', url: '/' } as never, { path }))).toMatchObject({
      message: expect.stringContaining('no verified token'),
    })
  })
})
