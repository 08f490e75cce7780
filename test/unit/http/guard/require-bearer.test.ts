import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import {
  type AccountStore,
  AuthError,
  type AuthEvent,
  authOf,
  createTokenVerifier,
  memoryAccounts,
  requireBearer,
  type TokenIssuer,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { expectMisuse } from '../../../support/failures.js'
import {
  ACCOUNTS,
  forge,
  frozenClock,
  goodParts,
  ISSUER,
  makeIssuer,
  makeStore,
  SECRET,
} from '../../../support/fixtures.js'
import { type Answer, expectProblem, expectUnavailable, send } from '../../../support/host.js'
import { listen } from '../../../support/http.js'
import { hang, INVALID_BY_ID, INVALID_REVOKED } from '../../../support/invalid-results.js'
import { ONLY_EXPRESS } from '../../../support/runner/only-express.js'

type Options = Parameters<typeof requireBearer>[0]
type GuardStore = NonNullable<Options['accounts']>

const tokens = makeIssuer()

/** Creates an app with one guarded route. Returns a function that sends a request, and the admitted requests. */
async function guarded(options: Partial<Options> = {}) {
  const seen: Request[] = []
  const app = express()
  app.get('/guarded', requireBearer({ tokens, ...options }), (req, res) => {
    seen.push(req)
    res.end('in')
  })
  const { port } = await listen(app)
  const ask = (token?: string) =>
    send(port, { method: 'GET', path: '/guarded', headers: token ? { Authorization: `Bearer ${token}` } : {} })
  return { ask, seen }
}

const tokenOf = (accountId: string = ACCOUNTS.alice.id, scopes: readonly string[] = [], issuer: TokenIssuer = tokens) =>
  issuer.issue({ accountId, scopes }).token

function expectInvalid(answer: Answer): void {
  expectProblem(answer, 401, 'invalid_token', 'Unauthorized')
  expect(answer.headers['www-authenticate']).toBe(
    `Bearer realm="${ISSUER}", error="invalid_token", error_description="The access token is not valid."`,
  )
}

/** Another middleware that sets `req.auth`. */
const hangUpAnother: RequestHandler = (req, _res, next) => {
  Object.assign(req, { auth: { accountId: 'acc-1' } })
  next()
}

const noEmails = () => null
const storeOf = (findById: NonNullable<AccountStore['findById']>): GuardStore => ({ findByEmail: noEmails, findById })

describe('req.auth', () => {
  it('is the verified token: frozen, and without the token’s text', async () => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock })
    const { ask, seen } = await guarded({ tokens: issuer })
    const { token, id } = issuer.issue({ accountId: 'a', scopes: ['x', 'y'], claims: { tenant: { name: 'north' } } })
    expect((await ask(token)).status).toBe(200)
    const auth = seen[0]?.auth
    expect(auth).toEqual({
      id,
      accountId: 'a',
      issuer: ISSUER,
      audience: ISSUER,
      scopes: ['x', 'y'],
      issuedAt: new Date(clock()),
      expiresAt: new Date(clock() + 3_600_000),
      claims: { tenant: { name: 'north' } },
    })
    for (const part of [auth, auth?.scopes, auth?.claims, auth?.claims['tenant']]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(JSON.stringify(auth)).not.toContain(token.split('.')[2])
  })

  it('is all that the guard adds to the request', async () => {
    const added: string[][] = []
    const app = express()
    app.use((req, _res, next) => {
      const before = new Set(Reflect.ownKeys(req))
      requireBearer({ tokens })(req, _res, (error) => {
        added.push(Reflect.ownKeys(req).filter((key) => !before.has(key)) as string[])
        next(error)
      })
    })
    const { port } = await listen(app)
    await send(port, { method: 'GET', path: '/', headers: { Authorization: `Bearer ${tokenOf()}` } })
    expect(added).toEqual([['auth']])
  })

  it('comes from a verifier that holds no signing key, too', async () => {
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET, kid: 'k1' } })
    const { ask, seen } = await guarded({ tokens: verifier })
    expect((await ask(tokenOf())).status).toBe(200)
    expect(seen[0]?.auth?.accountId).toBe(ACCOUNTS.alice.id)
  })

  it('of another middleware is not there when no token came, and none is asked for', async () => {
    const seen: unknown[] = []
    const app = express()
    app.use(hangUpAnother)
    app.get('/', requireBearer({ tokens, optional: true }), (req, res) => {
      seen.push(req.auth)
      res.end()
    })
    await send((await listen(app)).port, { method: 'GET', path: '/' })
    expect(seen).toEqual([undefined])
  })

  it('of another middleware is not there for the host’s error handler', async () => {
    const seen: unknown[] = []
    const app = express()
    app.use(hangUpAnother)
    const handler: ErrorRequestHandler = (_error, req, res, _next) => {
      seen.push(req.auth)
      res.end()
    }
    app.use(requireBearer({ tokens, isRevoked: () => Promise.reject(), forwardErrors: true }), handler)
    const headers = { Authorization: `Bearer ${tokenOf()}` }
    await send((await listen(app)).port, { method: 'GET', path: '/', headers })
    expect(seen).toEqual([undefined])
  })

  it('is not there for the handler of a refused request', async () => {
    const { ask, seen } = await guarded()
    expectInvalid(await ask('x.y.z'))
    expect(seen).toHaveLength(0)
  })

  it('of a guard before this one is replaced', async () => {
    const app = express()
    const issuer = makeIssuer({
      issuer: 'https://other.example.com',
      keys: { alg: 'HS256', secret: SECRET, kid: 'k1' },
    })
    app.get('/', requireBearer({ tokens }), requireBearer({ tokens: issuer }), (_req, res) => {
      res.end()
    })
    const { port } = await listen(app)
    const sent = { method: 'GET', path: '/', headers: { Authorization: `Bearer ${tokenOf()}` } }
    expectProblem(await send(port, sent), 401, 'invalid_token', 'Unauthorized')
  })
})

describe('a verifier of the host’s own', () => {
  const own = { id: 'a', accountId: 'b', scopes: ['c'], issuedAt: new Date(0) }

  it('whose answer has the form of a token lets it through', async () => {
    const { ask, seen } = await guarded({ tokens: { ...tokens, verify: async () => own as never }, scope: 'c' })
    expect((await ask('x.y.z')).status).toBe(200)
    expect(seen[0]?.auth).toMatchObject(own)
    expect(authOf({ ...seen[0], method: 'GET', baseUrl: '', path: '/' } as never)).toBe(seen[0]?.auth)
  })

  it.each([
    undefined,
    null,
    false,
    true,
    'token',
    {},
    [],
    Object.assign([], own),
    { ...own, id: 1 },
    { ...own, accountId: undefined },
    { ...own, scopes: 'c' },
    { ...own, issuedAt: 0 },
  ])('whose answer is no token lets nobody through, nor as nobody: %j', async (answer) => {
    const verifier = { ...tokens, verify: () => Promise.resolve(answer as never) }
    for (const options of [{}, { optional: true }, { isRevoked: () => false }]) {
      const { ask, seen } = await guarded({ tokens: verifier, ...options })
      expectUnavailable(await ask('x.y.z'))
      expect(seen).toEqual([])
    }
  })

  const verify = (token: string) => tokens.verify(token)

  it.each([
    ['not ASCII', 'https://a\u2603.example'],
    ['with a line break', 'https://a.example\r\nSet-Cookie: b=c'],
    ['with a control character', 'https://a.example\x7f'],
    ['empty', ''],
  ])('is a TypeError when its issuer cannot stand in a header: %s', (_, issuer) => {
    const own = { issuer, audience: ISSUER, verify }
    expectMisuse(() => requireBearer({ tokens: own }), /^requireBearer: "tokens\.issuer".* must be printable ASCII/)
    expect(() => requireBearer({ tokens: own, realm: 'reports' })).not.toThrow()
  })

  it('is a TypeError without an issuer, whatever the realm', () => {
    const own = { audience: ISSUER, verify } as never
    const says = '"tokens" must be what createTokenIssuer() or createTokenVerifier() returned'
    expectMisuse(() => requireBearer({ tokens: own, realm: 'reports' }), says)
  })

  it('that refuses a token later: 401', async () => {
    const { ask, seen } = await guarded({ tokens: { issuer: ISSUER, audience: ISSUER, verify } })
    expectInvalid(await ask('x.y.z'))
    expect(seen).toHaveLength(0)
  })

  it('that cannot tell: 503', async () => {
    const error = new Error('no keys')
    const onEvent = vi.fn()
    const own = { issuer: ISSUER, audience: ISSUER, verify: () => Promise.reject(error) }
    const { ask, seen } = await guarded({ tokens: own, onEvent })
    expectUnavailable(await ask(tokenOf()))
    expect(seen).toHaveLength(0)
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'dependency.failed', dependency: 'keys', error }]])
  })

  it('that says so itself is believed', async () => {
    const errors: unknown[] = []
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      errors.push(error)
      res.end()
    }
    const error = new AuthError('unavailable', { dependency: 'keys', retryAfter: 9 })
    const own = { issuer: ISSUER, audience: ISSUER, verify: () => Promise.reject(error) }
    const app = express().use(requireBearer({ tokens: own, forwardErrors: true }), handler)
    await send((await listen(app)).port, { method: 'GET', path: '/', headers: { Authorization: 'Bearer x.y.z' } })
    expect(errors).toMatchObject([{ code: 'unavailable', dependency: 'keys', headers: { 'Retry-After': '9' } }])
  })
})

describe('scope', () => {
  it.each<[string | string[] | undefined, string[]]>([
    [undefined, []],
    [undefined, ['x']],
    ['a', ['a']],
    ['a', ['b', 'a']],
    ['a b', ['a', 'b']],
    ['a b', ['b', 'c', 'a']],
    [['a'], ['a']],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
    ['reports:read', ['reports:read']],
  ])('%j takes a token with %j', async (scope, scopes) => {
    const { ask } = await guarded(scope === undefined ? {} : { scope })
    expect((await ask(tokenOf('a', scopes))).status).toBe(200)
  })

  it.each<[string | string[], string[]]>([
    ['a', []],
    ['a', ['b']],
    ['a b', ['a']],
    [['a', 'b'], ['b']],
    ['reports', ['reports:read']],
    ['reports:read', ['reports']],
    ['read', ['READ']],
    ['a', ['aa']],
  ])('%j refuses a token with %j', async (scope, scopes) => {
    const { ask, seen } = await guarded({ scope })
    const answer = await ask(tokenOf('a', scopes))
    expectProblem(answer, 403, 'insufficient_scope', 'Forbidden')
    expect(answer.headers['www-authenticate']).toContain(`, scope="${[scope].flat().join(' ')}"`)
    expect(seen).toHaveLength(0)
  })

  it('is read once: a list that its owner changes later changes nothing', async () => {
    const scope = ['a']
    const { ask } = await guarded({ scope })
    scope.pop()
    expect((await ask(tokenOf('x', []))).status).toBe(403)
  })
})

describe('optional', () => {
  it.each([
    ['nothing', undefined],
    ['another scheme', 'Basic Zm9vOmJhcg=='],
  ])('%s goes on without req.auth, and without asking anybody', async (_what, authorization) => {
    const isRevoked = vi.fn(() => true)
    const findById = vi.fn(() => null)
    const seen: Request[] = []
    const app = express()
    app.get(
      '/',
      requireBearer({ tokens, optional: true, scope: 'a', isRevoked, accounts: storeOf(findById) }),
      (req, res) => {
        seen.push(req)
        res.end()
      },
    )
    const headers = authorization ? { Authorization: authorization } : {}
    expect((await send((await listen(app)).port, { method: 'GET', path: '/', headers })).status).toBe(200)
    expect(seen[0]).not.toHaveProperty('auth')
    expect(seen[0]).not.toHaveProperty('user')
    expect(isRevoked).not.toHaveBeenCalled()
    expect(findById).not.toHaveBeenCalled()
  })

  it('sets req.auth when there is a token', async () => {
    const { ask, seen } = await guarded({ optional: true })
    expect((await ask(tokenOf())).status).toBe(200)
    expect(seen[0]?.auth?.accountId).toBe(ACCOUNTS.alice.id)
  })

  it.each<[string, string, number, Partial<Options>]>([
    ['no token at all', 'x', 401, {}],
    ['an expired one', forge(goodParts().header, { ...goodParts(1000).payload }), 401, {}],
    ['malformed credentials', 'a b', 400, {}],
    ['too little scope', tokenOf('a', ['x']), 403, { scope: 'y' }],
    ['a revoked one', tokenOf(), 401, { isRevoked: () => true }],
    ['one that nobody can tell about', tokenOf(), 503, { isRevoked: hang, timeout: '20ms' }],
    ['a deleted account’s', tokenOf(), 401, { accounts: storeOf(noEmails) }],
  ])('still refuses %s', async (_what, token, status, options) => {
    const { ask, seen } = await guarded({ optional: true, ...options })
    expect((await ask(token)).status).toBe(status)
    expect(seen).toHaveLength(0)
  })

  it('false is the same as absent', async () => {
    const { ask } = await guarded({ optional: false })
    expectProblem(await ask(), 401, 'missing_token', 'Unauthorized')
  })
})

describe('isRevoked', () => {
  it.each([
    ['false', () => false],
    ['a promise of false', async () => false],
  ])('%s: the request goes on', async (_what, isRevoked) => {
    const { ask } = await guarded({ isRevoked })
    expect((await ask(tokenOf())).status).toBe(200)
  })

  it.each([
    ['true', () => true],
    ['a promise of true', async () => true],
  ])('%s: 401 invalid_token', async (_what, isRevoked) => {
    const { ask, seen } = await guarded({ isRevoked })
    expectInvalid(await ask(tokenOf()))
    expect(seen).toHaveLength(0)
  })

  it.each(INVALID_REVOKED)('%s: 503, never let through and never 401', async (_what, isRevoked) => {
    const { ask, seen } = await guarded({ isRevoked: isRevoked as () => boolean, timeout: '20ms' })
    expectUnavailable(await ask(tokenOf()))
    expect(seen).toHaveLength(0)
  })

  it('is asked about the verified token, and only about one', async () => {
    const isRevoked = vi.fn(() => false)
    const { ask } = await guarded({ isRevoked })
    const { token, id } = tokens.issue({ accountId: 'acc-1' })
    await ask(token)
    await ask('x.y.z')
    await ask()
    expect(isRevoked).toHaveBeenCalledOnce()
    expect(isRevoked).toHaveBeenCalledWith(expect.objectContaining({ id, accountId: 'acc-1' }))
  })
})

describe('accounts', () => {
  it('sets req.user to the account, without its password hash', async () => {
    const account = { ...ACCOUNTS.alice, claims: { tenant: 'north' } }
    const { ask, seen } = await guarded({ accounts: makeStore([account]) })
    expect((await ask(tokenOf())).status).toBe(200)
    const { passwordHash, ...rest } = account
    expect(seen[0]?.user).toEqual(rest)
    expect(seen[0]?.user).not.toHaveProperty('passwordHash')
    expect(account.passwordHash).toBe(passwordHash)
  })

  it('is asked for the id in the token, on every request', async () => {
    const findById = vi.fn(makeStore().findById)
    const { ask } = await guarded({ accounts: storeOf(findById) })
    await ask(tokenOf(ACCOUNTS.alice.id))
    await ask(tokenOf(ACCOUNTS.bob.id))
    await ask(tokenOf(ACCOUNTS.bob.id))
    expect(findById.mock.calls).toEqual([['acc-1'], ['acc-2'], ['acc-2']])
  })

  it('is asked as a method of the store', async () => {
    class Store {
      #account = ACCOUNTS.alice
      findByEmail = noEmails
      async findById(_id: string) {
        return this.#account
      }
    }
    const { ask } = await guarded({ accounts: new Store() })
    expect((await ask(tokenOf())).status).toBe(200)
  })

  it.each([
    ['an account', {}],
    ['an account without a password', { passwordHash: null }],
    ['an account that says it is not disabled', { disabled: false }],
    ['an account of nulls', { disabled: null, scopes: null, claims: null, tokensValidAfter: null }],
  ])('%s: the request goes on', async (_what, change) => {
    const { ask } = await guarded({ accounts: storeOf(async () => ({ ...ACCOUNTS.alice, ...change })) })
    expect((await ask(tokenOf())).status).toBe(200)
  })

  it.each<[string, NonNullable<AccountStore['findById']>]>([
    ['null', () => null],
    ['undefined', () => undefined],
    ['a promise of null', async () => null],
    ['a promise of undefined', async () => undefined],
    ['a disabled account', () => ({ ...ACCOUNTS.alice, disabled: true })],
    [
      'an account with tokens valid from the future on',
      () => ({ ...ACCOUNTS.alice, tokensValidAfter: new Date(9e12) }),
    ],
  ])('%s: 401 invalid_token', async (_what, findById) => {
    const { ask, seen } = await guarded({ accounts: storeOf(findById) })
    expectInvalid(await ask(tokenOf()))
    expect(seen).toHaveLength(0)
  })

  it.each([
    ['an hour before', -3_600_000, 200],
    ['a millisecond before', -1, 200],
    ['the second of issue', 0, 200],
    ['a millisecond after', 1, 401],
    ['a second after', 1000, 401],
  ])('tokensValidAfter: %s the token was issued', async (_when, offset, status) => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock })
    const account = { ...ACCOUNTS.alice, tokensValidAfter: new Date(clock() + offset) }
    const { ask } = await guarded({ tokens: issuer, accounts: makeStore([account]) })
    expect((await ask(tokenOf(ACCOUNTS.alice.id, [], issuer))).status).toBe(status)
  })

  it.each(INVALID_BY_ID)('findById %s: 503, never let through and never 401', async (_what, findById) => {
    const { ask, seen } = await guarded({ accounts: storeOf(findById as () => null), timeout: '20ms' })
    expectUnavailable(await ask(tokenOf()))
    expect(seen).toHaveLength(0)
  })

  it.each<[string, Partial<Options>, string, string]>([
    [
      'another account',
      { accounts: storeOf(() => ACCOUNTS.bob) },
      'accounts',
      'accounts: findById returned another account. See express-token-endpoint/docs/guides/accounts.md',
    ],
    [
      'no answer to whether it is revoked',
      { isRevoked: (() => undefined) as never },
      'revocation',
      'isRevoked: the result must be true or false. See express-token-endpoint/docs/guides/revoke.md',
    ],
  ])('is told of %s', async (_what, options, dependency, message) => {
    const onEvent = vi.fn()
    const { ask } = await guarded({ ...options, onEvent })
    expectUnavailable(await ask(tokenOf()))
    const error = expect.objectContaining({ message })
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'dependency.failed', dependency, error }]])
  })

  it('leaves no req.user behind when it refuses', async () => {
    const users: unknown[] = []
    const app = express()
    app.use((req, res, next) => {
      res.once('finish', () => users.push([req.user, req.auth]))
      next()
    })
    app.use(requireBearer({ tokens, accounts: memoryAccounts([ACCOUNTS.disabled]) }))
    const headers = { Authorization: `Bearer ${tokenOf(ACCOUNTS.disabled.id)}` }
    expectInvalid(await send((await listen(app)).port, { method: 'GET', path: '/', headers }))
    await vi.waitFor(() => expect(users).toEqual([[undefined, undefined]]))
  })
})

describe('what is asked, and in which order', () => {
  it('scope, then revocation, then the account', async () => {
    const asked: string[] = []
    const isRevoked = vi.fn(() => asked.push('revocation') > 99)
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
  const about = { accountId: 'acc-1', tokenId: expect.any(String) }
  const base = { time: expect.any(Date), address: '127.0.0.1' }
  const refused = { type: 'bearer.refused', ...base }

  it.each<[string, Partial<Options>, string | undefined, object]>([
    ['no token', {}, undefined, { code: 'missing_token' }],
    ['malformed credentials', {}, 'a b', { code: 'invalid_request' }],
    ['what is no JWT', {}, 'x', { code: 'invalid_token', reason: 'malformed' }],
    ['too little scope', { scope: 'a' }, tokenOf(), { code: 'insufficient_scope', ...about }],
    ['a revoked token', { isRevoked: () => true }, tokenOf(), { code: 'invalid_token', reason: 'revoked', ...about }],
    [
      'a deleted account',
      { accounts: storeOf(noEmails) },
      tokenOf(),
      { code: 'invalid_token', reason: 'unknown_account', ...about },
    ],
    [
      'a disabled account',
      { accounts: storeOf(() => ({ ...ACCOUNTS.alice, disabled: true })) },
      tokenOf(),
      { code: 'invalid_token', reason: 'account_disabled', ...about },
    ],
    [
      'tokens of before',
      { accounts: storeOf(() => ({ ...ACCOUNTS.alice, tokensValidAfter: new Date(9e12) })) },
      tokenOf(),
      { code: 'invalid_token', reason: 'superseded', ...about },
    ],
  ])('is told of %s, and why', async (_what, options, token, event) => {
    expect(await eventsOf(options, token)).toEqual([{ ...refused, ...event }])
  })

  it('is told of a failure and its cause', async () => {
    const error = new Error('down')
    const isRevoked = () => Promise.reject(error)
    expect(await eventsOf({ isRevoked }, tokenOf())).toEqual([
      { type: 'dependency.failed', ...base, dependency: 'revocation', refused: true, error },
    ])
  })

  it('is told of a part that hangs', async () => {
    const [event] = await eventsOf({ isRevoked: hang, timeout: '20ms' }, tokenOf())
    expect(event).toMatchObject({ type: 'dependency.failed', error: { message: expect.stringContaining('20 ms') } })
  })

  it('is told nothing of a good token, and never a token', async () => {
    expect(await eventsOf({}, tokenOf())).toEqual([])
    const token = tokenOf()
    expect(JSON.stringify(await eventsOf({ scope: 'a' }, token))).not.toContain(token.split('.')[2])
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
    const { ask } = await guarded({ onEvent })
    expectInvalid(await ask('x'))
    expect((await ask(tokenOf())).status).toBe(200)
  })
})

describe('forwardErrors', () => {
  async function forwarding(options: Partial<Options>, token?: string) {
    const errors: unknown[] = []
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      errors.push(error)
      res.status(599).end()
    }
    const app = express()
    app.use(requireBearer({ tokens, forwardErrors: true, ...options }), handler)
    const headers = token ? { Authorization: `Bearer ${token}` } : {}
    const answer = await send((await listen(app)).port, { method: 'GET', path: '/', headers })
    return { answer, errors }
  }

  it('hands a failure to the host’s error handler, with its cause', async () => {
    const cause = new Error('down')
    const { answer, errors } = await forwarding({ isRevoked: () => Promise.reject(cause) }, tokenOf())
    expect(answer.status).toBe(599)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(AuthError)
    expect(errors[0]).toMatchObject({ code: 'unavailable', status: 503, dependency: 'revocation', cause })
  })

  it.each<[string, number, string | undefined, Partial<Options>]>([
    ['missing_token', 401, undefined, {}],
    ['invalid_request', 400, 'a b', {}],
    ['invalid_token', 401, 'x', {}],
    ['insufficient_scope', 403, tokenOf(), { scope: 'a' }],
  ])('answers %s itself', async (code, status, token, options) => {
    const { answer, errors } = await forwarding(options, token)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body).code).toBe(code)
    expect(errors).toEqual([])
  })
})

describe('a header as long as Authorization', () => {
  it('is none, however often it comes: If-None-Match', async () => {
    const app = express().get('/', requireBearer({ tokens }), (_req, res) => void res.end('in'))
    const { port } = await listen(app)
    const Authorization = `Bearer ${tokenOf()}`
    for (const etags of ['"a"', ['"a"', '"b"']]) {
      const headers = { Authorization, 'If-None-Match': etags }
      expect((await send(port, { method: 'GET', path: '/', headers })).status).toBe(200)
    }
  })
})

describe('a handler behind the guard', () => {
  const throws = () => {
    throw new Error('handler')
  }
  const rejects = () => Promise.reject(new Error('handler'))
  // Express 4 passes no rejection to the error handler, with or without a guard.
  const ways = ONLY_EXPRESS?.version.startsWith('4.') ? { throws } : { throws, rejects }

  it.each(Object.entries(ways))('that %s is the host’s affair', async (_what, handle) => {
    const errors: unknown[] = []
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      errors.push(error.message)
      res.status(500).end()
    }
    const app = express()
    app.use(requireBearer({ tokens }), handle as express.RequestHandler, handler)
    const headers = { Authorization: `Bearer ${tokenOf()}` }
    expect((await send((await listen(app)).port, { method: 'GET', path: '/', headers })).status).toBe(500)
    expect(errors).toEqual(['handler'])
  })
})

describe('authOf', () => {
  async function ask(path: string, build: (app: express.Express) => void) {
    const errors: Error[] = []
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      errors.push(error)
      res.status(500).end()
    }
    const app = express()
    build(app)
    app.use(handler)
    await send((await listen(app)).port, { method: 'GET', path, headers: { Authorization: `Bearer ${tokenOf()}` } })
    return errors
  }
  const read: express.RequestHandler = (req, res) => {
    res.json(authOf(req))
  }

  it('is what the guard left on the request', async () => {
    const { ask: askGuarded, seen } = await guarded()
    await askGuarded(tokenOf())
    const [req] = seen as [Request]
    expect(authOf(req)).toBe(req.auth)
  })

  it('on an unguarded route: a TypeError that names the route, without its query', async () => {
    const [error] = await ask('/statements?secret=zebra', (app) => app.get('/statements', read))
    expect(error).toBeInstanceOf(TypeError)
    expect(error?.message).toMatch(/^authOf: GET \/statements has no verified token\b.*requireBearer\(\)/)
    expect(error?.message).not.toMatch(/zebra|secret|\?/)
  })

  it('on an unguarded route of a mounted router: names the whole path', async () => {
    const [error] = await ask('/api/v1/statements?x=y', (app) =>
      app.use('/api/v1', express.Router().get('/statements', read)),
    )
    expect(error?.message).toContain('GET /api/v1/statements has')
  })

  it('where the guard is optional and there was no token', async () => {
    const [error] = await ask('/x', (app) => {
      app.use((req, _res, next) => {
        delete req.headers.authorization
        next()
      })
      app.get('/x', requireBearer({ tokens, optional: true }), read)
    })
    expect(error).toBeInstanceOf(TypeError)
    expect(error?.message).toContain('optional')
  })
})

describe('an Authorization header that a middleware has made something else of than text', () => {
  const known = tokenOf()
  it.each<[string, unknown]>([
    ['an array', [`Bearer ${known}`]],
    ['an empty array', []],
    ['an object that becomes text', { toString: () => `Bearer ${known}` }],
    ['a Buffer', Buffer.from(`Bearer ${known}`)],
    ['a number', 42],
    ['null', null],
  ])('is refused, also where the guard is optional: %s', async (_, value) => {
    await tokens.verify(known)
    for (const optional of [false, true]) {
      const app = express()
      app.use((req, _res, next) => {
        req.headers.authorization = value as string
        next()
      })
      app.get('/', requireBearer({ tokens, optional }), (_req, res) => void res.end('in'))
      const answer = await send((await listen(app)).port, { method: 'GET', path: '/' })
      expectProblem(answer, 400, 'invalid_request', 'Bad Request')
    }
  })
})

describe('made of options', () => {
  it('is named requireBearerMiddleware in a stack trace', () => {
    expect(requireBearer({ tokens }).name).toBe('requireBearerMiddleware')
    expect(requireBearer({ tokens })).toHaveLength(3)
  })

  it('leaves the caller’s object alone, and takes undefined for absent', async () => {
    const options = Object.freeze({
      tokens,
      signedInWithin: undefined,
      accounts: undefined,
      isRevoked: undefined,
      optional: undefined,
      realm: undefined,
      timeout: undefined,
      onEvent: undefined,
      forwardErrors: undefined,
    })
    const { ask } = await guarded(options as never)
    expect((await ask(tokenOf())).status).toBe(200)
    expect((await ask()).headers['www-authenticate']).toBe(`Bearer realm="${ISSUER}"`)
  })

  const secret = 'zebra-zebra-zebra'
  const store = makeStore()
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /"tokens" .*missing/],
    ['null', null, /"tokens"|options object/],
    ['a string', secret, /options object/],
    ['an array', [tokens], /options object/],
    ['tokens: missing', {}, /"tokens" .*missing/],
    ['tokens: null', { tokens: null }, /"tokens"/],
    ['tokens: a secret', { tokens: secret }, /"tokens"/],
    ['tokens: options of an issuer', { tokens: { issuer: ISSUER, keys: secret } }, /"tokens"/],
    ['tokens: the function that makes them', { tokens: createTokenVerifier }, /"tokens"/],
    ['tokens under the name of issuer', { issuer: tokens }, /"issuer".*"tokens"/],
    ['an unknown option', { tokens, colour: secret }, /"colour"/],
    ['scopes', { tokens, scopes: 'a' }, /"scopes".*"scope"/],
    ['credentialsRequired', { tokens, credentialsRequired: false }, /"credentialsRequired".*"optional"/],
    ['authRequired', { tokens, authRequired: false }, /"authRequired".*"optional"/],
    ['other letters', { tokens, isrevoked: () => false }, /"isrevoked".*"isRevoked"/],
    ['scope: empty string', { tokens, scope: '' }, /"scope"/],
    ['scope: a space', { tokens, scope: ' ' }, /"scope" must be scope tokens, like 'reports:read' or \[/],
    ['scope: two spaces between', { tokens, scope: 'a  b' }, /"scope"/],
    ['scope: empty list', { tokens, scope: [] }, /"scope"/],
    ['scope: a list of an empty string', { tokens, scope: [''] }, /"scope"/],
    ['scope: a list with a space in it', { tokens, scope: ['a b'] }, /"scope"/],
    ['scope: a quote', { tokens, scope: 'a"b' }, /"scope"/],
    ['scope: a backslash', { tokens, scope: 'a\\b' }, /"scope"/],
    ['scope: not ASCII', { tokens, scope: 'é' }, /"scope"/],
    ['scope: a line break', { tokens, scope: 'a\n' }, /"scope"/],
    ['scope: numbers', { tokens, scope: [1] }, /"scope"/],
    ['scope: null', { tokens, scope: null }, /"scope"/],
    ['accounts: a look-up by e-mail', { tokens, accounts: () => null }, /"accounts".*findById.*e-mail/],
    [
      'accounts: a store without findById',
      { tokens, accounts: { findByEmail: store.findByEmail } },
      /"accounts".*findById/,
    ],
    ['accounts: a list', { tokens, accounts: [ACCOUNTS.alice] }, /"accounts"/],
    ['accounts: null', { tokens, accounts: null }, /"accounts" must be a store with "findById", but is null$/],
    ['isRevoked: a set', { tokens, isRevoked: new Set() }, /"isRevoked"/],
    ['isRevoked: true', { tokens, isRevoked: true }, /"isRevoked"/],
    ['optional: a string', { tokens, optional: 'true' }, /"optional"/],
    ['optional: null', { tokens, optional: null }, /"optional"/],
    ['realm: empty', { tokens, realm: '' }, /"realm"/],
    ['realm: a line break', { tokens, realm: 'a\r\nSet-Cookie: b' }, /"realm"/],
    ['realm: a line break at its end', { tokens, realm: 'a\n' }, /"realm"/],
    ['realm: not ASCII', { tokens, realm: 'é' }, /"realm"/],
    ['realm: a tab', { tokens, realm: 'a\tb' }, /"realm"/],
    ['realm: a number', { tokens, realm: 1 }, /"realm"/],
    ['timeout: 0', { tokens, timeout: 0 }, /"timeout"/],
    ['timeout: negative', { tokens, timeout: -1 }, /"timeout"/],
    ['timeout: NaN', { tokens, timeout: Number.NaN }, /"timeout"/],
    ['timeout: Infinity', { tokens, timeout: Infinity }, /"timeout"/],
    ['timeout: milliseconds', { tokens, timeout: 5000 }, /"timeout".*seconds/],
    ['timeout: a string without a unit', { tokens, timeout: '5' }, /"timeout".*unit/],
    ['timeout: of an unknown unit', { tokens, timeout: '5 apples' }, /"timeout"/],
    ['onEvent: an object', { tokens, onEvent: console }, /"onEvent"/],
    ['forwardErrors: 1', { tokens, forwardErrors: 1 }, /"forwardErrors"/],
  ])('TypeError: %s', (_what, options, message) => {
    const make = () => requireBearer(options as Options)
    expectMisuse(make, /^requireBearer: /)
    expectMisuse(make, message, [secret])
  })
})
