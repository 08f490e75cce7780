import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { inspect } from 'node:util'
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { AuthEvent } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled, until } from '../support/concurrency.js'
import { expectMisuse } from '../support/failures.js'
import {
  asJson,
  expectForbidden,
  expectProblem,
  expectToken,
  expectTooLarge,
  expectUnavailable,
  GOOD,
  JSON_TYPE,
  packageOn,
  send,
  unhandledRejections,
} from '../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../support/http.js'

const hang = () => new Promise<never>(() => {})

/** Returns a login as text. Several logins can be joined into one pipeline. */
function wire(email: string, password: string): string {
  const body = JSON.stringify({ email, password })
  const head = ['Host: x', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return `POST ${TOKEN_PATH} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`
}

/** Opens a connection that the test can close. */
async function dial(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

const code = (event: AuthEvent) => ('code' in event ? event.code : event.type)

describe.each(EXPRESS)('attacks that once worked, on %s', async (_name, express) => {
  const {
    argon2id,
    authOf,
    bcrypt,
    createPasswords,
    createThrottle,
    createTokenIssuer,
    memoryAccounts,
    requireBearer,
    tokenRouter,
    ...fixtures
  } = await packageOn(express)
  const { ACCOUNTS, countingHasher, decodePayload, fastPasswords, frozenClock, ISSUER, makeIssuer, makeStore, SECRET } =
    fixtures
  const { alice, bob } = ACCOUNTS

  type Options = Parameters<typeof tokenRouter>[0]

  /** Starts an app with handlers in order, and an error handler that records errors. */
  async function host(...handlers: RequestHandler[]) {
    const errors: unknown[] = []
    const remember: ErrorRequestHandler = (error, _req, res, _next) => {
      errors.push(error)
      res.status(599).end()
    }
    const app = express()
    for (const handler of handlers) app.use(handler)
    app.use(remember)
    return { app, errors, port: (await listen(app)).port }
  }

  async function start(options: Partial<Options> = {}, ...before: RequestHandler[]) {
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => events.push(event)
    const router = tokenRouter({
      tokens: makeIssuer(),
      accounts: makeStore(),
      passwords: fastPasswords(),
      timeout: '1m',
      onEvent,
      ...options,
    })
    return { ...(await host(...before, router)), events }
  }

  const ask = (port: number, token?: string, more = {}) =>
    send(port, { method: 'GET', path: '/', headers: { ...(token && { Authorization: `Bearer ${token}` }), ...more } })

  describe('hanging up while the account is looked up', () => {
    const SLOW = 'slow@example.com'

    /** Creates a store whose look-up of one address ends when the test says so, and a promise of that call. */
    function slowStore() {
      const asked = deferred<void>()
      const answer = deferred<null>()
      const store = makeStore()
      const accounts: Options['accounts'] = (email) => {
        if (email !== SLOW) return store.findByEmail(email)
        asked.resolve()
        return answer.promise
      }
      return { accounts, asked: asked.promise, answer: () => answer.resolve(null) }
    }

    it('keeps the place in the queue until the look-up ends, so that hanging up allows no more look-ups', async () => {
      const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 1, queue: 0 })
      const { accounts, asked, answer } = slowStore()
      const { port, events } = await start({ accounts, passwords, throttle: false })
      const client = await dial(port, wire(SLOW, 'x'))
      await asked
      client.destroy()
      expectProblem(await send(port, asJson(GOOD)), 503, 'overloaded', 'Service Unavailable')
      expect(passwords.load()).toEqual({ active: 0, waiting: 1 })
      answer()
      await until(() => expect(events.map(code)).toEqual(['overloaded', 'client_closed_request']))
      expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
      expectToken(await send(port, asJson(GOOD)))
    })

    it('costs the address its point, and the account nothing', async () => {
      const once = { points: 1, duration: '1h' }
      const throttle = createThrottle({
        budgets: { address: { points: 2, duration: '1h' }, pair: once, account: once },
      })
      const { accounts, asked, answer } = slowStore()
      const { port, events } = await start({ accounts, throttle })
      const client = await dial(port, wire(SLOW, 'x'))
      await asked
      client.destroy()
      await settled()
      answer()
      await until(() => expect(events.map(code)).toEqual(['client_closed_request']))
      expectForbidden(await send(port, asJson({ email: SLOW, password: 'x' })))
      expectProblem(await send(port, asJson(GOOD)), 429, 'too_many_attempts', 'Too Many Requests')
      expect(events.map(code)).toEqual(['client_closed_request', 'invalid_credentials', 'too_many_attempts'])
    })
  })

  describe('a login under way while the password is changed', () => {
    /** Changes an account like a new password, 2 s after the login starts. The login ends 1 s later. */
    function changing(clock: ReturnType<typeof frozenClock>) {
      const account: { tokensValidAfter?: Date } & typeof alice = { ...alice }
      const change = () => {
        clock.advance(2000)
        account.tokensValidAfter = new Date(clock())
        clock.advance(1000)
      }
      return { account, change }
    }

    it.each(['in the look-up', 'in the check'])('gets no token that outlives the change: %s', async (where) => {
      const clock = frozenClock()
      const before = clock.seconds()
      const tokens = makeIssuer({ clock })
      const { account, change } = changing(clock)
      const hasher = countingHasher()
      const verify = (password: string, hash: string) => {
        if (where === 'in the check') change()
        return hasher.verify(password, hash)
      }
      const findByEmail = () => {
        const found = { ...account }
        if (where === 'in the look-up') change()
        return found
      }
      const accounts = { findByEmail, findById: () => ({ ...account }) }
      const refused: AuthEvent[] = []
      const guard = requireBearer({ tokens, accounts, onEvent: (event) => refused.push(event) })
      const passwords = createPasswords({ hashers: [{ ...hasher, verify }] })
      const { app, port } = await start({ tokens, accounts, passwords })
      app.get('/', guard, (_req, res) => {
        res.end('in')
      })
      const { authenticationToken, expiration } = expectToken(await send(port, asJson(GOOD)))
      expect(clock.seconds()).toBe(before + 3)
      expect(decodePayload(authenticationToken)).toMatchObject({ iat: before, exp: before + 3600 })
      expect(expiration).toBe(new Date((before + 3600) * 1000).toISOString())
      expect((await ask(port, authenticationToken)).status).toBe(401)
      expect(refused).toMatchObject([{ code: 'invalid_token', reason: 'superseded' }])
    })
  })

  describe('a hasher that never settles', () => {
    it('gives its turn up when its time is over: the next login goes well', async () => {
      const hasher = countingHasher()
      const verify = (password: string, hash: string) => (password === 'hang' ? hang() : hasher.verify(password, hash))
      const passwords = createPasswords({ hashers: [{ ...hasher, verify }], concurrency: 1 })
      const { port, events } = await start({ passwords, timeout: '20ms' })
      expectUnavailable(await send(port, asJson({ ...GOOD, password: 'hang' })))
      const { id: accountId } = alice
      expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'passwords', refused: true, accountId }])
      // A hash may be costly and end later, so its thread is free after 12 time limits.
      await until(() => expect(passwords.load()).toEqual({ active: 0, waiting: 0 }))
      expectToken(await send(port, asJson(GOOD)))
    })

    it('makes those that wait for too long overloaded, and nobody’s fault', async () => {
      const { promise, resolve } = deferred<boolean>()
      const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify: () => promise }], concurrency: 1 })
      const { port, events } = await start({ passwords, timeout: '20ms' })
      const busy = passwords.verify('x', alice.passwordHash)
      const answer = await send(port, asJson(GOOD))
      expectProblem(answer, 503, 'overloaded', 'Service Unavailable')
      expect(answer.headers['retry-after']).toBe('1')
      expect(events).toMatchObject([{ type: 'token.overloaded', code: 'overloaded' }])
      expect(passwords.load()).toEqual({ active: 1, waiting: 0 })
      resolve(true)
      await busy
      expectToken(await send(port, asJson(GOOD)))
    })
  })

  describe('what throws outside of the package’s own code goes to the host’s error handler', () => {
    const fault = new Error('the host’s own')
    const throwing = (): never => {
      throw fault
    }
    /** Express calls `trust proxy` only for a forwarded request. */
    const PROXIED = { 'X-Forwarded-For': '192.0.2.1, garbage' }
    const brokenResponse: RequestHandler = (_req, res, next) => {
      Object.assign(res, { setHeader: throwing })
      next()
    }

    it.each([false, true])('the guard’s next(), with forwardErrors: %s', async (forwardErrors) => {
      const rejections = unhandledRejections()
      const tokens = makeIssuer()
      const guard = requireBearer({ tokens, forwardErrors })
      const { port, errors } = await host((req, res, next) => {
        guard(req, res, (error) => (error === undefined ? throwing() : next(error)))
      })
      expect((await ask(port, tokens.issue({ accountId: 'a' }).token)).status).toBe(599)
      await settled()
      expect({ errors, rejections }).toEqual({ errors: [fault], rejections: [] })
    })

    it.each<[string, (req: Request) => void]>([
      ['req.ip, for a request that the guard refuses', (req) => req.app.set('trust proxy', throwing)],
      [
        'the response, for a request that the guard refuses',
        (req) => Object.assign(req.res ?? {}, { setHeader: throwing }),
      ],
    ])('%s', async (_what, breakIt) => {
      const rejections = unhandledRejections()
      const { port, errors } = await host(
        (req, _res, next) => {
          breakIt(req)
          next()
        },
        requireBearer({ tokens: makeIssuer() }) as RequestHandler,
      )
      expect((await ask(port, undefined, PROXIED)).status).toBe(599)
      await settled()
      expect({ errors, rejections }).toEqual({ errors: [fault], rejections: [] })
    })

    it('req.ip, in the token call', async () => {
      const rejections = unhandledRejections()
      const { app, port, errors, events } = await start()
      app.set('trust proxy', throwing)
      for (const value of [GOOD, {}]) {
        const { headers, body } = asJson(value)
        expect((await send(port, { headers: { ...headers, ...PROXIED }, body: body as string })).status).toBe(599)
      }
      await settled()
      expect({ errors, events, rejections }).toEqual({ errors: [fault, fault], events: [], rejections: [] })
    })

    it.each([
      ['a good login', GOOD],
      ['a bad login', { ...GOOD, password: 'wrong' }],
      ['a malformed body', {}],
    ])('the response, in the token call: %s', async (_what, body) => {
      const rejections = unhandledRejections()
      const { port, errors } = await start({}, brokenResponse)
      expect((await send(port, asJson(body))).status).toBe(599)
      await settled()
      expect({ errors, rejections }).toEqual({ errors: [fault], rejections: [] })
    })
  })

  describe('a client that is not there any more has no password hashed', () => {
    it.each<[string, (socket: Socket, next: () => void) => void]>([
      [
        'destroyed',
        (socket, next) => {
          socket.destroy()
          next()
        },
      ],
      ['closed', (socket, next) => socket.once('close', () => next()).destroy()],
    ])('its connection was %s before the router ran', async (_what, end) => {
      const hasher = countingHasher()
      const findByEmail = vi.fn(() => alice)
      const { port, events } = await start(
        { passwords: fastPasswords(hasher), accounts: findByEmail, throttle: false },
        express.json(),
        (req, _res, next) => end(req.socket, next),
      )
      await dial(port, wire(GOOD.email, GOOD.password))
      await until(() => expect(events).toHaveLength(1))
      await settled()
      expect(events).toMatchObject([{ type: 'token.refused', code: 'client_closed_request' }])
      expect(hasher.asked).toEqual([])
      expect(findByEmail).not.toHaveBeenCalled()
    })

    it('it hung up on requests that it had sent behind each other', async () => {
      const { promise, resolve } = deferred<boolean>()
      const verify = vi.fn((_password: string, _hash: string) => promise)
      const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify }], concurrency: 1 })
      const { port, events } = await start({ passwords, throttle: false })
      const client = await dial(port, wire(GOOD.email, GOOD.password).repeat(5))
      await until(() => expect(passwords.load()).toEqual({ active: 1, waiting: 4 }))
      client.destroy()
      await until(() => expect(events.map(code)).toEqual(Array(4).fill('client_closed_request')))
      resolve(true)
      await until(() => expect(events).toHaveLength(5))
      await settled()
      expect(verify).toHaveBeenCalledOnce()
      expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
    })
  })

  it.each([
    ['argon2id()', argon2id],
    ['bcrypt()', bcrypt],
  ])('a hasher in the place of password checks is a TypeError: %s', (_, hasher) => {
    const passwords = hasher() as unknown as Options['passwords']
    const make = () => tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords })
    expectMisuse(make, /^tokenRouter: option "passwords" must be what createPasswords\(\) returned.*hashers: \[/)
  })

  describe('req.user', () => {
    const HASH = '$argon2id$v=19$zebra'

    /** An account of an object-relational mapper: columns in one member, and getters on the class. */
    class Row {
      readonly dataValues: Record<string, unknown>
      constructor(values: Record<string, unknown>) {
        this.dataValues = values
      }
      get id() {
        return this.dataValues['id'] as string
      }
      get passwordHash() {
        return this.dataValues['passwordHash'] as string
      }
      get scopes() {
        return ['reports:read']
      }
    }
    class Derived extends Row {}

    it.each<[string, (values: { id: string; passwordHash: string }) => Row | { id: string; passwordHash: string }]>([
      ['a plain account', (values) => values],
      ['an account without a prototype', (values) => Object.assign(Object.create(null), values)],
      [
        'an object with a getter for it',
        ({ id }) => ({
          id,
          get passwordHash() {
            return HASH
          },
        }),
      ],
      ['a row with getters on its class', (values) => new Row(values)],
      ['a row with getters on a class above its own', (values) => new Derived(values)],
      ['an account that inherits from a row', (values) => Object.create(new Row(values))],
    ])('never has the password hash: %s', async (_what, make) => {
      const tokens = makeIssuer()
      const findById = (id: string) => make({ id, passwordHash: HASH })
      const accounts = { findByEmail: () => null, findById }
      const seen: unknown[] = []
      const { port } = await host(requireBearer({ tokens, accounts }) as RequestHandler, (req, res) => {
        seen.push(req.user)
        res.json(req.user)
      })
      const answer = await ask(port, tokens.issue({ accountId: 'acc-1' }).token)
      expect(JSON.parse(answer.body)).toMatchObject({ id: 'acc-1' })
      expect(answer.body).not.toContain('zebra')
      expect(inspect(seen, { depth: 9, showHidden: true, getters: true })).not.toContain('zebra')
      expect('passwordHash' in (seen[0] as object)).toBe(false)
    })
  })

  describe('credentials longer than bodyLimit that the host’s own parser let through', () => {
    const x = (count: number) => 'x'.repeat(count)
    const chunked = (value: unknown) => ({
      headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' },
      body: JSON.stringify(value),
    })

    it.each([
      ['a long e-mail', { ...GOOD, email: x(10_241) }],
      ['a long password', { ...GOOD, password: x(10_241) }],
      ['both together', { email: x(6000), password: x(6000) }],
      ['megabytes', { email: x(9_000_000), password: 'x' }],
    ])('are too large: %s', async (_what, credentials) => {
      const findByEmail = vi.fn(() => null)
      const { port } = await start({ accounts: findByEmail }, express.json({ limit: '20mb' }))
      expectTooLarge(await send(port, chunked(credentials)))
      expect(findByEmail).not.toHaveBeenCalled()
    })

    it('are taken up to the limit', async () => {
      const { port } = await start({}, express.json({ limit: '20mb' }))
      expectForbidden(await send(port, chunked({ ...GOOD, password: x(10_000) })))
      expectToken(await send(port, chunked(GOOD)))
    })
  })

  describe('req.auth of another middleware', () => {
    const foreign: RequestHandler = (req, _res, next) => {
      Object.assign(req, { auth: { accountId: 'admin', scopes: ['everything'] } })
      next()
    }

    it('is gone behind an optional guard, when a request has no credentials', async () => {
      const guard = requireBearer({ tokens: makeIssuer(), optional: true }) as RequestHandler
      const seen: unknown[] = []
      const { port, errors } = await host(foreign, guard, (req, res) => {
        seen.push(req.auth)
        res.end(authOf(req).accountId)
      })
      expect((await ask(port)).status).toBe(599)
      expect(seen).toEqual([undefined])
      expect(errors).toMatchObject([{ name: 'TypeError', message: expect.stringContaining('GET / ') }])
    })

    it('is never what authOf() gives', async () => {
      const { port, errors } = await host(foreign, (req, res) => {
        res.end(authOf(req).accountId)
      })
      expect((await ask(port)).status).toBe(599)
      expect(errors).toMatchObject([{ name: 'TypeError', message: expect.stringMatching(/^authOf: GET \/ /) }])
    })

    it('is never what authOf() gives, though it is a copy of a verified token', async () => {
      const tokens = makeIssuer()
      const copy: RequestHandler = (req, _res, next) => {
        Object.assign(req, { auth: { ...authOf(req), accountId: 'admin' } })
        next()
      }
      const { port, errors } = await host(requireBearer({ tokens }) as RequestHandler, copy, (req, res) => {
        res.end(authOf(req).accountId)
      })
      expect((await ask(port, tokens.issue({ accountId: 'a' }).token)).status).toBe(599)
      expect(errors).toMatchObject([{ name: 'TypeError' }])
    })
  })

  describe('Object.prototype', () => {
    function polluted<T>(name: string, value: unknown, make: () => T): T {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: false, writable: true })
      try {
        return make()
      } finally {
        Reflect.deleteProperty(Object.prototype, name)
      }
    }

    it('opens no guard: "optional"', async () => {
      const tokens = makeIssuer()
      const guard = polluted('optional', true, () => requireBearer({ tokens })) as RequestHandler
      const { port } = await host(guard, (_req, res) => {
        res.end('in')
      })
      expectProblem(await ask(port), 401, 'missing_token', 'Unauthorized')
    })

    it('makes no token last: "lifetime"', () => {
      const clock = frozenClock()
      const issuer = polluted('lifetime', '300 days', () => makeIssuer({ clock }))
      expect(issuer.issue({ accountId: 'a' }).expiresAt).toEqual(new Date(clock() + 3_600_000))
    })

    it('takes no budget away: "pair"', async () => {
      const throttle = polluted('pair', false, () => createThrottle({ budgets: {} }))
      const { port } = await start({ throttle })
      for (let i = 0; i < 10; i++) expectForbidden(await send(port, asJson({ ...GOOD, password: 'x' })))
      expect((await send(port, asJson(GOOD))).status).toBe(429)
    })
  })

  describe('a lifetime', () => {
    const issuerOf = (lifetime: string | number) =>
      createTokenIssuer({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET }, clock: frozenClock(), lifetime })

    it.each([3_600_000, 86_401, 604_800])('of %i is taken for milliseconds, and a TypeError', (lifetime) => {
      expectMisuse(() => issuerOf(lifetime), /option "lifetime" must be .*milliseconds.*'7 days'/)
    })

    it.each([
      [86_400, 86_400],
      ['7 days', 604_800],
    ])('of %j is %i seconds', (lifetime, seconds) => {
      const { token } = issuerOf(lifetime).issue({ accountId: 'a' })
      const { iat, exp } = decodePayload(token) as { iat: number; exp: number }
      expect(exp - iat).toBe(seconds)
    })
  })

  describe('a store that fails', () => {
    function warnings() {
      const caught: Error[] = []
      const listener = (warning: Error) => {
        if (warning.name === 'ExpressTokenEndpointWarning') caught.push(warning)
      }
      process.on('warning', listener)
      onTestFinished(() => void process.removeListener('warning', listener))
      return caught
    }
    const down = () => Promise.reject(new Error('connection refused'))
    const store = { findByEmail: down, findById: down }

    it('is one process warning where nobody observes, in the token call and in the guard', async () => {
      const caught = warnings()
      const tokens = makeIssuer()
      const router = tokenRouter({ tokens, accounts: store, passwords: fastPasswords() })
      const { port } = await host(router, requireBearer({ tokens, accounts: store }) as RequestHandler)
      for (let i = 0; i < 5; i++) expectUnavailable(await send(port, asJson(GOOD)))
      await settled()
      const message = expect.stringMatching(/^accounts failed: Error at .*attacks\.test\.ts:\d+:\d+\. Set onEvent/)
      expect(caught).toMatchObject([{ message }])
      for (let i = 0; i < 5; i++) expect((await ask(port, tokens.issue({ accountId: 'a' }).token)).status).toBe(503)
      await settled()
      expect(caught).toMatchObject([{ message }, { message }])
    })

    it('is none where somebody does, and refusals are none', async () => {
      const caught = warnings()
      const { port } = await start({ accounts: store })
      expectUnavailable(await send(port, asJson(GOOD)))
      const unobserved = tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() })
      expectForbidden(await send((await host(unobserved)).port, asJson({ ...GOOD, password: 'x' })))
      await settled()
      expect(caught).toEqual([])
    })
  })

  it.each<[string, object | null, RegExp]>([
    [
      'a password instead of its hash',
      { id: 'a', email: 'a@example.com', password: 'zebra' },
      /"passwordHash" must be/,
    ],
    ['no e-mail address', { id: 'a', passwordHash: null }, /memoryAccounts: each account needs an "email"/],
    ['an e-mail address that is no text', { ...bob, email: 7 }, /memoryAccounts: each account needs an "email"/],
    ['no id', { email: 'a@example.com', passwordHash: null }, /"id" must be/],
    ['scopes as text', { ...bob, scopes: 'reports:read' }, /"scopes" must be/],
    ['null', null, /memoryAccounts: each account needs an "email"/],
  ])('memoryAccounts() of the wrong shape is a TypeError: %s', (_what, account, says) => {
    expectMisuse(() => memoryAccounts([alice, account as never]), says, ['zebra'])
  })
})
