// Tests http/declaration.ts features/{feature,features}.ts

import type { AuthEvent } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { limitTasks } from '../../../src/concurrency/limit.js'
import { createTurnQueue } from '../../../src/concurrency/turn-queue.js'
import { emitter } from '../../../src/events/emitter.js'
import { user } from '../../../src/features/feature.js'
import { type Declared, empty, json, members, refusalsOf, text } from '../../../src/http/declaration.js'
import { type Endpoint, endpoint, endpointRouter, type Service } from '../../../src/http/endpoint.js'
import { operationOf } from '../../../src/openapi/operation.js'
import { until } from '../../support/concurrency.js'
import { asForm, asJson, expectProblem, FORM_TYPE, JSON_TYPE, packageOn, type Sent, send } from '../../support/host.js'
import { bearer, EXPRESS, listen } from '../../support/http.js'

/** Let the calls that wait end. */
const waiting: (() => void)[] = []

interface EchoParts {
  forbidden: string
}

/** A text that comes back, unless it is forbidden. */
const echo = endpoint({
  id: 'echo',
  method: 'POST',
  path: '/{room}/echo',
  guard: user,
  origin: 'own',
  body: members({ text: text('The text.'), name: text('A name.') }),
  summary: 'Echo a text',
  description: 'Returns the text.',
  responses: { 200: json({ type: 'object' }, 'The text.'), 403: 'forbidden' },
  turns: createTurnQueue({ total: 100, perNetwork: 100 }),
  calls: limitTasks({ total: 1 }),
  handle:
    ({ forbidden }: EchoParts) =>
    async ({ auth, body, params, refuse, report }) => {
      if (body.text === forbidden) throw refuse('forbidden', { accountId: auth.accountId })
      if (body.text === 'wait') await new Promise<void>((resolve) => waiting.push(resolve))
      report({ type: 'session.ended', accountId: auth.accountId, reason: 'all' })
      return { text: body.text, name: body.name, room: params.room }
    },
})

const clear = endpoint({
  id: 'clear',
  method: 'DELETE',
  path: '/{room}/echo',
  summary: 'Clear the room',
  description: 'Forgets the texts.',
  responses: { 204: empty('It is empty.') },
  events: 'token',
  handle:
    () =>
    ({ params }) => {
      // The type of the result forbids it.
      if (params.room === 'wrong') return 7 as never
      if (params.room === 'undeclared') throw new Error('a fault')
      return undefined
    },
})

describe.each(EXPRESS)('an endpoint, on %s', async (_name, express) => {
  const { createAuth, issueNow, makeStore, ISSUER, SECRET, fastPasswords } = await packageOn(express)

  async function start(change: Partial<Service> = {}) {
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => void events.push(event)
    const keys = { alg: 'HS256', secret: SECRET } as const
    const auth = createAuth({ issuer: ISSUER, keys, accounts: makeStore(), passwords: fastPasswords(), onEvent })
    const service: Service = {
      emit: emitter(onEvent),
      refuse: undefined,
      bodyLimit: 100,
      allowedOrigins: new Set(['https://app.example.com']),
      guards: { user: auth.guard(), recent: auth.guard(), session: auth.guard() },
      ...change,
    }
    const all = [echo, clear] as Endpoint[]
    const mounted = all.map((one) => ({ at: '/rooms', endpoint: one, parts: { forbidden: 'no' } }))
    const app = express().use('/api', endpointRouter(mounted, service))
    app.use((_req, res) => void res.status(404).end())
    const { port } = await listen(app)
    const token = issueNow(auth.tokens, { accountId: 'acc-1' }).token
    const ask = (sent: Sent = {}, method = 'POST', path = '/api/rooms/red%20one/echo') =>
      send(port, { method, path, ...sent, headers: { ...bearer(token).headers, ...sent.headers } })
    return { ask, events, port }
  }

  const SENT = { text: 'hello', name: 'Ann' }

  it('gets its body, its parameters and its token, and its result is the response', async () => {
    const { ask, events } = await start()
    for (const sent of [asJson(SENT), asForm('text=hello&name=Ann')]) {
      const response = await ask(sent)
      expect([response.status, JSON.parse(response.body)]).toEqual([200, { ...SENT, room: 'red one' }])
      expect(response.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': expect.stringContaining('json'),
      })
    }
    expect(events).toMatchObject([{ type: 'session.ended' }, { type: 'session.ended' }])
    const { body } = await ask(asJson(SENT), 'POST', '/api/rooms/%ff/echo')
    expect(JSON.parse(body)).toMatchObject({ room: '' })
    expect((await ask({}, 'DELETE')).status).toBe(204)
  })

  it('leaves other methods of a path that it shares to the host, also OPTIONS', async () => {
    const list = endpoint({
      id: 'list',
      method: 'GET',
      path: '/list',
      sharesPath: true,
      summary: '',
      description: '',
      responses: { 200: json({}, '') },
      handle: () => async () => ({}),
    })
    const service: Service = { emit: () => {}, refuse: undefined, bodyLimit: 100, allowedOrigins: new Set() }
    const app = express().use(endpointRouter([{ at: '/shared', endpoint: list as Endpoint, parts: {} }], service))
    app.use((_req, res) => void res.status(404).end('the host’s own'))
    const { port } = await listen(app)
    const ask = (method: string) => send(port, { method, path: '/shared/list' })
    expect((await ask('GET')).status).toBe(200)
    expect((await ask('HEAD')).status).toBe(200)
    for (const method of ['POST', 'PUT', 'OPTIONS'])
      expect(await ask(method)).toMatchObject({ status: 404, body: 'the host’s own' })
  })

  it.each<[string, Sent, number, string]>([
    ['without a member', asJson({ text: 'hello' }), 400, 'invalid_body'],
    ['with a member that is no text', asJson({ ...SENT, name: 7 }), 400, 'invalid_body'],
    ['with a lone surrogate', { headers: JSON_TYPE, body: '{"text":"\\ud800","name":"Ann"}' }, 400, 'invalid_body'],
    ['malformed', { headers: JSON_TYPE, body: '{' }, 400, 'invalid_body'],
    ['longer than the limit', asJson({ ...SENT, more: 'x'.repeat(100) }), 413, 'body_too_large'],
    ['of another type', { headers: { 'Content-Type': 'text/plain' }, body: 'hello' }, 415, 'unsupported_media_type'],
    [
      'of another origin',
      { ...asJson(SENT), headers: { ...JSON_TYPE, Origin: 'https://evil.example' } },
      403,
      'cross_site_request',
    ],
    ['that it refuses', asJson({ ...SENT, text: 'no' }), 403, 'forbidden'],
  ])('refuses a body %s', async (_what, sent, status, code) => {
    const { ask, events } = await start()
    const response = await ask(sent)
    expect([response.status, JSON.parse(response.body).code]).toEqual([status, code])
    // The guard has reported what it refuses, and only a failure of a dependency has an event.
    expect(events).toEqual([])
  })

  it('admits a page of an allowed origin', async () => {
    const { ask } = await start()
    const headers = { ...FORM_TYPE, Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' }
    expect((await ask({ headers, body: 'text=a&name=b' })).status).toBe(200)
  })

  it('names its members in the refusal of a body', async () => {
    const { ask } = await start()
    const { body } = await ask(asJson({}))
    expect(JSON.parse(body).detail).toBe(
      'The request body must contain "text" and "name", each exactly once and as a string.',
    )
  })

  it('is guarded, and another method names all methods of the path', async () => {
    const { ask, port } = await start()
    const path = '/api/rooms/red/echo'
    expect((await send(port, { method: 'POST', path, ...asJson(SENT) })).status).toBe(401)
    const response = await ask({}, 'PUT', path)
    expect([response.status, response.headers.allow]).toEqual([405, 'POST, DELETE'])
    for (const other of ['/api/rooms/red/echo/', '/api/rooms//echo', '/api/rooms/a/b/echo', '/api/Rooms/red/echo'])
      expect((await ask({}, 'PUT', other)).status, other).toBe(404)
  })

  it('limits its calls in progress', async () => {
    const { ask } = await start()
    const first = ask(asJson({ ...SENT, text: 'wait' }))
    await until(() => expect(waiting).toHaveLength(1))
    expectProblem(await ask(asJson(SENT)), 503, 'overloaded', 'Service Unavailable')
    for (const end of waiting.splice(0)) end()
    expect((await first).status).toBe(200)
  })

  it.each(['wrong', 'undeclared'])(
    'fails as unavailable, with an event, for what it does not declare: %s',
    async (room) => {
      const { ask, events } = await start()
      expectProblem(await ask({}, 'DELETE', `/api/rooms/${room}/echo`), 503, 'unavailable', 'Service Unavailable')
      expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'internal', refused: true }])
    },
  )

  it('has its refusals in the form of the host', async () => {
    const { ask } = await start({ refuse: ({ code }) => ({ status: 418, body: { code } }) })
    const response = await ask(asJson({}))
    expect([response.status, response.body]).toEqual([418, '{"code":"invalid_body"}'])
  })

  it('is not mounted without its guard', async () => {
    await expect(start({ guards: undefined })).rejects.toThrow('The endpoint echo needs the guard "user"')
  })

  it('goes on to the error handler of the host when a response cannot be sent', async () => {
    const { port } = await listen(
      express()
        .use((_req, res, next) => {
          res.setHeader = () => expect.fail('a header')
          next()
        })
        .use(
          endpointRouter([{ at: '/rooms', endpoint: clear, parts: {} }], {
            emit() {},
            refuse: undefined,
            bodyLimit: 0,
            allowedOrigins: new Set(),
          }),
        )
        .use(((_error, _req, res, _next) => {
          res.statusCode = 500
          res.end()
        }) as import('express').ErrorRequestHandler),
    )
    expect((await send(port, { method: 'DELETE', path: '/rooms/a/echo' })).status).toBe(500)
  })
})

it('declares the refusals that its shape gives, and those that it names', () => {
  expect([...refusalsOf(echo).codes].sort()).toEqual(
    [
      'body_too_large',
      'client_closed_request',
      'cross_site_form',
      'cross_site_request',
      'forbidden',
      'invalid_body',
      'invalid_token',
      'method_not_allowed',
      'overloaded',
      'unavailable',
      'unsupported_media_type',
    ].sort(),
  )
  expect(refusalsOf(clear)).toMatchObject({ events: 'token', ofHost: false })
})

it('is described as it is declared', () => {
  const described = { tag: 'Echo', schemeName: 'bearer', refusals: [], modes: [], hasFactors: false, responds: false }
  const operation = operationOf(echo, [echo, clear], described)
  expect(operation).toMatchObject({
    operationId: 'echo',
    tags: ['Echo'],
    parameters: [{ name: 'room', in: 'path', required: true }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { required: ['text', 'name'] } } },
    },
    security: [{ bearer: [] }],
  })
  expect(Object.keys(operation.responses)).toEqual(['200', '400', '401', '403', '405', '413', '415', '503'])
})

it('declares only codes of their status, and gets only what it declares', () => {
  const responses: Declared[] = [
    // @ts-expect-error The code has another status.
    { 403: 'unknown_session' },
    // @ts-expect-error There is no such code.
    { 403: 'closed' },
  ]
  expect(responses).toHaveLength(2)
  const wrong = endpoint({
    id: 'wrong',
    method: 'GET',
    path: '/{id}',
    summary: '',
    description: '',
    responses: { 204: empty(''), 404: 'unknown_session' },
    handle: () => (call) => {
      // @ts-expect-error It declares no such refusal.
      call.refuse('forbidden')
      // @ts-expect-error The path has no such parameter.
      expect(call.params.name).toBe('')
      // @ts-expect-error It has no guard.
      expect(call.auth.accountId).toBe('')
    },
  })
  expect(wrong.id).toBe('wrong')
})
