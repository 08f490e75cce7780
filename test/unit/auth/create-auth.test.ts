// Tests auth/{auth-options,auth-sign-in,create-auth}.ts login/{account-by-id,finish-sign-in}.ts

import { generateKeyPairSync } from 'node:crypto'
import express, { type Request } from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  authOf,
  createAuth,
  createLogin,
  createSessions,
  createThrottle,
  type MemoryAccount,
  memorySessions,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import {
  ACCOUNTS,
  decodePayload,
  fastPasswords,
  frozenClock,
  ISSUER,
  SECRET,
  signingKey,
} from '../../support/fixtures.js'
import { type Answer, asJson, GOOD } from '../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../support/http.js'

const { alice, bob } = ACCOUNTS
const HS256 = { alg: 'HS256', secret: SECRET } as const
const parse = ({ body }: Answer) => JSON.parse(body)

/** Starts an app whose accounts the test changes. */
async function start(options: Partial<AuthOptions<MemoryAccount & { team: string }>> = {}, mount = '') {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const list = [alice, bob].map((one) => ({ ...one, team: 'north' }))
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
  app.post('/act-as', auth.guard(), async (req, res) => {
    res.json(await auth.signIn(bob.id, req, res, { actor: authOf(req) }))
  })
  app.use(auth.errors)
  const { port } = await listen(app)
  const send = client(port)
  const post = (path: string, body: object = {}, headers = {}) => {
    const sent = asJson(body)
    return send({ ...sent, method: 'POST', path, headers: { ...sent.headers, ...headers } })
  }
  const get = (path: string, token: string) => send(bearer(token, path))
  const signIn = async (body: object = GOOD) => parse(await post(mount + TOKEN_PATH, body))
  return { auth, events, list, sessions, send, post, get, signIn }
}

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

  it('has the paths of the option', async () => {
    const paths = { token: '/login', sessions: '/devices', keys: '/keys' }
    const { get, post, send } = await start({ keys: signingKey('ES256'), paths }, '/api')
    const { authenticationToken } = parse(await post('/api/login', GOOD))
    expect(await get('/api/devices', authenticationToken)).toMatchObject({ status: 200 })
    expect(await send({ method: 'GET', path: '/api/keys' })).toMatchObject({ status: 200 })
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 404 })
    expect(await get('/api/Devices', authenticationToken)).toMatchObject({ status: 404 })
  })

  it('takes a function as accounts, and its guards then look no account up', async () => {
    const findByEmail = (email: string) => (email === alice.email ? { ...alice, team: 'north' } : undefined)
    const { auth, get, signIn } = await start({ accounts: findByEmail, sessions: undefined })
    const { authenticationToken } = await signIn()
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    expect(() => auth.userOf({ auth: undefined })).toThrow('authOf')
    const verified = await auth.tokens.verify(authenticationToken)
    expectMisuse(
      () => auth.userOf({ auth: verified } as never),
      'createAuth: userOf() needs "accounts" with "findById"',
    )
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

  it('has one set of limits for the router and for logIn', async () => {
    const throttle = createThrottle({ limits: { account: { points: 1, duration: '1h' } } })
    const { auth, post } = await start({ throttle })
    await rejectionOf(auth.logIn({ ...GOOD, password: 'wrong' }))
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 429 })
  })

  it('makes its own limits and passwords when it gets none, and warns of second limits for the same accounts', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const accounts = () => undefined
    const { auth } = await start({ accounts, sessions: undefined, throttle: undefined, passwords: undefined })
    expect(auth.throttle).toHaveProperty('reset')
    expect(auth.passwords).toHaveProperty('load')
    expect(warned).not.toHaveBeenCalled()
    createLogin({ accounts })
    expect(warned.mock.calls[0]?.[0]).toContain('failed-login limits')
  })

  it('has one clock: a token has its time, and guards refuse the token when it has expired', async () => {
    const clock = frozenClock()
    const { get, signIn } = await start({ clock, sessions: undefined })
    const { authenticationToken } = await signIn()
    expect(decodePayload(authenticationToken)['iat']).toBe(clock() / 1000)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    clock.advance(600_000)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 401 })
  })

  const hang = () => new Promise<never>(() => {})
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  it.each<[string, Partial<AuthOptions<MemoryAccount & { team: string }>>]>([
    ['a key', { keys: { alg: 'ES256', publicKey, sign: hang } }],
    ['the accounts', { accounts: hang }],
    ['the router', { respond: hang }],
  ])('has one time limit, also for a function of %s that hangs: 503 with an event', async (_, options) => {
    const { events, post } = await start({ sessions: undefined, timeout: '1ms', ...options })
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 503 })
    expect(events).toMatchObject([{ type: 'dependency.failed', error: { message: 'no result within 1 ms' } }])
  })

  it('has one time limit for its guards too, which report to the same function', async () => {
    const { auth, events, get } = await start({ sessions: undefined, timeout: '1ms', isRevoked: hang })
    const { token } = await auth.tokens.issue({ accountId: alice.id, scopes: ['reports:read'] })
    expect(await get('/reports', token)).toMatchObject({ status: 503 })
    expect(events).toMatchObject([{ type: 'dependency.failed', error: { message: 'no result within 1 ms' } }])
  })

  const MOUNT_PATH = 'option "mountPath" must be a path like "/api", without a slash at its end'
  it.each<[string, object, string]>([
    ['an unknown option', { lifetim: '1h' }, 'createAuth: unknown option "lifetim"'],
    ['the path of the token endpoint as "path"', { path: '/login' }, 'Did you mean "paths"'],
    ['an unknown path', { paths: { jwk: '/keys' } }, 'unknown option "jwk"'],
    [
      'paths that are a text',
      { paths: '/login' },
      'option "paths" must be an object of paths, like { token: \'/login\' }',
    ],
    ['a mount path with a slash at its end', { mountPath: '/api/' }, MOUNT_PATH],
    ['a mount path without a slash at its beginning', { mountPath: 'api' }, MOUNT_PATH],
    ['an option of a part', { lifetime: -1 }, 'option "lifetime"'],
  ])('throws a TypeError for %s', async (_, options, message) => {
    expectMisuse(() => createAuth({ issuer: ISSUER, keys: HS256, accounts: () => null, ...options }), message)
  })

  it.each([
    ['secret', 'keys'],
    ['privateKey', 'keys'],
    ['expiresIn', 'lifetime'],
    ['ttl', 'lifetime'],
    ['rememberMe', 'refresh'],
    ['cookie', 'refresh'],
    ['basePath', 'paths'],
    ['url', 'paths'],
    ['prefix', 'mountPath'],
    ['mount', 'mountPath'],
    ['refreshToken', 'refresh'],
    ['session', 'sessions'],
    ['users', 'accounts'],
  ])('knows what "%s" means', (word, option) => {
    expectMisuse(() => createAuth({ [word]: 'x' } as never), `Did you mean "${option}"`)
  })

  it.each([
    ['jwks', 'keys'],
    ['login', 'token'],
    ['signIn', 'token'],
  ])('knows what the path "%s" means', (word, path) => {
    expectMisuse(() => createAuth({ paths: { [word]: '/x' } } as never), `Did you mean "${path}"`)
  })
})

describe('auth.signIn', () => {
  it('signs an account in without its password: with a session, and a token that the guards accept', async () => {
    const { events, get, post } = await start()
    const { authenticationToken, expiration, ...rest } = parse(await post('/passkey'))
    expect(rest).toEqual({})
    expect(new Date(expiration).toISOString()).toBe(expiration)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    expect(events).toMatchObject([{ type: 'session.started' }, { type: 'token.issued', address: '127.0.0.1' }])
  })

  it('sets the cookie with the refresh token for the mount path of the router', async () => {
    const { post } = await start({ refresh: 'cookie', mountPath: '/api/v1' }, '/api/v1')
    const { headers } = await post('/passkey')
    expect(String(headers['set-cookie'])).toMatch(/Path=\/api\/v1\/api\/v2013\/authentication\/token; Max-Age=/)
    const [cookie] = String(headers['set-cookie']).split(';')
    const refreshed = await post(`/api/v1${TOKEN_PATH}/refresh`, {}, { cookie, 'sec-fetch-site': 'same-origin' })
    expect(refreshed).toMatchObject({ status: 200 })
  })

  it('sets a cookie that ends with the browser, and names the device, as its details say', async () => {
    const { get, post } = await start({ refresh: 'cookie' })
    const answer = await post('/device')
    expect(String(answer.headers['set-cookie'])).toContain(`Path=${TOKEN_PATH};`)
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
    const { events, list, post, sessions } = await start()
    Object.assign(list[0] as object, change)
    expect(await post('/passkey')).toMatchObject({ status: 403, body: '' })
    expect(await sessions.list(alice.id)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', code: 'invalid_credentials', accountId: alice.id })
  })

  it('lets an administrator act as a user: with both names in the token and in the event, and without refresh', async () => {
    const { events, get, post, signIn } = await start({ refresh: 'cookie' })
    const { authenticationToken } = await signIn()
    events.length = 0
    const answer = await post('/act-as', {}, { authorization: `Bearer ${authenticationToken}` })
    const acting = parse(answer).authenticationToken
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(decodePayload(acting)).toMatchObject({ sub: bob.id, act: { sub: alice.id } })
    expect(events.at(-1)).toMatchObject({ type: 'token.issued', accountId: bob.id, actorId: alice.id })
    expect(parse(await get('/me', acting)).user).toMatchObject({ id: bob.id })
  })

  it('keeps the first actor when an acting administrator acts as somebody else', async () => {
    const { post, signIn } = await start()
    const { authenticationToken } = await signIn()
    const acting = parse(await post('/act-as', {}, { authorization: `Bearer ${authenticationToken}` }))
    const again = parse(await post('/act-as', {}, { authorization: `Bearer ${acting.authenticationToken}` }))
    expect(decodePayload(again.authenticationToken)['act']).toEqual({ sub: bob.id, act: { sub: alice.id } })
  })

  const req = { headers: {} } as Request
  it.each<[string, unknown[], string]>([
    ['no account', [undefined, req], 'pass the account, or its id'],
    ['an empty id', ['', req], 'pass the account, or its id'],
    ['no request', ['acc-1'], 'pass the request'],
    ['no response for the cookie', ['acc-1', req], 'pass the response too'],
    ['an unknown detail', ['acc-1', req, {}, { devise: 'x' }], 'signIn: unknown option "devise"'],
    ['the label as "device"', ['acc-1', req, {}, { device: 'x' }], 'Did you mean "label"'],
    ['a text as a time', ['acc-1', req, {}, { issuedAt: 'now' }], '"issuedAt" must be a valid Date'],
    ['an actor that is no verified token', ['acc-1', req, {}, { actor: { accountId: 'acc-2' } }], 'authOf(req)'],
  ])('throws a TypeError for %s', async (_, args, message) => {
    const { auth } = await start({ refresh: 'cookie' })
    const error = await rejectionOf(auth.signIn(...(args as Parameters<typeof auth.signIn>)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('refuses a sign-in whose user has ended all sessions since the host authenticated the user', async () => {
    const { auth, list } = await start({ sessions: undefined })
    const request = { ...req, socket: {} } as Request
    const issuedAt = new Date(Date.now() - 5000)
    Object.assign(list[0] as object, { tokensValidAfter: new Date(Date.now() - 1000) })
    const { authenticationToken } = await auth.signIn(alice.id, request, undefined, { issuedAt })
    expect(decodePayload(authenticationToken)['iat']).toBe(Math.floor(issuedAt.getTime() / 1000))
  })
})
