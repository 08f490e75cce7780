import { createServer, type ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler } from 'express'
import {
  AuthError,
  type AuthEvent,
  type GuardedRequest,
  type RequireBearerOptions,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { refusalOf } from '../../../support/failures.js'
import { ACCOUNTS, issueNow, makeIssuer, makeStore } from '../../../support/fixtures.js'
import { type Answer, type Sent, send } from '../../../support/host.js'
import { listen } from '../../../support/http.js'

const tokens = makeIssuer()
const { token } = issueNow(tokens, { accountId: ACCOUNTS.alice.id, scopes: ['a'] })
const past = issueNow(tokens, { accountId: ACCOUNTS.alice.id, issuedAt: new Date(Date.now() - 7_200_000) }).token

const get = (headers: Sent['headers'] = {}, path = '/'): Sent => ({ method: 'GET', path, headers })
const bearer = (text: string, path?: string) => get({ Authorization: `Bearer ${text}` }, path)

type Options = Partial<RequireBearerOptions>

/** A request as mocks make it. */
const requestOf = (token: string | undefined, members: object = {}) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return { headers, rawHeaders: [], url: '/', socket: {}, ...members } as unknown as GuardedRequest
}

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
  await vi.waitFor(() => expect(server.listening).toBe(true))
  return (server.address() as { port: number }).port
}

describe('authenticate', () => {
  it.each(CASES)(
    '%s: decides as the middleware, with the same response and events',
    async (_, options, sent, status) => {
      const events = { middleware: [] as object[], promise: [] as object[] }
      const guard = requireBearer({ tokens, ...options, onEvent: (event) => events.middleware.push(brief(event)) })
      const app = express().use(guard, (req, res) => {
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

  it('resolves to undefined on an optional guard without a token, and removes what another middleware set', async () => {
    const req = requestOf(undefined, { auth: { accountId: 'x' } })
    expect(await requireBearer({ tokens, optional: true }).authenticate(req)).toBeUndefined()
    expect(req).toMatchObject({ auth: undefined })
  })

  it('rejects with an error of its own for each request, as a verifier may reject with one for all', async () => {
    const shared = new AuthError('invalid_token', { reason: 'revoked' })
    const custom = { ...tokens, verify: () => Promise.reject(shared) }
    for (const realm of ['one', 'two']) {
      const error = await refusalOf(requireBearer({ tokens: custom, realm }).authenticate(requestOf('a.b.c')))
      expect(error).toMatchObject({ code: 'invalid_token', reason: 'revoked', message: shared.message })
      expect(error.headers['WWW-Authenticate']).toContain(`realm="${realm}"`)
    }
    expect(shared.headers).toEqual({})
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
  const guard = requireBearer({ tokens, ...options, forwardErrors: 'all' })
  return (await listen(express().use('/guarded', guard, handler))).port
}

describe("forwardErrors: 'all'", () => {
  it.each(CASES.filter(([, , , status]) => status !== 200))(
    '%s: reaches the error handler with all headers',
    async (_, options, sent, status) => {
      const own = await listen(express().use(requireBearer({ tokens, ...options })))
      const [forwarded, usual] = await Promise.all([
        send(await forwarding(options), { ...sent, path: `/guarded${sent.path}` }),
        send(own.port, sent),
      ])
      expect(forwarded.status).toBe(status)
      expect(JSON.parse(forwarded.body)).toEqual({ company: JSON.parse(usual.body) })
      for (const name of ['www-authenticate', 'retry-after', 'cache-control', 'pragma'])
        expect(forwarded.headers[name], name).toBe(usual.headers[name])
    },
  )

  it('closes the connection after the response, when the client still sends a long body', async () => {
    const port = await forwarding()
    const answer = await send(port, { path: '/guarded/', headers: { 'Content-Length': '100000' }, body: 'x' })
    expect([answer.status, answer.headers['connection']]).toEqual([401, 'close'])
  })

  it('reaches the handler of Express, which sends the status and the headers', async () => {
    const seen: unknown[] = []
    const port = await forwarding({}, (error, _req, _res, next) => {
      seen.push(error)
      next(error)
    })
    const answer = await send(port, get({}, '/guarded/'))
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Bearer realm=/)])
    expect(seen).toEqual([expect.objectContaining({ code: 'missing_token' })])
  })

  it.each<[string, object, string]>([
    [
      'a message',
      { message: 'no\r\nSet-Cookie: a=b' },
      'Bearer realm="r", error="invalid_token", error_description="no  Set-Cookie: a=b"',
    ],
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
