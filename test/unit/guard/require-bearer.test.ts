// Tests guard/{guard,refuse,steps}.ts accounts/find-account.ts

import { fileURLToPath } from 'node:url'
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import {
  type AccountStore,
  AuthError,
  type AuthEvent,
  authOf,
  createTokenVerifier,
  memoryStore,
  type PrivateClaims,
  requireBearer,
  type TokenIssuer,
  type TokenVerifier,
  type VerifiedToken,
} from 'express-token-endpoint'
import { BearerStrategy } from 'express-token-endpoint/passport'
import fc from 'fast-check'
import { Passport } from 'passport'
import { describe, expect, it, vi } from 'vitest'
import { mayHaveSession } from '../../../src/tokens/verified-token.js'
import { until } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  forge,
  frozenClock,
  goodParts,
  ISSUER,
  issueNow,
  makeIssuer,
  makeStore,
  SECRET,
} from '../../support/fixtures.js'
import { expectProblem, expectUnavailable, passFailuresOn, passOn, send } from '../../support/host.js'
import { EXPRESS, listen } from '../../support/http.js'
import { hang } from '../../support/values/invalid-results.js'

type Options = Parameters<typeof requireBearer>[0]

const tokens = makeIssuer()
const tokenOf = (accountId: string = ACCOUNTS.alice.id, scopes: readonly string[] = [], issuer: TokenIssuer = tokens) =>
  issueNow(issuer, { accountId, scopes }).token

/** Starts an app with these handlers. Returns a function that sends a request with the value of an `Authorization` header. */
async function start(...handlers: RequestHandler[]) {
  const { port } = await listen(express().use(...handlers))
  return (authorization?: string, path = '/', headers = {}) =>
    send(port, { method: 'GET', path, headers: { ...(authorization && { Authorization: authorization }), ...headers } })
}

/** Starts an app with a guard. Returns a function that sends a token, and the admitted requests. */
async function guarded(options: Partial<Options> = {}) {
  const seen: Request[] = []
  const ask = await start(requireBearer({ tokens, ...options }), (req, res) => {
    seen.push(req)
    res.end('in')
  })
  return { ask: (token?: string) => ask(token && `Bearer ${token}`), seen }
}

/** Collects what the host's error handler receives. */
function collector<T>(select: (error: AuthError, req: Request) => T) {
  const seen: T[] = []
  const handler: ErrorRequestHandler = (error, req, res, _next) => {
    seen.push(select(error, req))
    res.status(599).end()
  }
  return { seen, handler: handler as unknown as RequestHandler }
}

/** Another middleware that sets `req.auth`. */
const setAuth: RequestHandler = (req, _res, next) => {
  Object.assign(req, { auth: { accountId: 'acc-1' } })
  next()
}

const storeOf = (findById: NonNullable<AccountStore['findById']>) => ({ findByEmail: () => null, findById })
const changed = (change: object) => storeOf(() => ({ ...ACCOUNTS.alice, ...change }))

describe('req.auth', () => {
  it('is the verified token, without the token’s text', async () => {
    const { ask, seen } = await guarded()
    const token = tokenOf('a', ['x'])
    expect((await ask(token)).status).toBe(200)
    expect(seen[0]?.auth).toBe(await tokens.verify(token))
    expect(JSON.stringify(seen[0]?.auth)).not.toContain(token.split('.')[2])
  })

  it('is all that the guard adds to the request', async () => {
    const added: unknown[] = []
    const ask = await start((req, res, next) => {
      const before = new Set(Reflect.ownKeys(req))
      requireBearer({ tokens })(req, res, (error) => {
        added.push(Reflect.ownKeys(req).filter((key) => !before.has(key)))
        next(error)
      })
    })
    await ask(`Bearer ${tokenOf()}`)
    expect(added).toEqual([['auth']])
  })

  it('of another middleware is removed where no token came, and for the host’s error handler', async () => {
    const { seen, handler } = collector((_error, req) => req.auth)
    const read: RequestHandler = (req, res) => res.json(req.auth ?? null)
    expect((await (await start(setAuth, requireBearer({ tokens, optional: true }), read))()).body).toBe('null')
    const failing = { isRevoked: () => Promise.reject(), refuse: passOn }
    await (await start(setAuth, requireBearer({ tokens, ...failing }), handler))(`Bearer ${tokenOf()}`)
    expect(seen).toEqual([undefined])
  })
})

describe('a verifier of the host’s own', () => {
  const own = { id: 'a', accountId: 'b', scopes: ['c'], issuedAt: new Date(0) }
  const verifier = (verify: TokenVerifier['verify']) => ({ issuer: ISSUER, audience: ISSUER, verify })

  it('is believed when it returns a token', async () => {
    const { ask, seen } = await guarded({ tokens: verifier(async () => own as never), scope: 'c' })
    expect((await ask('x.y.z')).status).toBe(200)
    expect(seen[0]?.auth).toMatchObject(own)
    expect(authOf(seen[0] as Request)).toBe(seen[0]?.auth)
  })

  it.each([...[undefined, false, {}, Object.assign([], own), { ...own, id: 1 }, { ...own, scopes: 'c' }]])(
    'lets nobody through when it returns no token, nor as nobody: %j',
    async (answer) => {
      for (const options of [{}, { optional: true }, { isRevoked: () => false }]) {
        const { ask, seen } = await guarded({ tokens: verifier(async () => answer as never), ...options })
        expectUnavailable(await ask('x.y.z'))
        expect(seen).toEqual([])
      }
    },
  )

  it('is believed when it says itself that it is unavailable', async () => {
    const { seen, handler } = collector((error) => error)
    const error = new AuthError('unavailable', { dependency: 'keys', retryAfter: 9 })
    const failing = verifier(() => Promise.reject(error))
    await (await start(requireBearer({ tokens: failing, refuse: passOn }), handler))('Bearer x.y.z')
    expect(seen).toMatchObject([{ code: 'unavailable', dependency: 'keys', headers: { 'Retry-After': '9' } }])
  })
})

describe('optional', () => {
  it.each([
    ['nothing', undefined],
    ['another scheme', 'Basic Zm9vOmJhcg=='],
  ])('%s goes on without req.auth, and without asking anybody', async (_what, authorization) => {
    const isRevoked = vi.fn(() => true)
    const findById = vi.fn(() => null)
    const guard = requireBearer({ tokens, optional: true, scope: 'a', isRevoked, accounts: storeOf(findById) })
    const ask = await start(guard, (req, res) => res.json(Object.keys(req)))
    const { status, body } = await ask(authorization)
    expect(status).toBe(200)
    for (const name of ['auth', 'user']) expect(JSON.parse(body)).not.toContain(name)
    expect([...isRevoked.mock.calls, ...findById.mock.calls]).toEqual([])
  })

  it.each<[string, string, number, Partial<Options>]>([
    ['an expired one', forge(goodParts().header, { ...goodParts(1000).payload }), 401, {}],
    ['too little scope', tokenOf('a', ['x']), 403, { scope: 'y' }],
    ['a revoked one', tokenOf(), 401, { isRevoked: () => true }],
    ['one that nobody can tell about', tokenOf(), 503, { isRevoked: hang, timeout: '20ms' }],
    ['a deleted account’s', tokenOf(), 401, { accounts: storeOf(() => null) }],
  ])('still refuses %s', async (_what, token, status, options) => {
    const { ask, seen } = await guarded({ optional: true, ...options })
    expect((await ask(token)).status).toBe(status)
    expect(seen).toHaveLength(0)
  })
})

describe('accounts', () => {
  describe('a scope counts only while the token and the account have it', () => {
    const token = tokenOf('acc-1', ['a', 'b'])
    it.each<[string, string[] | null | undefined, Partial<Options>, number]>([
      ['no required scope', undefined, {}, 200],
      ['an account that has it', ['a'], { scope: 'a' }, 200],
      ['an account that has lost it', ['b'], { scope: 'a' }, 403],
      ['an account without scopes', undefined, { scope: 'a' }, 403],
      ['an account whose scopes are null', null, { scope: 'a' }, 403],
      ['a scope that only the account has', ['c'], { scope: 'c' }, 403],
      ['two scopes, of which the account has lost one', ['a'], { scope: 'a b' }, 403],
      ['anyScope with one that both have', ['b'], { anyScope: 'a b' }, 200],
      ['anyScope with one of each', ['c'], { anyScope: 'a c' }, 403],
    ])('%s', async (_, scopes, options, status) => {
      const onEvent = vi.fn()
      const { ask } = await guarded({ accounts: changed({ scopes }), onEvent, ...options })
      const answer = await ask(token)
      expect(answer.status).toBe(status)
      if (status === 200) return
      expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope".* scope="/)
      const event = { type: 'bearer.refused', code: 'insufficient_scope', accountId: 'acc-1' }
      expect(onEvent.mock.calls).toEqual([[expect.objectContaining(event)]])
    })
  })

  it('the token of the request has the scopes that both have, for every reader', async () => {
    const token = tokenOf('acc-1', ['a', 'b'])
    const allow = vi.fn((_req: unknown, _account: object, _auth: VerifiedToken) => true)
    const scopes = [['b', 'c'], undefined, ['a', 'b']]
    const accounts = storeOf(() => ({ ...ACCOUNTS.alice, scopes: scopes.shift() }))
    const { ask, seen } = await guarded({ accounts, allow })
    for (const _ of [1, 2, 3]) expect((await ask(token)).status).toBe(200)
    const own = seen.map((req) => authOf(req))
    expect(own.map((auth) => auth.scopes)).toEqual([['b'], [], ['a', 'b']])
    expect(allow.mock.calls.map(([, , auth]) => auth)).toEqual(own)
    const verified = await tokens.verify(token)
    expect(verified.scopes).toEqual(['a', 'b'])
    expect(own[2]).not.toBe(verified)
    expect(own[2]).toEqual(verified)
    for (const auth of own) {
      expect(auth).toEqual({ ...verified, scopes: auth.scopes })
      expect([auth, auth.scopes, auth.claims].map(Object.isFrozen)).toEqual([true, true, true])
    }
  })

  it('keeps the kind of a token, its session and its milliseconds', async () => {
    const accounts = changed({ scopes: ['c'] })
    const key = { id: 'key-1', accountId: 'acc-1', scopes: ['c', 'd'], issuedAt: new Date(1_700_000_000_123) }
    const keys = { issuer: 'urn:keys', accepts: () => true, verify: async () => key }
    const guard = requireBearer({ tokens: [tokens, keys], accounts })
    const { token } = issueNow(tokens, { accountId: 'acc-1', scopes: ['c'], sessionId: 's-1' })
    const { sessionId, issuedAt } = await tokens.verify(token)
    const ask = await start(guard, (req, res) => {
      const auth = authOf(req)
      res.json([auth.scopes, auth.sessionId, auth.issuedAt, mayHaveSession(auth)])
    })
    expect(JSON.parse((await ask(`Bearer ${token}`)).body)).toEqual([['c'], sessionId, issuedAt.toISOString(), true])
    expect(JSON.parse((await ask('Bearer key')).body)).toEqual([['c'], null, key.issuedAt.toISOString(), false])
  })

  it('sets req.user to the account, without its password hash', async () => {
    const account = { ...ACCOUNTS.alice, claims: { tenant: 'north' } }
    const { ask, seen } = await guarded({ accounts: makeStore([account]) })
    expect((await ask(tokenOf())).status).toBe(200)
    const { passwordHash, ...rest } = account
    expect(seen[0]?.user).toEqual(rest)
    expect(account.passwordHash).toBe(passwordHash)
  })

  it('is asked for the id in the token, on every request', async () => {
    const findById = vi.fn(makeStore().findById)
    const { ask } = await guarded({ accounts: storeOf(findById) })
    for (const { id } of [ACCOUNTS.alice, ACCOUNTS.bob, ACCOUNTS.bob]) await ask(tokenOf(id))
    expect(findById.mock.calls).toEqual([['acc-1'], ['acc-2'], ['acc-2']])
  })

  it('is asked as a method of the store', async () => {
    class Store {
      #account = ACCOUNTS.alice
      findByEmail = () => null
      async findById(_id: string) {
        return this.#account
      }
    }
    const { ask } = await guarded({ accounts: new Store() })
    expect((await ask(tokenOf())).status).toBe(200)
  })

  it.each([
    ['an hour before', -3_600_000, 200],
    ['a millisecond before', -1, 200],
    ['the millisecond of issue', 0, 200],
    ['a millisecond after', 1, 401],
  ])('tokensValidAfter: %s the token was issued', async (_when, offset, status) => {
    const clock = frozenClock('2026-03-01T12:00:00.500Z')
    const issuer = makeIssuer({ clock })
    const accounts = changed({ tokensValidAfter: new Date(clock() + offset) })
    const { ask } = await guarded({ tokens: issuer, accounts })
    expect((await ask(tokenOf(ACCOUNTS.alice.id, [], issuer))).status).toBe(status)
  })

  it('is looked up after the scope and the revocation', async () => {
    const asked: string[] = []
    const isRevoked = () => asked.push('revocation') > 99
    const accounts = storeOf(() => {
      asked.push('account')
      return ACCOUNTS.alice
    })
    const { ask } = await guarded({ scope: 'a', isRevoked, accounts })
    await ask(tokenOf(ACCOUNTS.alice.id, []))
    expect(asked).toEqual([])
    await ask(tokenOf(ACCOUNTS.alice.id, ['a']))
    expect(asked).toEqual(['revocation', 'account'])
  })
})

describe('onEvent', () => {
  const eventsOf = async (options: Partial<Options>, token?: string) => {
    const events: AuthEvent[] = []
    const { ask } = await guarded({ ...options, onEvent: (event) => events.push(event) })
    await ask(token)
    return events
  }
  const base = { time: expect.any(Date), address: '127.0.0.1' }
  const about = { code: 'invalid_token', accountId: 'acc-1', tokenId: expect.any(String), issuer: ISSUER }
  const because = (reason: string) => ({ ...about, reason })

  it.each<[string, Partial<Options>, string | undefined, object]>([
    ['no token', {}, undefined, { code: 'missing_token' }],
    ['what is no JWT', {}, 'x', { code: 'invalid_token', reason: 'malformed', issuer: ISSUER }],
    ['a revoked token', { isRevoked: () => true }, tokenOf(), because('revoked')],
    ['a token without a session', { store: memoryStore() }, tokenOf(), because('revoked')],
    ['a deleted account', { accounts: storeOf(() => null) }, tokenOf(), because('unknown_account')],
    ['a disabled account', { accounts: changed({ disabled: true }) }, tokenOf(), because('account_disabled')],
    ['tokens of before', { accounts: changed({ tokensValidAfter: new Date(9e12) }) }, tokenOf(), because('superseded')],
  ])('is told of %s, and why', async (_what, options, token, event) => {
    expect(await eventsOf(options, token)).toEqual([{ type: 'bearer.refused', ...base, ...event }])
  })

  const noToken = { ...tokens, verify: async () => undefined as never }
  const returning = (value: unknown) => (() => value) as never
  const withSessions = (find: () => never) => ({ sessions: { ...memoryStore().sessions, find } })
  it.each<[string, Partial<Options>, string, string | RegExp]>([
    ['a failure', { isRevoked: () => Promise.reject(new Error('down')) }, 'revocation', /^down$/],
    ['a store that hangs', { accounts: storeOf(hang), timeout: '20ms' }, 'accounts', /20 ms/],
    ['a verifier that returns no token', { tokens: noToken }, 'keys', /^tokens: verify must return a verified token\b/],
    [
      'another account',
      { accounts: storeOf(() => ACCOUNTS.bob) },
      'accounts',
      /^accounts: findById returned a different account/,
    ],
    [
      'no result of isRevoked',
      { isRevoked: returning(undefined) },
      'revocation',
      /^isRevoked: must return true or false, but returned missing\. Is a "return" missing\?/,
    ],
    [
      'a number as the result of isRevoked',
      { isRevoked: returning(0) },
      'revocation',
      /^isRevoked: must return true or false, but returned a number\. Return Boolean\(…\) of it\./,
    ],
    ['sessions that hang', { store: withSessions(hang as never), timeout: '20ms' }, 'sessions', /20 ms/],
  ])('is told of %s, and its cause', async (_what, options, dependency, message) => {
    const error = expect.objectContaining({ message: expect.stringMatching(message) })
    const event = { type: 'dependency.failed', ...base, dependency, refused: true, error }
    expect(await eventsOf(options, tokenOf())).toEqual([{ ...event, ...(dependency === 'keys' && { issuer: ISSUER }) }])
  })
})

describe('refuse', () => {
  it('may pass a failure on to the host’s error handler with its cause, and no other refusal', async () => {
    const { seen, handler } = collector((error) => error)
    const cause = new Error('down')
    const options = { tokens, refuse: passFailuresOn, scope: 'a', isRevoked: () => Promise.reject(cause) }
    const ask = await start(requireBearer(options), handler)
    const headers = [undefined, 'Bearer a b', 'Bearer x', `Bearer ${tokenOf('a', [])}`]
    const codes = ['missing_token', 'invalid_request', 'invalid_token', 'insufficient_scope']
    for (const [i, header] of headers.entries()) expect(JSON.parse((await ask(header)).body).code).toBe(codes[i])
    expect(seen).toEqual([])
    expect((await ask(`Bearer ${tokenOf('a', ['a'])}`)).status).toBe(599)
    expect(seen).toMatchObject([{ code: 'unavailable', status: 503, dependency: 'revocation', cause }])
    expect(seen[0]).toBeInstanceOf(AuthError)
  })
})

describe('an Authorization header that a middleware has made something else of than text', () => {
  const known = tokenOf()
  it.each<[string, unknown]>([
    ['an array', [`Bearer ${known}`]],
    ['an object that becomes text', { toString: () => `Bearer ${known}` }],
    ['a Buffer', Buffer.from(`Bearer ${known}`)],
    ['null', null],
  ])('is refused, also where the guard is optional: %s', async (_, value) => {
    await tokens.verify(known)
    const change: RequestHandler = (req, _res, next) => {
      req.headers.authorization = value as string
      next()
    }
    for (const optional of [false, true]) {
      const ask = await start(change, requireBearer({ tokens, optional }))
      expectProblem(await ask(), 400, 'invalid_request', 'Bad Request')
    }
  })
})

describe('signedInWithin (RFC 9470)', () => {
  const MINUTE = 60_000
  const raise = () => {
    throw new Error('the claims cannot be read')
  }
  /** A verifier of tokens of an identity provider. */
  const providerOf = (clock = Date.now) =>
    createTokenVerifier({
      issuer: ISSUER,
      audience: ISSUER,
      keys: { alg: 'HS256', secret: SECRET, kid: 'k1' },
      accept: 'jwt',
      clock,
    })

  it.each([
    [0, 200],
    [300_000, 200],
    [301_000, 401],
  ])('a token that was issued %i ms ago: %i, also from the cache', async (age, status) => {
    const start = frozenClock()()
    let now = start
    const tokens = makeIssuer({ clock: () => now })
    const { ask } = await guarded({ tokens, signedInWithin: '5m' })
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    expect((await ask(token)).status).toBe(200)
    now += age
    expect((await ask(token)).status).toBe(status)
  })

  it.each<[unknown, number, number, number?]>([
    [undefined, 0, 200, 401],
    [-300, 0, 200],
    [-301, 0, 401],
    [-301, -301, 401],
    [0, -301, 401],
    [9999, -300, 200, 401],
    [1, 0, 200, 401],
    [9999, -301, 401],
    [null, 0, 200, 401],
    ['now', 0, 401],
    ['0', 0, 401],
    [String(2 ** 40), 0, 401],
    [[0], 0, 401],
  ])(
    'takes the auth_time %j of a token that was issued at %i: %i. A provider’s token without it may be refreshed',
    async (authTime, issued, status, provided = status) => {
      const clock = frozenClock()
      const tokens = makeIssuer({ clock })
      const partner = providerOf(clock)
      const time = typeof authTime === 'number' ? clock.seconds() + authTime : authTime
      const issuedAt = new Date((clock.seconds() + issued) * 1000)
      const { token } = issueNow(tokens, { accountId: 'acc-1', claims: { auth_time: time }, issuedAt })
      for (const [verifier, expected] of [
        [tokens, status],
        [partner, provided],
      ] as const) {
        const { ask } = await guarded({ tokens: verifier, signedInWithin: '5m' })
        for (let i = 0; i < 2; i++) expect((await ask(token)).status).toBe(expected)
      }
    },
  )

  it('refuses with a challenge that names the time', async () => {
    const custom: TokenVerifier = { ...tokens, verify: (text) => providerOf().verify(text) }
    const cases = [
      [tokens, new Date(Date.now() - 10 * MINUTE)],
      [custom, undefined],
    ] as const
    for (const [verifier, issuedAt] of cases) {
      const { ask } = await guarded({ tokens: verifier, signedInWithin: '5m' })
      const answer = await ask(issueNow(tokens, { accountId: 'acc-1', issuedAt }).token)
      expectProblem(answer, 401, 'insufficient_user_authentication', 'Unauthorized')
      expect(answer.headers['www-authenticate']).toBe(
        `Bearer realm="${ISSUER}", error="insufficient_user_authentication", error_description="This resource needs a more recent sign-in.", max_age="300"`,
      )
    }
  })

  it.each<[string, object, number]>([
    ['a recent sign-in', { at: new Date(0), groups: new Map(), auth_time: Date.now() / 1000 - 60 }, 200],
    ['an old sign-in that a class provides', Object.create({ auth_time: 1 }), 401],
    ['a time that is a Date', { auth_time: new Date() }, 401],
    ['a time that is a bigint', { auth_time: 1n }, 401],
    [
      'an acting administrator that a class provides',
      Object.assign(Object.create({ act: {} }), { auth_time: Date.now() / 1000 }),
      403,
    ],
    ['an actor that is null', { act: null }, 403],
    ['a getter that throws', Object.defineProperty({}, 'act', { get: () => raise(), enumerable: true }), 503],
    ['a trap that throws', new Proxy({}, { getOwnPropertyDescriptor: () => raise(), get: () => raise() }), 503],
  ])('reads the claims of a custom verifier as they are: %s', async (_, claims, status) => {
    const key = { id: 'key-1', accountId: 'acc-1', scopes: [], issuedAt: new Date(), claims: claims as PrivateClaims }
    const { ask, seen } = await guarded({
      tokens: { issuer: 'urn:keys', accepts: () => true, verify: async () => key },
      signedInWithin: '5m',
    })
    expect((await ask('key')).status).toBe(status)
    expect(seen.map((req) => authOf(req).claims === claims)).toEqual(status === 200 ? [true] : [])
  })

  it('needs a token, and a missing scope comes first', async () => {
    const tokens = makeIssuer()
    const { ask } = await guarded({ tokens, signedInWithin: 60, scope: 'a' })
    const old = issueNow(tokens, { accountId: 'acc-1', issuedAt: new Date(Date.now() - 10 * MINUTE) }).token
    expectProblem(await ask(), 401, 'missing_token', 'Unauthorized')
    expectProblem(await ask(old), 403, 'insufficient_scope', 'Forbidden')
  })
})

describe('scope and anyScope', () => {
  const names = fc.subarray(['a', 'b', 'c', 'd'])

  it('admit exactly the tokens with every scope and with one of anyScope', async () => {
    const tokens = makeIssuer()
    const unlessEmpty = (option: string, scopes: string[]) => (scopes.length > 0 ? { [option]: scopes } : {})
    await fc.assert(
      fc.asyncProperty(names, names, names, async (scope, anyScope, own) => {
        const guard = requireBearer({ tokens, ...unlessEmpty('scope', scope), ...unlessEmpty('anyScope', anyScope) })
        const { token } = issueNow(tokens, { accountId: 'acc-1', scopes: own })
        const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: [], url: '/', socket: {} } as never
        const admitted = await guard.authenticate(req).then(
          () => true,
          (error) => error.code !== 'insufficient_scope',
        )
        const enough = anyScope.length === 0 || anyScope.some((one) => own.includes(one))
        expect(admitted).toBe(scope.every((one) => own.includes(one)) && enough)
      }),
    )
  })

  it('anyScope refuses with a challenge that lists the scopes', async () => {
    const tokens = makeIssuer()
    const { ask } = await guarded({ tokens, anyScope: ['totals:read', 'admin'] })
    const answer = await ask(issueNow(tokens, { accountId: 'acc-1', scopes: ['other'] }).token)
    expectProblem(answer, 403, 'insufficient_scope', 'Forbidden')
    expect(answer.headers['www-authenticate']).toContain('scope="totals:read admin"')
  })
})

describe.each(EXPRESS)('the caches of an admitted response, %s', (_, express) => {
  const cacheOf = async (app: express.Express, authorization: string | undefined = `Bearer ${tokenOf()}`) => {
    const { port } = await listen(app)
    const headers = authorization ? { Authorization: authorization } : {}
    return (await send(port, { method: 'GET', path: '/auth-error.test.ts', headers })).headers['cache-control']
  }
  const folder = fileURLToPath(new URL('../errors', import.meta.url))
  const strategy = new BearerStrategy({ tokens })

  it('are private, and asked again before each use, also for a file of express.static', async () => {
    expect(await cacheOf(express().use(express.static(folder)))).toBe('public, max-age=0')
    expect(await cacheOf(express().use(requireBearer({ tokens }), express.static(folder)))).toBe('private, no-cache')
    expect(await cacheOf(express().use(requireBearer({ tokens }), (_req, res) => res.json(1)))).toBe(
      'private, no-cache',
    )
    const passport = new Passport().use(strategy).authenticate('bearer', { session: false })
    expect(await cacheOf(express().use(passport, express.static(folder)))).toBe('private, no-cache')
  })

  it('are private without a token too, where the guard is optional', async () => {
    const app = express().use(requireBearer({ tokens, optional: true }), express.static(folder))
    expect(await cacheOf(app, '')).toBe('private, no-cache')
  })

  it('are those that the host sets, before the guard and after it', async () => {
    const set =
      (value: string): RequestHandler =>
      (_req, res, next) => {
        res.set('Cache-Control', value)
        next()
      }
    const end: RequestHandler = (_req, res) => void res.end()
    for (const value of ['no-store', 'public, max-age=60']) {
      expect(await cacheOf(express().use(set(value), requireBearer({ tokens }), end))).toBe(value)
      expect(await cacheOf(express().use(requireBearer({ tokens }), set(value), end))).toBe(value)
    }
  })

  it('stay as they were sent when the host responds while the guard waits', async () => {
    const respond: RequestHandler = (_req, res, next) => {
      res.end('late')
      next()
    }
    const after = vi.fn()
    const guard = requireBearer({ tokens, isRevoked: async () => false })
    expect(await cacheOf(express().use(respond, guard, after))).toBeUndefined()
    await until(() => expect(after).toHaveBeenCalledOnce())
  })
})
