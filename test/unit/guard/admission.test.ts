// Tests guard/{guard,steps}.ts

import { createServer, type ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import express, { type ErrorRequestHandler } from 'express'
import {
  AuthError,
  type AuthEvent,
  authOf,
  type GuardedRequest,
  type RequireBearerOptions,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Verifier, verifierOf, withVerifier } from '../../../src/tokens/verifier.js'
import { deferred, settled, until } from '../../support/concurrency.js'
import { expectMisuse, fatalErrors, refusalOf } from '../../support/failures.js'
import { ACCOUNTS, issueNow, makeIssuer, makeStore } from '../../support/fixtures.js'
import { type Answer, passOn, type Sent, send } from '../../support/host.js'
import { listen } from '../../support/http.js'

const tokens = makeIssuer()
const accountId = ACCOUNTS.alice.id
const newToken = () => issueNow(tokens, { accountId }).token

/** A response that has no headers yet. */
const RESPONSE = { setHeader() {}, getHeader() {} } as unknown as ServerResponse

const requestOf = (token: string | undefined, members: object = {}) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return { headers, rawHeaders: [], url: '/', socket: {}, ...members } as unknown as GuardedRequest
}

const ask = (options: Partial<RequireBearerOptions>, req: GuardedRequest) =>
  requireBearer({ tokens, ...options })
    .authenticate(req)
    .then(
      () => 'admitted',
      (error) => error.code,
    )

/** Calls the middleware. Returns its `next`. */
function pass(options: Partial<RequireBearerOptions>, req: GuardedRequest) {
  const next = vi.fn()
  requireBearer({ tokens, ...options })(req, RESPONSE, next)
  return next
}

describe('a cached token', () => {
  it('is admitted at once, however many requests come', async () => {
    const token = newToken()
    await ask({}, requestOf(token))
    for (let i = 0; i < 100; i++) {
      const req = requestOf(token)
      const next = pass({}, req)
      // In this turn of the event loop, so a flood of other requests does not delay it.
      for (let i = 0; i < 20; i++) await undefined
      expect(next).toHaveBeenCalledOnce()
      expect(authOf(req).accountId).toBe(accountId)
    }
  })

  it('is not admitted when the cache does not return a verified token', async () => {
    const errors: unknown[] = []
    const onEvent = (event: object) => errors.push((event as { error?: Error }).error?.message)
    const forged = { id: 'a', accountId, scopes: [], issuedAt: new Date() } as never
    const verifier: Verifier = { ...(verifierOf(tokens) as Verifier), cached: () => forged }
    const req = requestOf('a.b.c')
    expect(await ask({ tokens: withVerifier({ ...tokens }, verifier), onEvent }, req)).toBe('unavailable')
    expect(req).not.toHaveProperty('auth')
    expect(errors).toEqual(['requireBearer: only a verified token is admitted'])
  })
})

it.each([
  [60_000, 'admitted'],
  [60_001, 'insufficient_user_authentication'],
  [366 * 86_400_000, 'insufficient_user_authentication'],
  [-300_000, 'admitted'],
  [-300_001, 'insufficient_user_authentication'],
])('judges a sign-in of a custom verifier by its time, %i ms in the future: %s', async (ahead, outcome) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const token = { id: 'a', accountId, scopes: [], issuedAt: new Date(Date.now() + ahead) }
  const custom = { ...tokens, verify: async () => token as never }
  expect(await ask({ tokens: custom, signedInWithin: '5m' }, requestOf('a.b.c'))).toBe(outcome)
})

it.each([
  [['mfa'], 'admitted'],
  [['pwd', 'otp', 'mfa'], 'admitted'],
  [['hwk', 'user'], 'admitted'],
  [['hwk'], 'insufficient_user_authentication'],
  [['user', 'pwd'], 'insufficient_user_authentication'],
  [['pwd', 'otp'], 'insufficient_user_authentication'],
  [[], 'insufficient_user_authentication'],
  [undefined, 'insufficient_user_authentication'],
  ['mfa', 'insufficient_user_authentication'],
])('asks for a second factor by the methods of the sign-in, %j: %s', async (amr, outcome) => {
  const token = { id: 'a', accountId, scopes: [], issuedAt: new Date(), claims: { amr } }
  const custom = { ...tokens, verify: async () => token as never }
  expect(await ask({ tokens: custom, secondFactor: true }, requestOf('a.b.c'))).toBe(outcome)
  expect(await ask({ tokens: custom }, requestOf('a.b.c'))).toBe('admitted')
})

describe('an expired token', () => {
  const later = (ms: number) => new Promise<boolean>((resolve) => setTimeout(resolve, ms, false))
  const own = (expiresAt: Date | undefined) => {
    const token = { id: 'a', accountId, scopes: [], issuedAt: new Date(0), expiresAt }
    return { ...tokens, verify: async () => token as never }
  }
  const reasonFor = async (options: Partial<RequireBearerOptions>, req: GuardedRequest) => {
    const refusal = await requireBearer({ tokens, ...options })
      .authenticate(req)
      .catch((error) => error)
    return [refusal.code, refusal.reason, refusal.tokenId]
  }

  it.each([
    ['from 1970', () => new Date(1000)],
    ['that expires at this moment', () => new Date()],
  ])('of the host’s verifier is refused: %s', async (_, expiresAt) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await reasonFor({ tokens: own(expiresAt()) }, requestOf('a.b.c'))).toEqual(['invalid_token', 'expired', 'a'])
    expect(await ask({ tokens: own(new Date(Date.now() + 1)) }, requestOf('a.b.c'))).toBe('admitted')
    expect(await ask({ tokens: own(undefined) }, requestOf('a.b.c'))).toBe('admitted')
  })

  it.each<[string, Partial<RequireBearerOptions>]>([
    ['isRevoked', { isRevoked: () => later(50) }],
    ['accounts', { accounts: { ...makeStore(), findById: async () => ((await later(50)) ? null : ACCOUNTS.alice) } }],
  ])('is refused when it expires during a slow %s', async (_, slow) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (const tolerance of [0, 2]) {
      const issuer = makeIssuer({ lifetime: '1s', clockTolerance: tolerance, clock: Date.now })
      vi.setSystemTime(Math.ceil(Date.now() / 1000) * 1000)
      const { token, id } = issueNow(issuer, { accountId })
      vi.advanceTimersByTime((1 + tolerance) * 1000 - 51)
      const inTime = reasonFor({ tokens: issuer, ...slow }, requestOf(token))
      await vi.advanceTimersByTimeAsync(50)
      expect((await inTime)[0]).toBeUndefined()
      const tooLate = reasonFor({ tokens: issuer, ...slow }, requestOf(token))
      await vi.advanceTimersByTimeAsync(50)
      expect(await tooLate).toEqual(['invalid_token', 'expired', id])
    }
  })
})

describe('a user that a session has set', () => {
  class Row {
    get id() {
      return accountId
    }
  }
  const own = { id: accountId }
  it.each<[string, unknown, boolean, Partial<RequireBearerOptions>?]>([
    ['of the account', own, true],
    ['whose class provides the id', new Row(), true],
    ['of the account, on a guard that asks about revocation only', own, true, { isRevoked: () => false }],
    ['of another account', { id: 'acc-2' }, false],
    ['without an id', {}, false],
    ['that is a function', Object.assign(() => {}, { id: accountId }), false],
    ['that is null', null, false],
  ])('%s stays beside a token of the account: %s', async (_, user, stays, options = {}) => {
    const req = requestOf(newToken(), { user })
    expect(await ask(options, req)).toBe('admitted')
    expect(req.user).toBe(stays ? user : undefined)
  })

  it('stays where the guard is optional and no token came', async () => {
    const user = { id: 'acc-2' }
    const req = requestOf(undefined, { user })
    expect(await ask({ optional: true }, req)).toBe('admitted')
    expect(req.user).toBe(user)
    expect(req).not.toHaveProperty('auth')
  })
})

it('adds nothing to a request that it refuses', async () => {
  const req = requestOf('a.b.c')
  expect(await ask({}, req)).toBe('invalid_token')
  expect(req).not.toHaveProperty('auth')
  expect(req).not.toHaveProperty('user')
})

it.each([
  [1, '10', undefined],
  [1, '65536', undefined],
  [1, '65537', 'close'],
  [2, '65537', undefined],
])(
  'asks a host of HTTP/%i to close the connection after an unread body of %s bytes: %s',
  async (httpVersionMajor, length, expected) => {
    const req = requestOf(undefined, { headers: { 'content-length': length }, httpVersionMajor })
    const refused = requireBearer({ tokens }).authenticate(req)
    await expect(refused).rejects.toMatchObject({ code: 'missing_token' })
    expect((await refused.catch((error) => error)).headers['Connection']).toBe(expected)
  },
)

it('calls next once after a check, also when next throws', async () => {
  const fatal = fatalErrors()
  const next = vi.fn(() => {
    throw new Error('of the host')
  })
  requireBearer({ tokens, isRevoked: () => false })(requestOf(newToken()), RESPONSE, next)
  await until(() => expect(fatal).toEqual(['uncaughtException: of the host']))
  expect(next.mock.calls).toEqual([[]])
})

it('passes the error of a getter of the request on, and ends no process', async () => {
  const fatal = fatalErrors()
  const thrown = new Error('of the host')
  const get = () => {
    throw thrown
  }
  const req = Object.defineProperty(requestOf(newToken()), 'user', { get })
  const next = vi.fn()
  requireBearer({ tokens })(req, {} as ServerResponse, next)
  await until(() => expect(next.mock.calls).toEqual([[thrown]]))
  expect(req.auth).toBeUndefined()
  expect(fatal).toEqual([])
})

it('takes a mock that is an emitter, as node-mocks-http makes it', async () => {
  const mock = (token?: string) =>
    Object.assign(new PassThrough(), requestOf(token, { rawHeaders: undefined })) as never
  expect(await ask({}, mock(newToken()))).toBe('admitted')
  expect(await ask({}, mock())).toBe('missing_token')
})

it.each<[string, unknown]>([
  ['a Fetch Request', new Request('https://api.example.com/', { headers: { Authorization: `Bearer ${newToken()}` } })],
  ['a serverless event', { headers: { Authorization: `Bearer ${newToken()}` }, url: '/', socket: {} }],
  ['nothing', undefined],
])('never takes %s for a request without a token', async (_, req) => {
  const message = `the request must be Node's, with "rawHeaders"`
  for (const optional of [false, true]) {
    const guard = requireBearer({ tokens, optional })
    await expect(guard.authenticate(req as never)).rejects.toThrow(`authenticate: ${message}`)
    const next = vi.fn()
    expectMisuse(() => guard(req as never, {} as ServerResponse, next), `requireBearer: ${message}`)
    expect(next).not.toHaveBeenCalled()
  }
})

describe('the body of a request whose guard waits for a check', () => {
  /** A request with a body, and a check that ends on demand. */
  function waiting() {
    const body = new PassThrough()
    const req = Object.assign(body, requestOf(newToken())) as unknown as GuardedRequest & PassThrough
    const { promise, resolve: end } = deferred<boolean>()
    return { req, isRevoked: () => promise, end }
  }

  it.each([
    ['admits', false],
    ['refuses', true],
  ])('is kept from a listener of before until the guard %s', async (_, revoked) => {
    const { req, isRevoked, end } = waiting()
    const heard: string[] = []
    req.on('data', (chunk) => heard.push(String(chunk)))
    const next = pass({ isRevoked, refuse: passOn }, req)
    req.write('body')
    await settled()
    expect(heard).toEqual([])
    expect(next).not.toHaveBeenCalled()
    end(revoked)
    await settled()
    expect(heard).toEqual(['body'])
    expect(next).toHaveBeenCalledOnce()
  })

  it('is left for the route when nobody listens yet', async () => {
    const { req, isRevoked, end } = waiting()
    const next = pass({ isRevoked }, req)
    req.write('body')
    expect(req.readableFlowing).toBe(null)
    end(false)
    await settled()
    expect(next).toHaveBeenCalledOnce()
    expect(req.readableFlowing).toBe(null)
    expect(String(req.read())).toBe('body')
  })

  it('stays paused when the host has paused it', async () => {
    const { req, isRevoked, end } = waiting()
    req.pause()
    pass({ isRevoked }, req)
    end(false)
    await settled()
    expect(req.readableFlowing).toBe(false)
  })
})

it.each([
  [{ method: 'GET', url: '/a/b?secret=zebra' }, /^authOf: GET \/a\/b has no verified token\b/],
  [{ method: 'GET', baseUrl: '/a', path: '/b', url: '/b?secret=zebra' }, /^authOf: GET \/a\/b has no verified token\b/],
  [{ method: 'GET' }, /^authOf: GET .*has no verified token\b/],
  [{ method: 'GET', url: '/', auth: { accountId } }, /^authOf: GET .*read req.auth if the guard is optional/],
])('authOf names the route of %j outside of Express, without its query', (req, message) => {
  expectMisuse(() => authOf(req), message, ['zebra'])
})

const { token } = issueNow(tokens, { accountId: ACCOUNTS.alice.id, scopes: ['a'] })
const past = issueNow(tokens, { accountId: ACCOUNTS.alice.id, issuedAt: new Date(Date.now() - 7_200_000) }).token

const get = (headers: Sent['headers'] = {}, path = '/'): Sent => ({ method: 'GET', path, headers })
const bearer = (text: string, path?: string) => get({ Authorization: `Bearer ${text}` }, path)

type Options = Partial<RequireBearerOptions>

const failing = () => Promise.reject(new Error('down'))

const CASES: readonly (readonly [string, Options, Sent, number])[] = [
  ['a valid token', {}, bearer(token), 200],
  ['a valid token with the scope', { scope: 'a' }, bearer(token), 200],
  ['an account', { accounts: makeStore() }, bearer(token), 200],
  ['no token', {}, get(), 401],
  ['no token on an optional guard', { optional: true }, get(), 200],
  ['an invalid token on an optional guard', { optional: true }, bearer('a.b.c'), 401],
  ['an expired token', {}, bearer(past), 401],
  ['a malformed header', {}, bearer('a b'), 400],
  ['two headers', {}, get({ Authorization: ['Bearer a.b.c', 'Bearer a.b.c'] as never }), 400],
  ['a token in the query too', {}, bearer(token, '/?access_token=x'), 400],
  ['a missing scope', { scope: 'a b' }, bearer(token), 403],
  ['a realm', { realm: 'the "house"' }, get(), 401],
  ['a revoked token', { isRevoked: () => true }, bearer(token), 401],
  ['a revocation check that fails', { isRevoked: failing }, bearer(token), 503],
  ['an account that is not there', { accounts: makeStore([]) }, bearer(token), 401],
  ['a store that fails', { accounts: { findByEmail: () => null, findById: failing } }, bearer(token), 503],
]

/** Responds as a host without Express does, with the promise. */
async function respond(req: GuardedRequest, res: ServerResponse, options: RequireBearerOptions): Promise<void> {
  try {
    const auth = await requireBearer(options).authenticate(req)
    res.end(JSON.stringify([auth?.id, auth === req.auth, (req.user as { id?: string } | undefined)?.id]))
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    res.writeHead(error.statusCode, { ...error.headers, 'Content-Type': 'application/problem+json' })
    res.end(JSON.stringify(error.toProblem()))
  }
}

const TRANSPORT = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'x-powered-by']

const comparable = ({ status, headers, body }: Answer) => ({
  status,
  body,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !TRANSPORT.includes(name))),
})

/** An event without its time, and without the address, whose form differs between hosts. */
const brief = ({ time: _, address: __, ...event }: AuthEvent) => event

async function plainHost(options: RequireBearerOptions): Promise<number> {
  const server = createServer((req, res) => void respond(req, res, options)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await until(() => expect(server.listening).toBe(true))
  return (server.address() as { port: number }).port
}

describe('authenticate', () => {
  it.each(CASES)(
    '%s: decides as the middleware, with the same response and events',
    async (_, options, sent, status) => {
      const events = { middleware: [] as object[], promise: [] as object[] }
      const guard = requireBearer({ tokens, ...options, onEvent: (event) => events.middleware.push(brief(event)) })
      const app = express().use(guard, (req, res) => {
        // Only the middleware has the response.
        res.removeHeader('Cache-Control')
        res.end(JSON.stringify([req.auth?.id, true, req.user?.id]))
      })
      const [{ port }, plain] = await Promise.all([
        listen(app),
        plainHost({ tokens, ...options, onEvent: (event) => events.promise.push(brief(event)) }),
      ])
      const [middleware, promise] = await Promise.all([send(port, sent), send(plain, sent)])
      expect(middleware.status).toBe(status)
      const { body, ...rest } = comparable(promise)
      expect({ ...rest, body: body.replace('[null,false,', '[null,true,') }).toEqual(comparable(middleware))
      expect(events.promise).toEqual(events.middleware)
    },
  )

  it('rejects with an error of its own for each request, as a verifier may reject with one for all', async () => {
    const shared = new AuthError('invalid_token', { reason: 'revoked' })
    const { headers } = shared
    const custom = { ...tokens, verify: () => Promise.reject(shared) }
    for (const realm of ['one', 'two']) {
      const error = await refusalOf(requireBearer({ tokens: custom, realm }).authenticate(requestOf('a.b.c')))
      expect(error).toMatchObject({ code: 'invalid_token', reason: 'revoked', message: shared.message })
      expect(error.headers['WWW-Authenticate']).toContain(`realm="${realm}"`)
    }
    expect(shared.headers).toBe(headers)
    expect(headers['WWW-Authenticate']).toContain('realm=""')
  })

  it.each([
    ['whose connection has closed: Socket.IO checks the first request of a client later', { destroyed: true }],
    ['without a socket, as some adapters make them', undefined],
  ])('asks the host about a request %s', async (_, socket) => {
    const isRevoked = vi.fn(() => false)
    const guard = requireBearer({ tokens, isRevoked })
    expect(await guard.authenticate(requestOf(token, { socket }))).toMatchObject({ accountId: ACCOUNTS.alice.id })
    expect(isRevoked).toHaveBeenCalledOnce()
  })

  it('removes the account that an earlier guard set, when it refuses the token', async () => {
    const req = requestOf(token)
    await requireBearer({ tokens, accounts: makeStore() }).authenticate(req)
    expect(req.user).toMatchObject({ id: ACCOUNTS.alice.id })
    await refusalOf(requireBearer({ tokens, isRevoked: () => true }).authenticate(req))
    expect(req).toMatchObject({ auth: undefined, user: undefined })
  })

  it.each<[string, Options]>([
    ['forgives the token', { optional: 'lenient', isRevoked: () => true }],
    ['finds no token in its own place', { optional: true, tokenFrom: () => undefined }],
  ])('removes the account that an earlier guard set, when it %s', async (_, options) => {
    const req = requestOf(token)
    await requireBearer({ tokens, accounts: makeStore() }).authenticate(req)
    await requireBearer({ tokens, ...options }).authenticate(req)
    expect(req).toMatchObject({ auth: undefined, user: undefined })
  })

  it('keeps the user of a session when it refuses a token', async () => {
    const user = { id: ACCOUNTS.alice.id }
    const req = requestOf('a.b.c', { user })
    await refusalOf(requireBearer({ tokens }).authenticate(req))
    expect(req.user).toBe(user)
  })
})

/** A host that renders refusals in its own format. */
const render: ErrorRequestHandler = (error: AuthError, _req, res, next) => {
  if (error.name !== 'AuthError') return next(error)
  res.status(error.status).set(error.headers).json({ company: error.toProblem() })
}

async function forwarding(options: Options = {}, handler: ErrorRequestHandler = render) {
  const guard = requireBearer({ tokens, ...options, refuse: passOn })
  return (await listen(express().use('/guarded', guard, handler))).port
}

describe('a guard that passes its refusals on', () => {
  const CUT = 'Bearer realm="r", error="invalid_token", error_description="no  Set-Cookie: a=b"'
  it.each<[string, object, string]>([
    ['a message', { message: 'no\r\nSet-Cookie: a=b' }, CUT],
    ['a header', { headers: { 'X-Own': 'a\r\nb', 'Retry-After': '5\r\nX-Other: b' } }, 'error="invalid_token"'],
    ['a scope', { scope: 'a\nb', maxAge: 'c\nd' }, 'error="invalid_token"'],
    ['a status', { status: 99, statusCode: 99 }, 'error="invalid_token"'],
  ])('sends a refusal of a host’s verifier whose %s is no header', async (_, members, challenge) => {
    const verify = () => Promise.reject(Object.assign(new AuthError('invalid_token'), members))
    const guard: Options = { tokens: { ...tokens, verify }, realm: 'r' }
    const own = await listen(express().use(requireBearer({ tokens, ...guard })))
    const passOn: ErrorRequestHandler = (error, _req, _res, next) => next(error)
    const sent = get({ Authorization: 'Bearer a.b.c' }, '/guarded/')
    for (const port of [own.port, await forwarding(guard), await forwarding(guard, passOn)]) {
      const answer = await send(port, sent)
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toContain(challenge)
      expect(answer.headers).not.toHaveProperty('x-own')
      expect(answer.headers).not.toHaveProperty('retry-after')
    }
  })
})

it('authenticates a request of a test that has headers only', async () => {
  const guard = requireBearer({ tokens, isRevoked: () => false })
  const request = (headers: object) => ({ method: 'GET', url: '/', headers }) as never
  const req = request({ authorization: `Bearer ${newToken()}` })
  await expect(guard.authenticate(req)).resolves.toMatchObject({ accountId: ACCOUNTS.alice.id })
  await expect(guard.authenticate(request({}))).rejects.toMatchObject({ code: 'missing_token' })
  const several = request({ authorization: ['Bearer a', 'Bearer b'] })
  await expect(guard.authenticate(several)).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(guard.authenticate(new Request('http://x/') as never)).rejects.toThrow('must be Node')
})
