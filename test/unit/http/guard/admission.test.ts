import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { authOf, type GuardedRequest, type RequireBearerOptions, requireBearer } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withSyncVerifier } from '../../../../src/tokens/sync-verifier.js'
import { deferred, settled } from '../../../support/concurrency.js'
import { expectMisuse, fatalErrors } from '../../../support/failures.js'
import { ACCOUNTS, issueNow, makeIssuer, makeStore } from '../../../support/fixtures.js'

const tokens = makeIssuer()
const accountId = ACCOUNTS.alice.id
const newToken = () => issueNow(tokens, { accountId }).token

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
  requireBearer({ tokens, ...options })(req, {} as ServerResponse, next)
  return next
}

describe('a cached token', () => {
  it('is admitted at once, however many requests come', async () => {
    const token = newToken()
    await ask({}, requestOf(token))
    for (let i = 0; i < 100; i++) {
      const req = requestOf(token)
      expect(pass({}, req)).toHaveBeenCalledOnce()
      expect(authOf(req).accountId).toBe(accountId)
    }
  })

  it('is not admitted when the cache does not return a verified token', async () => {
    const errors: unknown[] = []
    const onEvent = (event: object) => errors.push((event as { error?: Error }).error?.message)
    const forged = { id: 'a', accountId, scopes: [], issuedAt: new Date() } as never
    const sync = { fromCache: () => forged, verifySync: () => forged, now: () => Date.now(), tolerance: 0 }
    const req = requestOf('a.b.c')
    expect(await ask({ tokens: withSyncVerifier({ ...tokens }, sync), onEvent }, req)).toBe('unavailable')
    expect(req).not.toHaveProperty('auth')
    expect(errors).toEqual(['requireBearer: only a verified token is admitted'])
  })
})

describe('new tokens', () => {
  it('of many connections are all verified, eight at once and the others later', async () => {
    const results = Array.from({ length: 40 }, () => ask({}, requestOf(newToken())))
    expect(await Promise.all(results)).toEqual(Array(40).fill('admitted'))
  })

  it('of one connection are refused when more than 128 wait', async () => {
    const socket = {}
    const results = Array.from({ length: 150 }, () => ask({}, requestOf(newToken(), { socket })))
    expect(await Promise.all(results)).toContain('overloaded')
    expect(await ask({}, requestOf(newToken(), { socket }))).toBe('admitted')
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
  const { passwordHash: _, ...account } = ACCOUNTS.alice
  it.each<[string, unknown, boolean, Partial<RequireBearerOptions>?]>([
    ['of the account', own, true],
    ['whose id is an object with that text', { id: { toString: () => accountId } }, true],
    ['whose class provides the id', new Row(), true],
    ['of the account, on a guard that asks about revocation only', own, true, { isRevoked: () => false }],
    ['of another account', { id: 'acc-2' }, false],
    ['without an id', {}, false],
    ['that is a text', accountId, false],
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

  it('is replaced by the account that the guard looked up', async () => {
    const req = requestOf(newToken(), { user: { ...own, role: 'admin' } })
    expect(await ask({ accounts: makeStore() }, req)).toBe('admitted')
    expect(req.user).toEqual(account)
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
  [3, '65537', undefined],
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
  requireBearer({ tokens, isRevoked: () => false })(requestOf(newToken()), {} as ServerResponse, next)
  await vi.waitFor(() => expect(fatal).toEqual(['uncaughtException: of the host']))
  expect(next.mock.calls).toEqual([[]])
})

it('takes a mock that is an emitter, as node-mocks-http makes it', async () => {
  const mock = (token?: string) =>
    Object.assign(new PassThrough(), requestOf(token, { rawHeaders: undefined })) as never
  expect(await ask({}, mock(newToken()))).toBe('admitted')
  expect(await ask({}, mock())).toBe('missing_token')
})

it.each<[string, unknown]>([
  ['a Fetch Request', new Request('https://api.example.com/', { headers: { Authorization: `Bearer ${newToken()}` } })],
  ['a copy of the headers', { headers: { authorization: `Bearer ${newToken()}` }, url: '/', socket: {} }],
  ['a copy of no headers', { headers: {} }],
  ['nothing', undefined],
  ['a response', { rawHeaders: 'Authorization' }],
])('never takes %s for a request without a token', async (_, req) => {
  const message = `the request must be Node's, with "rawHeaders". Pass the original request`
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
    const next = pass({ isRevoked, forwardErrors: 'all' }, req)
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
])('authOf names the route of %j outside of Express, without its query', (req, message) => {
  expectMisuse(() => authOf(req), message, ['zebra'])
})
