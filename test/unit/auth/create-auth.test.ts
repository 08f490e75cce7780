// Tests auth/auth-options.ts store/{store,memory-store}.ts

import { generateKeyPairSync } from 'node:crypto'
import type { Request } from 'express'
import {
  type AuthOptions,
  createAuth,
  createLimits,
  createTokenIssuer,
  createTokenVerifier,
  type MemoryAccount,
  memoryStore,
  oldTokens,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sessionIdOf } from '../../../src/sessions/session.js'
import { parse, startAuth } from '../../support/auth-app.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, decodePayload, forge, frozenClock, ISSUER, SECRET, signingKey } from '../../support/fixtures.js'
import { GOOD } from '../../support/host.js'
import { TOKEN_PATH } from '../../support/http.js'
import { memoryCodes, memorySessions } from '../../support/sessions.js'

const { alice } = ACCOUNTS
const HS256 = { alg: 'HS256', secret: SECRET } as const

describe('createAuth', () => {
  it('signs users in, guards routes with the account, lists sessions and publishes keys', async () => {
    const { get, send, signIn } = await startAuth({ keys: signingKey('ES256') })
    const { authenticationToken } = await signIn()
    const me = parse(await get('/me', authenticationToken))
    expect(me).toMatchObject({ auth: { accountId: alice.id }, user: { id: alice.id, team: 'north' } })
    expect(me.user).not.toHaveProperty('passwordHash')
    expect(parse(await get('/sessions', authenticationToken)).sessions).toMatchObject([{ current: true }])
    expect(parse(await send({ method: 'GET', path: '/.well-known/jwks.json' })).keys).toHaveLength(1)
  })

  it('publishes no keys for a secret', async () => {
    const { send } = await startAuth()
    expect(await send({ method: 'GET', path: '/.well-known/jwks.json' })).toMatchObject({ status: 404 })
  })

  it('refuses at every guard a token whose session has ended or whose account is disabled', async () => {
    const { get, list, send, signIn } = await startAuth()
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
    const { get, signIn } = await startAuth({ isRevoked: () => true })
    expect(await get('/me', (await signIn()).authenticationToken)).toMatchObject({ status: 401 })
  })

  it.each(['tokens', 'accounts', 'store', 'isRevoked'])('lets no guard go without its %s', async (name) => {
    const { auth } = await startAuth()
    expectMisuse(() => auth.guard({ [name]: undefined }), `auth.guard() does not take "${name}"`)
  })

  it('throws a TypeError for the option "ticket" of a guard that is not a boolean', async () => {
    const { auth } = await startAuth()
    expectMisuse(() => auth.guard({ ticket: 'yes' as never }), 'auth.guard: option "ticket" must be')
  })

  it('names its issuer in the event of a text that is no token', async () => {
    const { events, get } = await startAuth()
    await get('/me', 'x')
    expect(events).toMatchObject([{ type: 'bearer.refused', reason: 'malformed', issuer: ISSUER }])
  })

  it('names its guard in the message about an option of the guard', async () => {
    const { auth } = await startAuth()
    const says = 'auth.guard: unknown option "role". Pass its name as "scope"'
    expectMisuse(() => auth.guard({ role: 'admin' } as never), says)
  })

  it('throws a TypeError for an invalid option of its guards before the first guard is made', () => {
    const given = { issuer: ISSUER, keys: HS256, accounts: () => null, limits: false } as const
    expectMisuse(() => createAuth({ ...given, scheme: 'two words' }), /scheme/)
  })

  it('has the paths of the option', async () => {
    const paths = { token: '/login', sessions: '/devices', keys: '/keys' }
    const { get, post, send } = await startAuth({ keys: signingKey('ES256'), paths }, '/api')
    const { authenticationToken } = parse(await post('/api/login', GOOD))
    expect(await get('/api/devices', authenticationToken)).toMatchObject({ status: 200 })
    expect(await send({ method: 'GET', path: '/api/keys' })).toMatchObject({ status: 200 })
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 404 })
    expect(await get('/api/Devices', authenticationToken)).toMatchObject({ status: 404 })
  })

  it('takes a function as accounts, and its guards then look no account up', async () => {
    const findByEmail = (email: string) => (email === alice.email ? { ...alice, team: 'north' } : undefined)
    const { auth, get, signIn } = await startAuth({ accounts: findByEmail, store: undefined })
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
    const { auth } = await startAuth()
    expect(await auth.sessions?.list('acc-9')).toEqual([])
    const code = await auth.codes?.create({ purpose: 'verify', accountId: 'acc-9' })
    expect(await auth.codes?.take('verify', code)).toEqual({ accountId: 'acc-9', data: undefined })
    const issued = await auth.tokens.issue({ accountId: 'acc-9' })
    expect(decodePayload(issued.token)).toMatchObject({ sub: 'acc-9', iss: ISSUER })
    expect(await auth.logIn(GOOD)).toMatchObject({ subject: { accountId: alice.id } })
    expect(auth.limits).toBe(false)
    expect(await auth.passwords.verify('x', await auth.passwords.hash('x'))).toBe(true)
  })

  it('accepts tokens of the old code at every guard, which have no session', async () => {
    const secret = 'old'
    const old = oldTokens({
      keys: { alg: 'HS256', secret },
      accountId: ({ id }) => id,
      until: new Date(Date.now() + 60_000),
    })
    const { get, send, signIn } = await startAuth({ alsoAccept: [old] })
    const text = forge({ alg: 'HS256' }, { id: alice.id, iat: 1 }, secret)
    expect(parse(await get('/me', text))).toMatchObject({ auth: { accountId: alice.id }, user: { team: 'north' } })
    expect(await get('/reports', text)).toMatchObject({ status: 403 })
    const { authenticationToken } = await signIn()
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
    // It has no session, so it sees and ends none.
    const byOld = async (method: string, path: string) =>
      (await send({ method, path, headers: { authorization: `Bearer ${text}` } })).status
    expect([await byOld('GET', '/sessions'), await byOld('DELETE', '/sessions')]).toEqual([401, 401])
    expect(await byOld('POST', '/sessions/sign-out')).toBe(401)
    expect(await get('/reports', authenticationToken)).toMatchObject({ status: 200 })
  })

  it('shows the sessions to tokens of each issuer that it accepts', async () => {
    const former = createTokenIssuer({ issuer: 'https://old.example.com', keys: { alg: 'HS256', secret: SECRET } })
    const { get, sessions } = await startAuth({ alsoAccept: [former] })
    const { token, id, expiresAt } = await former.issue({ accountId: alice.id })
    await sessions.start({ id, accountId: alice.id, expiresAt })
    expect(parse(await get('/sessions', token))).toMatchObject({ sessions: [{ current: true }] })
  })

  it('lets no token of an identity provider act on a session that it names', async () => {
    const issuer = 'https://id.example.com'
    const provider = createTokenVerifier({ issuer, accept: 'jwt', audience: ISSUER, keys: HS256 })
    const { auth, sessions, signIn } = await startAuth({ alsoAccept: [provider] })
    const own = await auth.tokens.verify((await signIn()).authenticationToken)
    const iat = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: ISSUER, client_id: 'app', iat, exp: iat + 60 }
    for (const sub of [alice.id, 'acc-2']) {
      const payload = { ...claims, sub, jti: sessionIdOf(own) }
      const foreign = await provider.verify(forge({ alg: 'HS256', typ: 'at+jwt' }, payload, SECRET))
      expect(foreign).toMatchObject({ id: sessionIdOf(own), accountId: sub })
      expect(await sessions.isEnded(foreign)).toBe(true)
      expect(await sessions.end(foreign, foreign.id)).toBe(false)
      const update = sessions.update({ auth: foreign }, { admin: true })
      expect(await rejectionOf(update)).toMatchObject({ code: 'invalid_token', reason: 'revoked' })
      expect(await rejectionOf(sessions.endOthers(foreign))).toBeInstanceOf(TypeError)
    }
    expect(await sessions.isEnded(own)).toBe(false)
  })

  it('says of an old token with the session of another account that its session has ended', async () => {
    const options = { until: new Date(Date.now() + 60_000), accountId: () => 'acc-2', sessionId: () => named }
    const old = oldTokens({ keys: { alg: 'HS256', secret: 'old' }, ...options })
    const { auth, get, sessions, signIn } = await startAuth({ alsoAccept: [old] })
    const named = sessionIdOf(await auth.tokens.verify((await signIn()).authenticationToken))
    const text = forge({ alg: 'HS256' }, { iat: 1 }, 'old')
    expect(await sessions.isEnded(await old.verify(text))).toBe(true)
    expect(await get('/me', text)).toMatchObject({ status: 401 })
  })

  it('has one set of limits for the router and for logIn', async () => {
    const limits = createLimits({ limits: { account: { points: 1, duration: '1h' } } })
    const { auth, post } = await startAuth({ limits })
    await rejectionOf(auth.logIn({ ...GOOD, password: 'wrong' }))
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 429 })
  })

  it('makes its own limits and passwords when it gets none, and warns of second limits for the same accounts', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const accounts = () => undefined
    const { auth } = await startAuth({ accounts, store: undefined, limits: undefined, passwords: undefined })
    expect(auth.limits).toHaveProperty('reset')
    expect(auth.passwords).toHaveProperty('load')
    expect(warned).not.toHaveBeenCalled()
    tokenRouter({ tokens: auth.tokens, accounts })
    expect(warned.mock.calls[0]?.[0]).toContain('failed-login limits')
  })

  it('has one clock: a token has its time, and guards refuse the token when it has expired', async () => {
    const clock = frozenClock()
    const { get, signIn } = await startAuth({ clock, store: undefined })
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
    const { events, post } = await startAuth({ store: undefined, timeout: '200ms', ...options })
    expect(await post(TOKEN_PATH, GOOD)).toMatchObject({ status: 503 })
    expect(events).toMatchObject([{ type: 'dependency.failed', error: { message: 'no result within 200 ms' } }])
  })

  it('has one time limit for its guards too, which report to the same function', async () => {
    const { auth, events, get } = await startAuth({ store: undefined, timeout: '1ms', isRevoked: hang })
    const { token } = await auth.tokens.issue({ accountId: alice.id, scopes: ['reports:read'] })
    expect(await get('/reports', token)).toMatchObject({ status: 503 })
    expect(events).toMatchObject([{ type: 'dependency.failed', error: { message: 'no result within 1 ms' } }])
  })

  it('requires the scopes that the class of the options of a guard provides, also of a ticket', async () => {
    const auth = createAuth({ issuer: ISSUER, keys: HS256, accounts: () => null })
    class ForReports {
      readonly ticket = true
      get scope() {
        return ['reports:read']
      }
    }
    const { token } = auth.tokens.issueSync({ accountId: 'acc-1' })
    const req = { method: 'GET', url: '/', headers: { authorization: `Bearer ${token}` }, rawHeaders: [] } as never
    await auth.guard().authenticate(req)
    const url = `/a?ticket=${await auth.ticket(req, { path: '/a' })}`
    for (const sent of [req, { method: 'GET', url, headers: {}, rawHeaders: [] } as never]) {
      const asked = auth.guard(new ForReports()).authenticate(sent)
      expect(await rejectionOf(asked)).toMatchObject({ code: 'insufficient_scope' })
    }
  })

  const MOUNT_PATH = 'option "mountPath" must be a path like "/api", without a trailing slash'
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
    ['a verifier that is not in a list', { alsoAccept: {} }, 'option "alsoAccept" must be a list of verifiers'],
    ['a mount path without a slash at its beginning', { mountPath: 'api' }, MOUNT_PATH],
    ['an option of a part', { lifetime: -1 }, 'option "lifetime"'],
    [
      'a store of codes only',
      { store: memoryCodes() },
      'option "store" must be memoryStore(), or an object with "sessions", "codes" or "factors", but is an object. Pass { codes }',
    ],
    ['a store of sessions only', { store: memorySessions() }, 'Pass { sessions } with this object'],
    ['a store without parts', { store: {} }, 'option "store" must be memoryStore(), or an object { sessions } whose'],
    [
      'wrong codes',
      { store: { codes: { add() {} } } },
      'a store whose "codes" have "add", "find", "take", "removeAll"',
    ],
    ['wrong sessions', { store: { ...memoryStore(), sessions: {} } }, 'option "store" must be memoryStore()'],
    ['a label without sessions', { sessionLabel: () => 'x' }, 'createAuth: option "sessionLabel" needs "store"'],
    ['a maximum without a store', { maxPerAccount: 3 }, 'createAuth: option "maxPerAccount" needs "store"'],
    [
      'a maximum for a store of codes',
      { maxPerAccount: 3, store: { codes: memoryCodes() } },
      'option "maxPerAccount" needs "store" with "sessions"',
    ],
    ['a maximum of 0', { maxPerAccount: 0 }, 'a number of sessions, a whole number from 1 to 1000'],
    ['a maximum of 1001', { maxPerAccount: 1001 }, 'a number of sessions, a whole number from 1 to 1000'],
  ])('throws a TypeError for %s', async (_, options, message) => {
    expectMisuse(() => createAuth({ issuer: ISSUER, keys: HS256, accounts: () => null, ...options }), message)
  })

  it.each([
    ['privateKey', 'keys'],
    ['expiresIn', 'lifetime'],
    ['ttl', 'lifetime'],
    ['mount', 'mountPath'],
    ['oldTokens', 'alsoAccept'],
    ['refreshToken', 'refresh'],
    ['sessions', 'store'],
    ['codes', 'store'],
  ])('knows what "%s" means', (word, option) => {
    expectMisuse(() => createAuth({ [word]: 'x' } as never), `Did you mean "${option}"`)
  })

  it.each([
    ['jwks', 'keys'],
    ['login', 'token'],
    ['signIn', 'token'],
  ])('knows what the path "%s" means', (word, path) => {
    expectMisuse(() => createAuth({ accounts: () => null, paths: { [word]: '/x' } } as never), `Did you mean "${path}"`)
  })
})
