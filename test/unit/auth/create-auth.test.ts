// Tests auth/{auth-options,auth-sign-in,create-auth}.ts login/sign-in/{account-by-id,finish-sign-in}.ts

import express, { type Request } from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  authOf,
  createAuth,
  createSessions,
  createThrottle,
  createTokenIssuer,
  type MemoryAccount,
  memorySessions,
  oldTokens,
} from 'express-token-endpoint'
import { openApiDocument } from 'express-token-endpoint/openapi'
import { describe, expect, it } from 'vitest'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, decodePayload, fastPasswords, forge, ISSUER, SECRET, signingKey } from '../../support/fixtures.js'
import { type Answer, asJson, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'

const { alice, bob } = ACCOUNTS
const carol = { ...bob, id: 'acc-carol', email: 'carol@example.com' }
const HS256 = { alg: 'HS256', secret: SECRET } as const
const parse = ({ body }: Answer) => JSON.parse(body)

/** Starts an app whose accounts the test changes. */
async function start(options: Partial<AuthOptions<MemoryAccount & { team: string }>> = {}, mount = '') {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const list = [alice, bob, carol].map((one) => ({ ...one, team: 'north' }))
  const accounts = {
    findByEmail: (email: string) => list.find((one) => one.email === email),
    findById: (id: string) => list.find((one) => one.id === id),
  }
  const sessions = createSessions(memorySessions(), { refresh: { secret: SECRET }, onEvent })
  const auth = createAuth({
    issuer: ISSUER,
    keys: HS256,
    lifetime: '10m',
    accounts,
    sessions,
    passwords: fastPasswords(),
    throttle: false,
    onEvent,
    ...options,
  })
  const app = express()
  app.use(mount, auth.router)
  app.get('/me', auth.guard(), (req, res) => void res.json({ auth: authOf(req), user: auth.userOf(req) }))
  app.get('/reports', auth.guard({ scope: 'reports:read' }), (_req, res) => void res.json('reports'))
  app.post('/passkey', async (req: Request, res) => void res.json(await auth.signIn(alice.id, req, res)))
  app.post('/device', async (req: Request, res) => {
    res.json(await auth.signIn(alice, req, res, { label: 'Phone', remember: false }))
  })
  app.post('/act-as/:id', auth.guard(), async (req, res) => {
    res.json(await auth.signIn(String(req.params['id']), req, res, { actor: authOf(req) }))
  })
  app.get('/recent', auth.guard({ signedInWithin: '1m' }), (_req, res) => void res.json('recent'))
  app.use(auth.errors)
  const { port } = await listen(app)
  const send = client(port)
  const post = (path: string, body: object = {}, headers = {}) => {
    const sent = asJson(body)
    return send({ ...sent, method: 'POST', path, headers: { ...sent.headers, ...headers } })
  }
  const get = (path: string, token: string) => send(bearer(token, path))
  const signIn = async (body: object = GOOD) => parse(await post(mount + TOKEN_PATH, body))
  const actAs = ({ id }: { id: string }, token: string) =>
    post(`/act-as/${id}`, {}, { authorization: `Bearer ${token}` })
  return { auth, events, list, sessions, send, post, get, signIn, actAs }
}

describe('auth.openApi', () => {
  it.each<[Partial<AuthOptions<MemoryAccount & { team: string }>>, string]>([
    [{ refresh: 'cookie', extraFields: ['code'] }, ''],
    [{ refresh: () => 'body', keys: [signingKey('ES256')], mountPath: '/api' }, '/api'],
    [{ paths: { token: '/in', sessions: '/devices' }, fields: { email: 'username' } }, ''],
    [{ sessions: undefined }, ''],
  ])('describes the routes that the router has, and their fields: %j', async (options, mount) => {
    const { auth, send } = await start(options, mount)
    const { paths, components } = openApiDocument(auth.openApi)
    for (const [path, item] of Object.entries(paths))
      for (const method of Object.keys(item)) {
        const { status } = await send({ method: method.toUpperCase(), path: path.replace('{id}', 'a') })
        expect([200, 204, 400, 401, 403, 415], `${method} ${path}`).toContain(status)
      }
    const tokenPath = mount + (options.paths?.token ?? TOKEN_PATH)
    const hasSessions = !('sessions' in options)
    expect(Object.keys(paths)).toEqual([
      tokenPath,
      ...(options.refresh ? [`${tokenPath}/refresh`, `${tokenPath}/sign-out`] : []),
      ...(options.keys ? [`${mount}/.well-known/jwks.json`] : []),
      ...(hasSessions
        ? ['', '/{id}', '/sign-out'].map((path) => `${mount}${options.paths?.sessions ?? '/sessions'}${path}`)
        : []),
    ])
    const { properties } = components.schemas['TokenCredentials'] as { properties: object }
    expect(Object.keys(properties)).toEqual([
      options.fields?.email ?? 'email',
      'password',
      ...(options.extraFields ?? []),
      ...(options.refresh === undefined ? [] : ['remember']),
    ])
  })
})

describe('createAuth', () => {
  it('signs users in, guards routes with the account, lists sessions and publishes keys', async () => {
    const { get, send, signIn } = await start({ keys: signingKey('ES256') })
    const { authenticationToken } = await signIn()
    const me = parse(await get('/me', authenticationToken))
    expect(me).toMatchObject({ auth: { accountId: alice.id }, user: { id: alice.id, team: 'north' } })
    expect(me.user).not.toHaveProperty('passwordHash')
    expect(parse(await get('/sessions', authenticationToken)).sessions).toMatchObject([{ current: true }])
    expect(parse(await send({ method: 'GET', path: '/.well-known/jwks.json' })).keys).toHaveLength(1)
  })

  it('publishes no keys for a secret', async () => {
    const { send } = await start()
    expect(await send({ method: 'GET', path: '/.well-known/jwks.json' })).toMatchObject({ status: 404 })
  })

  it('refuses at every guard a token whose session has ended or whose account is disabled', async () => {
    const { get, list, send, signIn } = await start()
    const [one, two] = [await signIn(), await signIn()]
    const authorization = `Bearer ${one.authenticationToken}`
    const signOut = { method: 'POST', path: '/sessions/sign-out', headers: { authorization } }
    expect(await send(signOut)).toMatchObject({ status: 204 })
    expect(await get('/reports', one.authenticationToken)).toMatchObject({ status: 401 })
    expect(await get('/reports', two.authenticationToken)).toMatchObject({ status: 200 })
    Object.assign(list[0] as object, { disabled: true })
    expect(await get('/reports', two.authenticationToken)).toMatchObject({ status: 401 })
  })

  it('refuses at every guard a token that isRevoked names', async () => {
    const { get, signIn } = await start({ isRevoked: () => true })
    expect(await get('/me', (await signIn()).authenticationToken)).toMatchObject({ status: 401 })
  })

  it.each(['tokens', 'accounts', 'sessions', 'isRevoked'])('lets no guard go without its %s', async (name) => {
    const { auth } = await start()
    expectMisuse(() => auth.guard({ [name]: undefined }), `auth.guard() takes no "${name}"`)
  })

  it('names its guard in the message about an option of the guard', async () => {
    const { auth } = await start()
    const says = 'auth.guard: unknown option "role". Pass its name as "scope"'
    expectMisuse(() => auth.guard({ role: 'admin' } as never), says)
  })

  it('has the paths of the option', async () => {
    const paths = { token: '/login', sessions: '/devices', keys: '/keys' }
    const { get, post, send } = await start({ keys: signingKey('ES256'), paths }, '/api')
    const { authenticationToken } = parse(await post('/api/login', GOOD))
    expect(await get('/api/devices', authenticationToken)).toMatchObject({ status: 200 })
    expect(await send({ method: 'GET', path: '/api/keys' })).toMatchObject({ status: 200 })
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 404 })
  })

  it('takes a function as accounts, and its guards then look no account up', async () => {
    const findByEmail = (email: string) => (email === alice.email ? { ...alice, team: 'north' } : undefined)
    const { auth, get, signIn } = await start({ accounts: findByEmail, sessions: undefined })
    expect(await get('/reports', (await signIn()).authenticationToken)).toMatchObject({ status: 200 })
    expect(() => auth.userOf({ auth: undefined })).toThrow('authOf')
    const error = await rejectionOf(auth.signIn('acc-1', { headers: {} } as Request))
    expect(error).toMatchObject({ message: expect.stringContaining('findById') })
  })

  it('has the parts that it is made of', async () => {
    const { auth, sessions } = await start()
    expect(auth.sessions).toBe(sessions)
    const issued = await auth.tokens.issue({ accountId: 'acc-9' })
    expect(decodePayload(issued.token)).toMatchObject({ sub: 'acc-9', iss: ISSUER })
    expect(await auth.logIn(GOOD)).toMatchObject({ subject: { accountId: alice.id } })
    expect(auth.throttle).toBe(false)
    expect(await auth.passwords.verify('x', await auth.passwords.hash('x'))).toBe(true)
  })

  it('accepts tokens of the old code at every guard, which have no session', async () => {
    const secret = 'old'
    const old = oldTokens({ secret, accountId: ({ id }) => id, until: new Date(Date.now() + 60_000) })
    const { get, send, signIn } = await start({ alsoAccept: [old] })
    const text = forge({ alg: 'HS256' }, { id: alice.id, iat: 1 }, secret)
    expect(parse(await get('/me', text))).toMatchObject({ auth: { accountId: alice.id }, user: { team: 'north' } })
    expect(await get('/reports', text)).toMatchObject({ status: 403 })
    const { authenticationToken } = await signIn()
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    // The list of the user's sessions names no session as that of the old token, which can end none.
    const { sessions } = parse(await get('/sessions', text))
    expect(sessions).toMatchObject([{ current: false }])
    const path = `/sessions/${sessions[0].id}`
    expect(await send({ method: 'DELETE', path, headers: { authorization: `Bearer ${text}` } })).toMatchObject({
      status: 404,
    })
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
  })

  it('has one set of limits for the router and for logIn', async () => {
    const throttle = createThrottle({ limits: { account: { points: 1, duration: '1h' } } })
    const { auth, post } = await start({ throttle })
    await rejectionOf(auth.logIn({ ...GOOD, password: 'wrong' }))
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 429 })
  })

  it('makes its own limits and passwords when it gets none', async () => {
    const { auth } = await start({ throttle: undefined, passwords: undefined })
    expect(auth.throttle).toHaveProperty('reset')
    expect(auth.passwords).toHaveProperty('load')
  })

  it.each<[string, object, string]>([
    ['an unknown option', { lifetim: '1h' }, 'createAuth: unknown option "lifetim"'],
    ['the path of the token endpoint as "path"', { path: '/login' }, 'Did you mean "paths"'],
    ['an unknown path', { paths: { jwk: '/keys' } }, 'unknown option "jwk"'],
    ['paths that are a text', { paths: '/login' }, 'option "paths"'],
    ['a mount path with a slash at its end', { mountPath: '/api/' }, 'option "mountPath"'],
    ['a verifier that is not in a list', { alsoAccept: {} }, 'option "alsoAccept" must be a list of verifiers'],
    ['an option of a part', { lifetime: -1 }, 'option "lifetime"'],
  ])('throws a TypeError for %s', async (_, options, message) => {
    expectMisuse(() => createAuth({ issuer: ISSUER, keys: HS256, accounts: () => null, ...options }), message)
  })
})

describe('auth.signIn', () => {
  it('signs an account in without its password: with a session, and a token that the guards accept', async () => {
    const { events, get, post } = await start()
    const response = await post('/passkey')
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const { authenticationToken, expiration, ...rest } = parse(response)
    expect(rest).toEqual({})
    expect(new Date(expiration).toISOString()).toBe(expiration)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    expect(events.map(({ type }) => type)).toEqual(['session.started', 'token.issued'])
  })

  it('sets the cookie with the refresh token for the mount path of the router', async () => {
    const { post } = await start({ refresh: 'cookie', mountPath: '/api' }, '/api')
    const { headers } = await post('/passkey')
    expect(String(headers['set-cookie'])).toMatch(/Path=\/api\/api\/v2013\/authentication\/token; Max-Age=/)
    const [cookie] = String(headers['set-cookie']).split(';')
    const refreshed = await post(`/api${TOKEN_PATH}/refresh`, {}, { cookie, 'sec-fetch-site': 'same-origin' })
    expect(refreshed).toMatchObject({ status: 200 })
  })

  it('sets a cookie that ends with the browser, and names the device, as its details say', async () => {
    const { get, post } = await start({ refresh: 'cookie' })
    const answer = await post('/device')
    expect(String(answer.headers['set-cookie'])).not.toContain('Max-Age')
    expect(parse(await get('/sessions', parse(answer).authenticationToken)).sessions).toMatchObject([
      { label: 'Phone' },
    ])
  })

  it('returns the refresh token in the body, where the client keeps it', async () => {
    const { post } = await start({ refresh: 'body' })
    const { refreshToken } = parse(await post('/passkey'))
    expect(await post(`${TOKEN_PATH}/refresh`, { refreshToken })).toMatchObject({ status: 200 })
  })

  it('returns what respond returned', async () => {
    const { post } = await start({ respond: ({ token }) => ({ access: token }) })
    expect(parse(await post('/passkey'))).toEqual({ access: expect.any(String) })
  })

  it.each<[string, object]>([
    ['is disabled', { disabled: true }],
    ['has ended its sign-ins later', { tokensValidAfter: new Date(Date.now() + 60_000) }],
    ['is gone', { id: 'acc-0' }],
  ])('refuses an account that %s, and leaves no session', async (_, change) => {
    const { auth, list, post, sessions } = await start()
    Object.assign(list[0] as object, change)
    expect(await post('/passkey')).toMatchObject({ status: 403, body: '' })
    expect(await sessions.list(alice.id)).toEqual([])
    expect(auth.errors).toBeTypeOf('function')
  })

  it('lets an administrator act as a user: with both names in the token and in the event, and without refresh', async () => {
    const { actAs, events, get, signIn } = await start({ refresh: 'cookie' })
    const { authenticationToken } = await signIn()
    events.length = 0
    const answer = await actAs(bob, authenticationToken)
    const acting = parse(answer).authenticationToken
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(decodePayload(acting)).toMatchObject({ sub: bob.id, act: { sub: alice.id } })
    expect(decodePayload(acting)['act']).not.toHaveProperty('iss')
    expect(events.at(-1)).toMatchObject({ type: 'token.issued', accountId: bob.id, actorId: alice.id })
    expect(parse(await get('/me', acting)).user).toMatchObject({ id: bob.id })
  })

  it('keeps the first actor when an acting administrator acts as somebody else', async () => {
    const { actAs, signIn } = await start()
    const acting = parse(await actAs(bob, (await signIn()).authenticationToken))
    const again = parse(await actAs(carol, acting.authenticationToken))
    expect(decodePayload(again.authenticationToken)['act']).toEqual({ sub: bob.id, act: { sub: alice.id } })
  })

  it('lets no administrator renew a token by acting as themselves, also not through another account', async () => {
    const { actAs, events, sessions, signIn } = await start()
    const { authenticationToken } = await signIn()
    expect(await actAs(alice, authenticationToken)).toMatchObject({ status: 403, body: '' })
    const acting = parse(await actAs(bob, authenticationToken))
    for (const one of [alice, bob])
      expect(await actAs(one, acting.authenticationToken)).toMatchObject({ status: 403, body: '' })
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', code: 'invalid_credentials', accountId: bob.id })
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('takes the time of the sign-in from the administrator, for routes that need a recent one', async () => {
    const now = Date.now()
    let ahead = 0
    const { actAs, auth, get } = await start({ sessions: undefined, clock: () => now + ahead })
    const old = await auth.tokens.issue({ accountId: alice.id })
    expect(await get('/recent', parse(await actAs(bob, old.token)).authenticationToken)).toMatchObject({ status: 200 })
    ahead = 120_000
    const acting = parse(await actAs(bob, old.token)).authenticationToken
    expect(await get('/recent', acting)).toMatchObject({ status: 401 })
    const again = parse(await actAs(carol, acting)).authenticationToken
    expect(await get('/recent', again)).toMatchObject({ status: 401 })
  })

  it('names the issuer of an administrator whose token another issuer has issued', async () => {
    const { auth } = await start({ sessions: undefined })
    const other = createTokenIssuer({ issuer: 'https://staff.example.com', keys: HS256 })
    const actor = await other.verify((await other.issue({ accountId: bob.id })).token)
    const { authenticationToken } = await auth.signIn(bob.id, { headers: {}, socket: {} } as Request, undefined, {
      actor,
    })
    expect(decodePayload(authenticationToken)['act']).toEqual({ sub: bob.id, iss: 'https://staff.example.com' })
  })

  const req = { headers: {} } as Request
  it.each<[string, unknown[], string]>([
    ['no account', [undefined, req], 'pass the account, or its id'],
    ['no request', ['acc-1'], 'pass the request'],
    ['no response for the cookie', ['acc-1', req], 'pass the response too'],
    ['an unknown detail', ['acc-1', req, {}, { devise: 'x' }], 'unknown option "devise"'],
    ['an actor that is undefined', ['acc-1', req, {}, { actor: undefined }], '"actor" is undefined'],
    ['an actor that is no verified token', ['acc-1', req, {}, { actor: { accountId: 'acc-2' } }], 'authOf(req)'],
  ])('throws a TypeError for %s', async (_, args, message) => {
    const { auth } = await start({ refresh: 'cookie' })
    const error = await rejectionOf(auth.signIn(...(args as Parameters<typeof auth.signIn>)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('refuses a sign-in whose user has ended all sessions since the host authenticated the user, also without sessions', async () => {
    const { auth, list } = await start({ sessions: undefined })
    const request = { ...req, socket: {} } as Request
    Object.assign(list[0] as object, { tokensValidAfter: new Date(Date.now() - 1000) })
    const old = { issuedAt: new Date(Date.now() - 5000) }
    expect(await rejectionOf(auth.signIn(alice.id, request, undefined, old))).toMatchObject({ reason: 'superseded' })
  })

  it('takes the time of an earlier sign-in for signedInWithin, and issues a token that has just begun', async () => {
    const { auth } = await start({ sessions: undefined })
    const issuedAt = new Date(Date.now() - 172_800_000)
    const { authenticationToken } = await auth.signIn(alice.id, { ...req, socket: {} } as Request, undefined, {
      issuedAt,
    })
    const { iat, auth_time } = decodePayload(authenticationToken)
    expect(Number(iat)).toBeGreaterThan(issuedAt.getTime() / 1000 + 172_000)
    expect(auth_time).toBe(Math.floor(issuedAt.getTime() / 1000))
  })
})
