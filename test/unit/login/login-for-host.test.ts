// Tests login/token-settings.ts

import { generateKeyPairSync } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import {
  AuthError,
  type AuthEvent,
  createLimits,
  createPasswords,
  createTokenIssuer,
  type Login,
  tokenRouter,
} from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { logInWith } from '../../support/auth.js'
import { deferred, settled, until } from '../../support/concurrency.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import {
  ACCOUNTS,
  countingHasher,
  fastPasswords,
  frozenClock,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const { alice } = ACCOUNTS
const GOOD = { email: alice.email, password: PASSWORD }
const WRONG = { ...GOOD, password: 'wrong' }
const tokens = makeIssuer()

const loginWith = (options: object = {}) => logInWith({ accounts: makeStore(), ...options })

describe('auth.logIn', () => {
  it('returns the account without its hash, and what issue needs', async () => {
    const clock = frozenClock()
    const { account, subject } = await loginWith({ clock })(GOOD)
    expect(account).toEqual({ id: alice.id, email: alice.email, scopes: alice.scopes })
    expect(subject).toMatchObject({
      accountId: alice.id,
      scopes: alice.scopes,
      claims: {},
      issuedAt: new Date(clock()),
    })
    const { token } = await tokens.issue({ ...subject, issuedAt: undefined })
    expect(await tokens.verify(token)).toMatchObject({ accountId: alice.id, scopes: alice.scopes })
  })

  it.each<[string, unknown]>([
    ['a query of a database', { email: { $ne: 1 }, password: { $ne: 1 } }],
    ['a list', { email: [alice.email], password: PASSWORD }],
    ['no password', { email: alice.email }],
    ['inherited credentials', Object.create(GOOD)],
    ['nothing', undefined],
    ['half of a character', { ...GOOD, password: '\ud800' }],
  ])('refuses %s with 400, before the store', async (_what, credentials) => {
    const accounts = vi.fn()
    const error = await rejectionOf(loginWith({ accounts })(credentials as never))
    expect(error).toMatchObject({ name: 'AuthError', code: 'invalid_body', status: 400 })
    expect(accounts).not.toHaveBeenCalled()
  })

  it('refuses credentials of more than a million characters with 413', async () => {
    const error = await rejectionOf(loginWith()({ ...GOOD, password: 'x'.repeat(1_048_577) }))
    expect(error).toMatchObject({ code: 'body_too_large' })
  })

  it('does the same work for an unknown account', async () => {
    const hasher = countingHasher()
    const logIn = loginWith({ passwords: fastPasswords(hasher) })
    for (const credentials of [WRONG, { ...WRONG, email: 'nobody@example.com' }]) {
      expect(await rejectionOf(logIn(credentials))).toMatchObject({ code: 'invalid_credentials' })
    }
    expect(hasher.asked).toHaveLength(2)
  })

  it('counts failures by the address: of a request, of the origin, and of all that have none', async () => {
    const limits = { address: { points: 2, duration: '1h' } }
    const logIn = loginWith({ limits: createLimits({ limits }) })
    const codeOf = async (origin?: Parameters<Login>[1]) =>
      ((await rejectionOf(logIn(WRONG, origin))) as { code: string }).code
    const requestFrom = (ip: string) => ({ ip, headers: {}, socket: undefined }) as never
    const [failed, limited] = ['invalid_credentials', 'too_many_attempts']
    for (const origin of [requestFrom('203.0.113.1'), { address: '203.0.113.2' }, undefined]) {
      expect([await codeOf(origin), await codeOf(origin), await codeOf(origin)]).toEqual([failed, failed, limited])
    }
    expect([await codeOf({ address: '203.0.113.1' }), await codeOf({})]).toEqual([limited, limited])
  })

  it('checks the password of another network before the rest of one that sends many', async () => {
    const { promise, resolve } = deferred<boolean>()
    const hasher = { ...countingHasher(), verify: () => promise }
    const logIn = loginWith({ passwords: createPasswords({ hashers: [hasher], concurrency: 1 }) })
    const done: string[] = []
    const addresses = [...Array(8).fill('192.0.2.1'), '198.51.100.1']
    const all = addresses.map((address) => logIn(GOOD, { address }).then(() => done.push(address)))
    await settled()
    resolve(true)
    await Promise.all(all)
    expect(done.indexOf('198.51.100.1')).toBeLessThan(4)
  })

  it('ends when the client has disconnected', async () => {
    const accounts = vi.fn()
    const error = await rejectionOf(loginWith({ accounts })(GOOD, { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'client_closed_request' })
    expect(accounts).not.toHaveBeenCalled()
  })

  it('listens once to a signal that many logins share, and ends those that wait', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { promise, resolve } = deferred<boolean>()
    const hasher = { ...countingHasher(), verify: () => promise }
    const controller = new AbortController()
    const logIn = loginWith({ passwords: createPasswords({ hashers: [hasher], concurrency: 1, queue: 100 }) })
    const logins = Array.from({ length: 60 }, () =>
      logIn(GOOD, { signal: controller.signal }).catch(({ code }) => code),
    )
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    resolve(true)
    const codes = await Promise.all(logins)
    expect(codes.filter((code) => code === 'client_closed_request').length).toBeGreaterThan(20)
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  it('reports refusals, with the e-mail address where the host asks for it', async () => {
    for (const emailInEvents of [true, false]) {
      const events: AuthEvent[] = []
      await rejectionOf(loginWith({ emailInEvents, onEvent: (event: AuthEvent) => events.push(event) })(WRONG))
      expect(events).toMatchObject([{ type: 'token.refused', code: 'invalid_credentials' }])
      expect(events[0]).toEqual(
        emailInEvents
          ? expect.objectContaining({ email: alice.email })
          : expect.not.objectContaining({ email: alice.email }),
      )
    }
  })

  it('warns of a failure without an observer', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    await rejectionOf(loginWith({ accounts: () => Promise.reject(new Error('down')) })(GOOD))
    expect(warned).toHaveBeenCalledOnce()
  })

  it('rejects with 503 when a dependency fails, and reports each failure once', async () => {
    const events: AuthEvent[] = []
    const accounts = () => Promise.reject(new Error('down'))
    const error = await rejectionOf(loginWith({ accounts, onEvent: (event: AuthEvent) => events.push(event) })(GOOD))
    expect(error).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'accounts', refused: true }])
  })

  it.each<[string, object, RegExp]>([
    ['without accounts', { accounts: undefined }, /^createAuth: option "accounts" must be/],
    ['with a hasher for passwords', { passwords: countingHasher() }, /^createAuth: option "passwords" must be/],
    ['with a copy of a part of passwords', { passwords: { hash() {}, verify() {} } }, /option "passwords" must be/],
  ])('createAuth %s is a TypeError', (_what, options, says) => {
    expectMisuse(() => loginWith(options), says)
  })

  it('the e-mail address and the password as two arguments are a TypeError, which shows neither', async () => {
    const error = await rejectionOf(loginWith()(alice.email as never, PASSWORD as never))
    const says = 'logIn: the origin must be the request or { address }, but is a string'
    const fix = 'Pass the credentials as one object: logIn({ email, password }, req)'
    const thrown = () => {
      throw error
    }
    for (const part of [says, fix]) expectMisuse(thrown, part, [alice.email, PASSWORD])
    // A client can send a text as its body.
    expect(await rejectionOf(loginWith()(alice.email as never))).toMatchObject({ code: 'invalid_body' })
  })

  it('an origin that is neither a request nor an address is a TypeError', async () => {
    const signal = 'option "signal" must be an AbortSignal'
    for (const [origin, says] of [
      ['203.0.113.1', 'the origin must be the request or { address }, but is a string of 11 characters. '],
      [7, 'the origin must be the request or { address }, but is a number$'],
      [{ ip: '203.0.113.1' }, 'unknown option "ip". Known options: address, signal'],
      [{ address: 7 }, 'option "address" must be the address of a client'],
      [{ signal: {} }, signal],
      [{ signal: { aborted: false } }, signal],
      [{ signal: { addEventListener() {} } }, signal],
      [{ signal: 'abort' }, signal],
      [{ signal: new AbortController() }, signal],
      [{ address: '1.2.3.4', headers: {} }, 'unknown option "headers"'],
    ]) {
      const error = await rejectionOf(loginWith()(GOOD, origin as never))
      expectMisuse(
        () => {
          throw error
        },
        new RegExp(`^logIn: .*${says}`),
      )
    }
  })
})

describe.each(EXPRESS)('tokenRouter, on %s', (_version, express) => {
  const appOf = (options: object = {}) =>
    express().use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), limits: false, ...options }))
  const post = (app: ReturnType<typeof appOf>, body: object = GOOD) => request(app).post(TOKEN_PATH).send(body)

  it('refuses a client whose address has reached its limit, whatever its body holds', async () => {
    const limits = createLimits({ limits: { address: { points: 1, duration: '1h' } } })
    const app = appOf({ limits })
    await post(app, {}).expect(400)
    await post(app, WRONG).expect(403)
    await post(app, {}).expect(429)
  })

  it('reports one event for each request', async () => {
    const types: string[] = []
    const app = appOf({ onEvent: ({ type }: AuthEvent) => types.push(type) })
    await post(app).expect(200)
    await post(app, WRONG).expect(403)
    await post(app, {}).expect(400)
    expect(types).toEqual(['token.issued', 'token.refused', 'token.refused'])
  })

  it('reports a failure that does not end the login', async () => {
    const onEvent = vi.fn()
    const passwords = { ...fastPasswords(), needsRehash: () => Promise.reject(new Error('down')) }
    const failed = { type: 'dependency.failed', dependency: 'passwords', refused: false }
    await post(appOf({ passwords, onEvent })).expect(200)
    expect(onEvent.mock.calls).toMatchObject([[failed], [{ type: 'token.issued' }]])
  })

  it('an issuer of the host that never ends is a 503 after the timeout', async () => {
    const onEvent = vi.fn()
    const hanging = { ...tokens, issue: () => new Promise(() => {}) }
    await post(appOf({ tokens: hanging, timeout: '500ms', onEvent })).expect(503)
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'dependency.failed', dependency: 'internal', refused: true }]])
  })

  it('lets at most 1,024 calls of a function of the host wait for one network', async () => {
    let calls = 0
    const { promise, reject } = deferred<never>()
    onTestFinished(() => reject(new AuthError('overloaded')))
    const respond = () => ++calls && promise
    const server = appOf({ respond, timeout: '1m' }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const body = JSON.stringify(GOOD)
    const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
    function open(requests: number) {
      let received = ''
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.on('data', (chunk) => {
        received += chunk
      })
      onTestFinished(() => void socket.destroy())
      socket.write(`${head}\r\n\r\n${body}`.repeat(requests))
      return { refused: () => received.match(/HTTP\/1\.1 503/g)?.length ?? 0 }
    }
    for (let i = 1; i <= 64; i++) {
      open(16)
      await until(() => expect(calls).toBe(16 * i))
    }
    const last = open(1)
    await until(() => expect(last.refused()).toBe(1))
    expect(calls).toBe(1024)
  })

  const overloaded = () => Promise.reject(new AuthError('overloaded'))
  function busyIssuer() {
    const { promise, reject } = deferred<never>()
    onTestFinished(() => reject(new Error('the test has ended')))
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const issuer = createTokenIssuer({
      issuer: tokens.issuer,
      keys: { alg: 'ES256', publicKey, sign: () => promise },
      timeout: '1m',
    })
    for (let i = 0; i < 1024; i++) issuer.issue({ accountId: 'acc-1' }).catch(() => {})
    return issuer
  }
  it.each<[string, () => object]>([
    ['its issuer has 1,024 signatures under way', () => ({ tokens: busyIssuer() })],
    ['`respond` finds a queue full', () => ({ respond: overloaded })],
  ])('responds as overloaded, not as a failure, when %s', async (_, options) => {
    const onEvent = vi.fn()
    await post(appOf({ onEvent, ...options() }))
      .expect(503)
      .expect('Retry-After', '1')
      .expect(({ body }) => expect(body).toMatchObject({ code: 'overloaded' }))
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'token.overloaded', code: 'overloaded' }]])
  })

  describe('respond', () => {
    const respondWith = (respond: unknown, more: object = {}) => post(appOf({ respond, ...more }))

    it('returns the JSON of the response, later too; status and headers stay', async () => {
      const { headers, body } = await respondWith(async ({ token, expiresAt, account, req }: never) => ({
        access_token: token,
        until: expiresAt,
        name: (account as typeof alice).email,
        path: (req as { path: string }).path,
      })).expect(200)
      expect(await tokens.verify(body.access_token)).toMatchObject({
        accountId: alice.id,
        expiresAt: new Date(body.until),
      })
      expect(body).toMatchObject({ name: alice.email, path: TOKEN_PATH })
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      expect(JSON.stringify(body)).not.toContain('plain:')
    })

    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('bug')
        },
      ],
      ['rejects', () => Promise.reject(new Error('bug'))],
      ['never ends', () => new Promise(() => {})],
      ['returns nothing', () => undefined],
      ['returns text', () => '{}'],
      ['returns a list', () => [1]],
      ['returns what is not JSON', () => circular],
      ['returns an object that becomes nothing', () => ({ toJSON: () => undefined })],
      ['returns an object that becomes text', () => ({ toJSON: () => 'x' })],
    ])('that %s is a 503 and a reported failure, and no token is sent', async (_what, respond) => {
      const events: AuthEvent[] = []
      const { body } = await respondWith(respond, {
        timeout: '500ms',
        onEvent: (e: AuthEvent) => events.push(e),
      }).expect(503)
      expect(body).toMatchObject({ code: 'unavailable' })
      expect(events).toMatchObject([
        { type: 'dependency.failed', dependency: 'hook', option: 'respond', refused: true },
      ])
    })

    it('that returns no object has a clear error', async () => {
      const events: AuthEvent[] = []
      await respondWith(() => [1], { onEvent: (event: AuthEvent) => events.push(event) }).expect(503)
      const error = expect.objectContaining({ message: 'respond must return an object, but returned an array' })
      expect(events).toMatchObject([{ error }])
    })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'a.b.c'],
    ['a token that is no text', { token: 7, id: 'x', expiresAt: new Date() }],
    ['a token without its expiration', { token: 'a.b.c', id: 'x' }],
    ['an invalid expiration', { token: 'a.b.c', id: 'x', expiresAt: new Date(Number.NaN) }],
    ['a token without an id', { token: 'a.b.c', expiresAt: new Date() }],
  ])('an issuer of the host whose issue returns %s is a 503 with a clear error', async (_what, issued) => {
    const events: AuthEvent[] = []
    const own = { ...tokens, issue: () => issued }
    await post(appOf({ tokens: own, onEvent: (event: AuthEvent) => events.push(event) })).expect(503)
    const error = expect.objectContaining({ message: expect.stringMatching(/^tokens\.issue\(\) must return \{ token/) })
    expect(events).toMatchObject([{ dependency: 'internal', error }])
  })
})
