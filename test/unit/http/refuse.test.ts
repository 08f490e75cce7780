import express, { type ErrorRequestHandler } from 'express'
import {
  type AuthEvent,
  createAuth,
  type HostOptions,
  memoryStore,
  requireBearer,
  SignInRefusal,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { authWith } from '../../support/auth.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { fastPasswords, ISSUER, makeIssuer, makeStore, SECRET, signingKey } from '../../support/fixtures.js'
import { asJson, GOOD, sendEndlessly } from '../../support/host.js'
import { client, listen, TOKEN_PATH } from '../../support/http.js'

type Refuse = NonNullable<HostOptions['refuse']>

async function start(refuse: Refuse, onError?: ErrorRequestHandler) {
  const tokens = makeIssuer()
  const accounts = makeStore()
  const quiet = { onEvent() {}, refuse }
  const app = express()
  const own = { passwords: fastPasswords(), limits: false as const, extraFields: ['code'] }
  const beforeSignIn = ({ fields }: { fields: Record<string, unknown> }) => {
    if (fields['code'] === 'x') throw new SignInRefusal('wrong_code', { headers: { 'X-Left': '3' } })
  }
  app.use(tokenRouter({ tokens, accounts, ...own, ...quiet, beforeSignIn }))
  app.all('/guarded', requireBearer({ tokens, ...quiet }), (_req, res) => void res.json(1))
  app.get('/custom', () => {
    throw new SignInRefusal('custom')
  })
  app.use(authWith({ accounts, ...quiet }).errors)
  if (onError) app.use(onError)
  const { port } = await listen(app)
  const send = client(port)
  const signIn = (body: object) => send({ ...asJson(body), method: 'POST', path: TOKEN_PATH })
  const get = (path: string) => send({ method: 'GET', path, headers: {} })
  return { signIn, get, send, port }
}

const asOwn: Refuse = (error, req) => ({ status: 422, body: { errors: { [error.code]: [req.method] } } })

describe('the option refuse', () => {
  it('gives the refusals of the router the form of the host, also the empty one, and keeps the headers', async () => {
    const { signIn } = await start(asOwn)
    const wrong = await signIn({ ...GOOD, password: 'x' })
    expect(wrong).toMatchObject({ status: 422, body: '{"errors":{"invalid_credentials":["POST"]}}' })
    expect(wrong.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(await signIn({})).toMatchObject({ status: 422, body: '{"errors":{"invalid_body":["POST"]}}' })
    const code = await signIn({ ...GOOD, code: 'x' })
    expect(code).toMatchObject({ body: '{"errors":{"wrong_code":["POST"]}}', headers: { 'x-left': '3' } })
  })

  it('gives it to those of the guard, with the challenge, and of auth.errors', async () => {
    const { get } = await start(asOwn)
    const guarded = await get('/guarded')
    expect(guarded).toMatchObject({ status: 422, body: '{"errors":{"missing_token":["GET"]}}' })
    expect(guarded.headers['www-authenticate']).toContain('Bearer realm=')
    expect(await get('/custom')).toMatchObject({ status: 422, body: '{"errors":{"custom":["GET"]}}' })
  })

  it('sends a text as text, and nothing as an empty body', async () => {
    const text = await start(() => ({ status: 401, body: 'Unauthorized' }))
    expect(await text.get('/guarded')).toMatchObject({
      status: 401,
      body: 'Unauthorized',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
    for (const body of [undefined, null]) {
      const none = await (await start(() => ({ status: 404, body }))).get('/guarded')
      expect(none).toMatchObject({ status: 404, body: '' })
      expect(none.headers).not.toHaveProperty('content-type')
    }
  })

  it.each([400, 599])('takes the status %i', async (status) => {
    const { get } = await start(() => ({ status, body: {} }))
    expect(await get('/guarded')).toMatchObject({ status })
  })

  it.each<[string, (...args: Parameters<Refuse>) => unknown]>([
    ['throws', () => expect.fail('bug')],
    ['returns null', () => null],
    ['returns a status of a success', () => ({ status: 200, body: {} })],
    ['returns a status that HTTP does not have', () => ({ status: 600, body: {} })],
    ['returns a body that JSON cannot hold', () => ({ status: 400, body: 1n })],
    ['returns a function as body', () => ({ status: 400, body: () => 1 })],
    ['returns a promise', async () => ({ status: 400 })],
    ['rejects', async () => expect.fail('down')],
    ['calls next with nothing', (_error, _req, next) => next(undefined as never)],
    ['calls next with null', (_error, _req, next) => next(null as never)],
    ['calls next with the word for the next route', (_error, _req, next) => next('route' as never)],
    [
      'calls next twice',
      (error, _req, next) => {
        next(error)
        next(error)
      },
    ],
    [
      'calls next and returns a response',
      (error, _req, next) => {
        next(error)
        return { status: 400 }
      },
    ],
    [
      'calls next and throws',
      (error, _req, next) => {
        next(error)
        throw error
      },
    ],
    ['calls next and returns a promise', async (error, _req, next) => next(error)],
  ])('leaves a refusal as it is when the function %s', async (_, broken) => {
    const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.status(418).end())
    const { get } = await start(broken as Refuse, onError)
    const { status, headers } = await get('/guarded')
    expect({ status, type: headers['content-type'] }).toEqual({ status: 401, type: 'application/problem+json' })
    expect(onError).not.toHaveBeenCalled()
  })

  it('warns once of a function that fails, and never of one that leaves a refusal as it is', async () => {
    vi.resetModules()
    const { requireBearer } = await import('express-token-endpoint')
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    for (const refuse of [() => undefined, () => ({ status: 200 }), () => ({ status: 200 })]) {
      const app = express().use(requireBearer({ tokens: makeIssuer(), onEvent() {}, refuse }))
      const send = client((await listen(app)).port)
      expect(await send({ method: 'GET', path: '/' })).toMatchObject({
        status: 401,
        body: expect.stringContaining('"missing_token"'),
      })
    }
    expect(warned.mock.calls).toEqual([[expect.stringContaining('"refuse"'), 'ExpressTokenEndpointWarning']])
  })

  it('does not wait for next', async () => {
    const onError = vi.fn<ErrorRequestHandler>((_error, _req, res, _next) => void res.status(418).end())
    const late: Refuse = (error, _req, next) => void setImmediate(next, error)
    const { get } = await start(late, onError)
    expect(await get('/guarded')).toMatchObject({ status: 401 })
    await new Promise(setImmediate)
    expect(onError).not.toHaveBeenCalled()
  })

  describe('that calls next', () => {
    class OwnError extends Error {}
    const asOwnError: Refuse = (error, _req, next) => next(new OwnError(error.code))
    const onError: ErrorRequestHandler = (error, _req, res, next) =>
      error instanceof OwnError ? void res.status(418).send(error.message) : next(error)

    it("sends no response, and the host's error handler has the error, with the headers of the refusal", async () => {
      const { signIn, get, send } = await start(asOwnError, onError)
      const wrong = await signIn({ ...GOOD, password: 'x' })
      expect(wrong).toMatchObject({
        status: 418,
        body: 'invalid_credentials',
        headers: { 'cache-control': 'no-store' },
      })
      expect(await signIn({ ...GOOD, code: 'x' })).toMatchObject({ body: 'wrong_code', headers: { 'x-left': '3' } })
      const guarded = await get('/guarded')
      expect(guarded).toMatchObject({ status: 418, body: 'missing_token' })
      expect(guarded.headers['www-authenticate']).toMatch(/^Bearer realm="https:/)
      expect(await get('/custom')).toMatchObject({ status: 418, body: 'custom' })
      expect(await send({ method: 'PUT', path: TOKEN_PATH })).toMatchObject({ status: 418, headers: { allow: 'POST' } })
    })

    it.each(['/guarded', TOKEN_PATH])('closes the connection of a client that goes on sending: %s', async (path) => {
      const { port } = await start(asOwnError, onError)
      const head = `PUT ${path} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 900000000\r\n\r\n`
      expect(await sendEndlessly(port, head, 'x'.repeat(0x4000))).toMatch(
        /^HTTP\/1.1 418 [\s\S]*\r\nConnection: close\r\n/,
      )
    })

    it('may pass on the refusal itself, which is reported once', async () => {
      const events: AuthEvent[] = []
      const onEvent = (event: AuthEvent) => events.push(event)
      const refuse: Refuse = (error, _req, next) => next(error)
      const app = express().get('/', requireBearer({ tokens: makeIssuer(), refuse, onEvent }))
      app.use(authWith({ accounts: makeStore(), onEvent }).errors)
      const send = client((await listen(app)).port)
      expect(await send({ method: 'GET', path: '/' })).toMatchObject({ status: 401 })
      expect(events).toMatchObject([{ type: 'bearer.refused', code: 'missing_token' }])
    })

    it('decides about the rejections of guard.authenticate and of auth.logIn, each reported once', async () => {
      const events: AuthEvent[] = []
      const auth = createAuth({
        issuer: ISSUER,
        keys: { alg: 'HS256', secret: SECRET },
        accounts: makeStore(),
        passwords: fastPasswords(),
        refuse: (error, req, next) => {
          if (req.url !== '/plain') next(new OwnError(error.code))
        },
        onEvent: (event) => events.push(event),
      })
      const app = express().use((req, _res, next) => {
        const call =
          req.query['call'] === 'logIn' ? auth.logIn({ ...GOOD, password: 'x' }, req) : auth.guard().authenticate(req)
        call.then(() => next(), next)
      })
      app.use(auth.errors, onError)
      const send = client((await listen(app)).port)
      const get = (path: string) => send({ method: 'GET', path })
      expect(await get('/?call=logIn')).toMatchObject({ status: 418, body: 'invalid_credentials' })
      expect(await get('/?call=authenticate')).toMatchObject({ status: 418, body: 'missing_token' })
      expect(await get('/plain')).toMatchObject({ status: 401, body: expect.stringContaining('"missing_token"') })
      expect(events.map(({ type }) => type)).toEqual(['token.refused', 'bearer.refused', 'bearer.refused'])
      expect(await rejectionOf(auth.logIn({ ...GOOD, password: 'x' }))).toMatchObject({ code: 'invalid_credentials' })
    })
  })

  it('is an option of createAuth, for all its parts', async () => {
    const keys = signingKey('ES256')
    const auth = createAuth({
      issuer: ISSUER,
      keys,
      accounts: () => null,
      passwords: fastPasswords(),
      refuse: asOwn,
      onEvent() {},
    })
    const app = express().use(auth.router)
    app.get('/guarded', auth.guard(), (_req, res) => void res.json(1))
    app.use(auth.errors)
    const send = client((await listen(app)).port)
    expect(await send({ method: 'GET', path: '/guarded' })).toMatchObject({ status: 422 })
    expect(await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })).toMatchObject({ status: 422 })
    expect(await send({ method: 'POST', path: '/.well-known/jwks.json' })).toMatchObject({
      status: 422,
      headers: { allow: 'GET, HEAD' },
    })
  })

  it('gives the refusals of the sessions of a user the form of the host', async () => {
    const keys = { alg: 'HS256', secret: SECRET } as const
    const quiet = { onEvent() {}, refuse: asOwn }
    const auth = createAuth({
      issuer: ISSUER,
      keys,
      accounts: makeStore(),
      passwords: fastPasswords(),
      store: memoryStore(),
      ...quiet,
    })
    const send = client((await listen(express().use(auth.router))).port)
    const signedIn = await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })
    const headers = { Authorization: `Bearer ${JSON.parse(signedIn.body).authenticationToken}` }
    const codeOf = async (method: string, path: string) => {
      const { status, body } = await send({ method, path, headers })
      return [status, body]
    }
    expect(await codeOf('DELETE', '/sessions/unknown')).toEqual([422, '{"errors":{"unknown_session":["DELETE"]}}'])
    for (const path of ['/sessions', '/sessions/unknown', '/sessions/sign-out']) {
      expect(await codeOf('PUT', path)).toEqual([422, '{"errors":{"method_not_allowed":["PUT"]}}'])
    }
    expect(await send({ method: 'PUT', path: '/sessions', headers })).toMatchObject({
      headers: { allow: 'GET, HEAD, DELETE' },
    })
  })

  it('must be a function', () => {
    expectMisuse(() => requireBearer({ tokens: makeIssuer(), refuse: 422 as never }), 'option "refuse"')
  })
})
