import { generateKeyPairSync, sign as nodeSign } from 'node:crypto'
import { once } from 'node:events'
import type { ErrorRequestHandler, Request } from 'express'
import type { AuthEvent, AuthOptions, IssuedResponse, Session, SessionStore, Sessions } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { all, deferred, settled, statuses, until } from '../../support/concurrency.js'
import {
  asJson,
  expectProblem,
  expectToken,
  expectUnavailable,
  expectUncached,
  GOOD,
  packageOn,
  passFailuresOn,
  type Sent,
  send,
  sendEndlessly,
} from '../../support/host.js'
import { EXPRESS, listen, onNewest, TOKEN_PATH } from '../../support/http.js'
import { openSocket } from '../../support/socket.js'
import { hang } from '../../support/values/invalid-results.js'

const down = () => Promise.reject(new Error('down'))

describe.each(EXPRESS)('sessions, on %s', async (name, express) => {
  const { closeWhenEnded, createAuth, createTokenVerifier, memoryStore, requireBearer, ...others } =
    await packageOn(express)
  const { ACCOUNTS, fastPasswords, frozenClock, isAuthError, ISSUER, issueNow, makeIssuer, makeStore, SECRET } = others
  const keys = { alg: 'HS256', secret: SECRET } as const
  const options = { issuer: ISSUER, keys, accounts: makeStore(), passwords: fastPasswords() }

  interface Set {
    store?: Partial<SessionStore>
    router?: Partial<AuthOptions>
    onError?: ErrorRequestHandler
  }

  /** Starts an app with all routers, as one process of several that share a store. */
  async function start({ store = {}, router = {}, onError }: Set = {}) {
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => void events.push(event)
    const shared = { ...memoryStore().sessions, ...store }
    const auth = createAuth({ ...options, store: { sessions: shared }, onEvent, timeout: '1s', ...router })
    const sessions = auth.sessions as Sessions
    const { tokens } = auth
    const guard = auth.guard()
    const app = express().set('trust proxy', true)
    app.use(auth.router)
    app.get('/in', guard, (_req, res) => void res.json({}))
    app.use((_req, res) => void res.status(404).end('the host’s own'))
    if (onError) app.use(onError)
    const { port } = await listen(app)
    const ask = (token: string, method = 'GET', path = '/sessions', more: Sent = {}) =>
      send(port, { method, path, ...more, headers: { Authorization: `Bearer ${token}`, ...more.headers } })
    const logIn = (credentials = GOOD, headers = {}) => {
      const sent = asJson(credentials)
      return send(port, { ...sent, headers: { ...sent.headers, ...headers } })
    }
    const signIn = async (...args: Parameters<typeof logIn>) => expectToken(await logIn(...args)).authenticationToken
    const idsOf = async (token: string): Promise<string[]> =>
      JSON.parse((await ask(token)).body).sessions.map(({ id }: { id: string }) => id)
    return { port, store: shared, sessions, guard, tokens, events, ask, logIn, signIn, idsOf }
  }

  const bob = { ...GOOD, email: ACCOUNTS.bob.email }
  const idIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti

  it('lists the sessions of the account, newest first, without its id and without tokens', async () => {
    const { ask, signIn } = await start({ router: { sessionLabel: (req) => req.get('x-device') } })
    const first = await signIn(GOOD, { 'User-Agent': 'curl/8', 'X-Forwarded-For': '192.0.2.1', 'X-Device': 'Laptop' })
    const second = await signIn(GOOD, { 'X-Forwarded-For': '2001:db8::1' })
    await signIn(bob)
    const answer = await ask(first)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } })
    expectUncached(answer)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/)
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/)
    const times = { createdAt: time, expiresAt: day, lastUsedAt: time }
    expect(JSON.parse(answer.body)).toEqual({
      sessions: [
        { id: idIn(second), ...times, address: '2001:db8::1', userAgent: null, label: null, current: false },
        { id: idIn(first), ...times, address: '192.0.2.1', userAgent: 'curl/8', label: 'Laptop', current: true },
      ],
    })
    for (const token of [first, second]) expect(answer.body).not.toContain(token.split('.')[2])
    const head = await ask(first, 'HEAD')
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': String(answer.body.length) } })
  })

  it('shows the hour of the last use and the day of the end, so that nobody sees when a session is refreshed', async () => {
    const { ask, signIn, sessions, store } = await start()
    const token = await signIn()
    const [session] = (await sessions.list(ACCOUNTS.alice.id)) as [Session]
    const shown = async (createdAt: number, lastUsedAt: number, expiresAt: number) => {
      const times = { createdAt: new Date(createdAt), lastUsedAt: new Date(lastUsedAt), expiresAt: new Date(expiresAt) }
      await store.add({ ...session, id: 'other', ...times })
      const all: Record<string, string>[] = JSON.parse((await ask(token)).body).sessions
      await store.remove('other', ACCOUNTS.alice.id)
      const other = all.find(({ id }) => id === 'other')
      return ['createdAt', 'lastUsedAt', 'expiresAt'].map((name) => Date.parse(other?.[name] ?? ''))
    }
    const [hours, days] = [3_600_000, 86_400_000]
    const hour = Math.floor(Date.now() / hours) * hours - hours
    const end = Math.ceil(Date.now() / days) * days + 14 * days
    const signedInAt = hour - 2 * days - 123
    for (const late of [0, 1, hours - 1])
      expect(await shown(signedInAt, hour + late, end - late)).toEqual([signedInAt, hour, end])
    expect(await shown(hour + 1, hour + 2, end - days + 1)).toEqual([hour + 1, hour + 1, end])
  })

  it('ends one session, all others, and its own: their tokens are refused at once', async () => {
    const { ask, signIn, events } = await start()
    const [one, two, three] = [await signIn(), await signIn(), await signIn()]
    const theirs = await signIn(bob)
    const statusesIn = async (...tokens: string[]) =>
      Promise.all(tokens.map(async (token) => (await ask(token, 'GET', '/in')).status))
    expect(await statusesIn(one, two, three)).toEqual([200, 200, 200])
    const done = async (token: string, method: string, path: string) => {
      const answer = await ask(token, method, path, { body: '{}' })
      expect(answer).toMatchObject({ status: 204, body: '' })
      expectUncached(answer)
      expect(answer.headers).not.toHaveProperty('content-length')
    }
    await done(two, 'DELETE', `/sessions/${idIn(one)}`)
    expect(await statusesIn(one, two, three)).toEqual([401, 200, 200])
    await done(two, 'DELETE', '/sessions')
    expect(await statusesIn(two, three, theirs)).toEqual([200, 401, 200])
    await done(two, 'POST', '/sessions/sign-out')
    expect(await statusesIn(two, theirs)).toEqual([401, 200])
    expectProblem(await ask(two), 401, 'invalid_token', 'Unauthorized')
    const ended = events.filter((event) => event.type === 'session.ended')
    expect(ended).toMatchObject([
      { reason: 'ended', tokenId: idIn(one), address: '127.0.0.1' },
      { reason: 'others' },
      { reason: 'signed_out', tokenId: idIn(two) },
    ])
    const refused = { type: 'bearer.refused', code: 'invalid_token', reason: 'revoked', tokenId: idIn(one) }
    expect(events).toContainEqual(expect.objectContaining(refused))
  })

  it('returns the same 404 for a session of another account, an unknown one, and an id that is none', async () => {
    const { ask, signIn } = await start()
    const [mine, theirs] = [await signIn(), await signIn(bob)]
    const bodies = new Set<string>()
    for (const id of [idIn(theirs), 'unknown', '%ff', '%00', 'x'.repeat(4000), '__proto__', '..%2f']) {
      const answer = await ask(mine, 'DELETE', `/sessions/${id}`)
      expectProblem(answer, 404, 'unknown_session', 'Not Found')
      bodies.add(answer.body)
    }
    expect(bodies.size).toBe(1)
    expect((await ask(theirs, 'GET', '/in')).status).toBe(200)
    expect((await ask(mine, 'DELETE', '/sessions/a/b')).body).toBe('the host’s own')
  })

  it.each([
    ['/sessions', 'GET, HEAD, DELETE', ['POST', 'PUT', 'OPTIONS']],
    ['/sessions/', 'GET, HEAD, DELETE', ['PATCH']],
    ['/sessions/sign-out', 'POST', ['GET', 'DELETE', 'OPTIONS']],
    ['/sessions/some-id', 'DELETE', ['GET', 'POST', 'HEAD']],
    ['/sessions/%ff', 'DELETE', ['GET']],
  ])('refuses other methods than those of %s, and names %s', async (path, allow, methods) => {
    const { port } = await start()
    for (const method of methods) {
      const answer = await send(port, { method, path })
      expect(answer).toMatchObject({ status: 405, headers: { allow, 'cache-control': 'no-store' } })
      if (method !== 'HEAD') expectProblem(answer, 405, 'method_not_allowed', 'Method Not Allowed')
    }
  })

  it('refuses requests without a token, and cuts off a client that goes on sending', async () => {
    const { port, signIn } = await start()
    for (const line of ['GET /sessions', 'DELETE /sessions', 'DELETE /sessions/x', 'POST /sessions/sign-out']) {
      const [method = '', path = ''] = line.split(' ')
      expectProblem(await send(port, { method, path }), 401, 'missing_token', 'Unauthorized')
    }
    const head = `POST /sessions/sign-out HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await signIn()}\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect(await sendEndlessly(port, head, `4000\r\n${'x'.repeat(0x4000)}\r\n`)).toMatch(/^HTTP\/1.1 204 /)
  })

  it('refuses a token without a session, of before the sessions, and of another account with its id', async () => {
    const { ask, tokens, sessions } = await start()
    const { token, id, expiresAt } = issueNow(tokens, { accountId: 'acc-1' })
    expectProblem(await ask(token, 'GET', '/in'), 401, 'invalid_token', 'Unauthorized')
    await sessions.start({ id, expiresAt, accountId: 'acc-2' })
    expectUnavailable(await ask(token, 'GET', '/in'))
  })

  it.each(onNewest(name, ['GET', 'DELETE']))(
    'lets at most 2,048 requests of one network wait for the store: %s',
    async (method) => {
      let isUp = true
      let asked = 0
      const memory = memoryStore().sessions
      const { promise, reject } = deferred<never>()
      onTestFinished(() => reject(new Error('the test has ended')))
      const { port, signIn } = await start({
        store: {
          ...memory,
          list: (accountId) => (isUp ? memory.list(accountId) : ++asked && promise),
          removeAll: () => ++asked && promise,
        } as Partial<SessionStore>,
        router: { timeout: '1m' },
      })
      const request = `${method} /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await signIn()}\r\n\r\n`
      isUp = false
      openSocket(port).write(request.repeat(2048))
      await until(() => expect(asked).toBe(2048))
      const other = openSocket(port)
      other.write(request)
      await until(() => expect([other.count('HTTP/1.1 503'), other.count('overloaded')]).toEqual([1, 1]))
      expect(asked).toBe(2048)
    },
  )

  it.each(onNewest(name, ['sign', 'respond', 'list', 'add']))(
    'lets at most 1,024 sign-ins of one network wait for %s',
    async (slow) => {
      const [memory, gate] = [memoryStore().sessions, deferred<void>()]
      onTestFinished(() => gate.reject(new Error('the test has ended')))
      let asked: number | undefined
      const waitIn = async (name: string) => {
        if (name !== slow || asked === undefined) return
        asked++
        await gate.promise
      }
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const sign = async (data: Uint8Array) => waitIn('sign').then(() => nodeSign('sha256', data, privateKey))
      const respond = async () => waitIn('respond').then(() => ({}))
      const { port } = await start({
        store: {
          ...memory,
          list: async (accountId) => waitIn('list').then(() => memory.list(accountId)),
          add: async (session) => waitIn('add').then(() => memory.add(session)),
        },
        router: {
          maxPerAccount: slow === 'sign' ? undefined : 1,
          keys: { alg: 'ES256', kid: 'k', publicKey, sign },
          // A sign-in that needs no function of the host but `sign`.
          ...(slow === 'sign' ? { store: undefined } : { respond }),
          timeout: '1m',
        },
      })
      const sent = asJson(GOOD)
      expect((await send(port, sent)).status).toBe(200)
      asked = 0
      const head = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${JSON.stringify(GOOD).length}`
      const socket = openSocket(port)
      // In parts, because a sign-in waits in other queues first.
      for (let waiting = 16; waiting <= 1024; waiting += 16) {
        socket.write(`${head}\r\n\r\n${sent.body}`.repeat(16))
        await until(() => expect(asked).toBe(waiting))
      }
      expectProblem(await send(port, sent), 503, 'overloaded', 'Service Unavailable')
      expect(asked).toBe(1024)
    },
  )

  it('looks a session up once for each request, after isRevoked and before the account', async () => {
    const asked: string[] = []
    const memory = memoryStore().sessions
    const note = (name: string): undefined => void asked.push(name)
    const find: SessionStore['find'] = (id) => note('session') ?? memory.find(id)
    const { tokens, signIn, store } = await start({ store: { ...memory, find } })
    const token = await signIn()
    asked.length = 0
    const findById = (id: string) => note('account') ?? makeStore().findById(id)
    const isRevoked = () => note('revocation') !== undefined
    const guard = requireBearer({
      tokens,
      store: { sessions: store },
      isRevoked,
      accounts: { ...makeStore(), findById },
    })
    const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: [], socket: {} } as never
    await guard.authenticate(req)
    expect(asked).toEqual(['revocation', 'session', 'account'])
    await store.removeAll('acc-1')
    expect(isAuthError(await guard.authenticate(req).catch((error: unknown) => error))).toBe(true)
    expect(asked.slice(3)).toEqual(['revocation', 'session'])
  })

  it('two processes on one store: one ends a session, and the other refuses its token at once', async () => {
    const store = memoryStore().sessions
    const [one, other] = [await start({ store }), await start({ store })]
    const token = await one.signIn()
    expect((await other.ask(token, 'GET', '/in')).status).toBe(200)
    expect((await one.ask(token, 'POST', '/sessions/sign-out')).status).toBe(204)
    expect((await other.ask(token, 'GET', '/in')).status).toBe(401)
  })

  it('a store that is down and comes back: 503 everywhere, then all sessions are still there', async () => {
    const memory = memoryStore().sessions
    let fails: (() => Promise<never>) | undefined
    type Method = (...args: never[]) => unknown
    const failing =
      (method: Method) =>
      (...args: never[]) =>
        fails?.() ?? method(...args)
    const methods = Object.entries(memory).map(([name, method]) => [name, failing(method as Method)])
    const store = Object.fromEntries(methods) as SessionStore
    const { ask, logIn, signIn, events, idsOf } = await start({ store, router: { timeout: '500ms' } })
    const token = await signIn()
    for (fails of [down, hang]) {
      for (const answer of [
        await logIn(),
        await ask(token, 'GET', '/in'),
        await ask(token),
        await ask(token, 'DELETE', '/sessions'),
        await ask(token, 'POST', '/sessions/sign-out'),
        await ask(token, 'DELETE', `/sessions/${idIn(token)}`),
      ]) {
        expectUnavailable(answer)
      }
    }
    fails = undefined
    expect(await idsOf(token)).toEqual([idIn(token)])
    expect((await ask(token, 'GET', '/in')).status).toBe(200)
    const failed = events.filter((event) => event.type === 'dependency.failed')
    expect(failed).toHaveLength(12)
    for (const event of failed) expect(event).toMatchObject({ dependency: 'sessions', refused: true })
  })

  it.each<keyof SessionStore>(['list', 'remove', 'removeAll'])(
    'the routes report a store whose %s alone fails',
    async (method) => {
      const { signIn, ask, events, store } = await start()
      const token = await signIn()
      store[method] = down
      const answers = {
        list: () => ask(token),
        remove: () => ask(token, 'POST', '/sessions/sign-out'),
        removeAll: () => ask(token, 'DELETE'),
      }
      expectUnavailable(await answers[method as keyof typeof answers]())
      expect(events.at(-1)).toMatchObject({ type: 'dependency.failed', dependency: 'sessions', refused: true })
    },
  )

  it('a sign-in sends no token whose session could not be stored', async () => {
    const { logIn, events } = await start({ store: { add: down }, router: { respond: () => ({}) } })
    expectUnavailable(await logIn())
    expect(events.map(({ type }) => type)).toEqual(['dependency.failed'])
  })

  it.each<[string, (req: Request) => unknown, number | undefined]>([
    ['whose respond throws', () => expect.fail('down'), 503],
    ['whose respond hangs', hang, 503],
    ['whose respond returns no object', () => 7, 503],
    ['that the host has answered itself', (req) => req.res?.status(504).end() && {}, 504],
    ['whose client has left', (req) => once(req.socket.destroy(), 'close').then(() => ({})), undefined],
  ])('a sign-in %s starts and ends no session', async (_which, run, status) => {
    let fails = false
    const respond = async ({ req, token }: IssuedResponse) =>
      fails ? ((await run(req)) as object) : { authenticationToken: token }
    const { logIn, events, store } = await start({ router: { maxPerAccount: 1, respond } })
    await logIn()
    const before = await store.list('acc-1')
    fails = true
    events.splice(0)
    expect((await logIn().catch(() => ({ status: undefined }))).status).toBe(status)
    await until(() => expect(events).toHaveLength(1))
    await settled()
    expect([await store.list('acc-1'), before.length]).toEqual([before, 1])
    expect(events[0]).toMatchObject(
      status === 503 ? { dependency: 'hook', option: 'respond' } : { code: 'client_closed_request' },
    )
  })

  it.each(['add', 'remove'])('an %s slower than the router has a 503, and leaves no session', async (slow) => {
    const [memory, gate, forwarded] = [memoryStore().sessions, deferred<void>(), deferred<void>()]
    let signedIn = false
    const waitFor = async (name: string) => void (name === slow && signedIn && (await gate.promise))
    const { logIn } = await start({
      store: {
        ...memory,
        add: async (session) => waitFor('add').then(() => memory.add(session)),
        remove: async (id, accountId) => waitFor('remove').then(() => memory.remove(id, accountId)),
      },
      router: { maxPerAccount: 1, refuse: passFailuresOn },
      // A handler of the host may respond later.
      onError: (_error, _req, res, _next) => {
        forwarded.resolve()
        gate.promise.then(settled).then(() => res.status(503).end())
      },
    })
    await logIn()
    signedIn = true
    const before = memory.list('acc-1')
    const answer = logIn()
    await forwarded.promise
    gate.resolve()
    expect((await answer).status).toBe(503)
    expect(memory.list('acc-1')).toEqual(slow === 'add' ? before : [])
  })

  it.each([
    ['throws', () => expect.fail('label'), 'hook'],
    ['hangs', hang, 'hook'],
    ['returns a number', () => 7, 'sessions'],
  ])('a sessionLabel that %s is a 503', async (_how, sessionLabel, dependency) => {
    const { logIn, events } = await start({ router: { sessionLabel: sessionLabel as never } })
    expectUnavailable(await logIn())
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency, refused: true }])
  })

  it('guarded requests write the last use once, and are admitted while the write hangs', async () => {
    const clock = frozenClock(new Date().toISOString())
    let writes = 0
    const touch = () => ++writes && hang()
    const { signIn, ask } = await start({ store: { touch }, router: { clock } })
    const token = await signIn()
    clock.advance(60_000)
    expect(statuses(await all(20, () => ask(token, 'GET', '/in')))).toEqual({ 200: 20 })
    await settled()
    expect(writes).toBe(1)
  })

  it('closeWhenEnded closes a connection whose session has ended', async () => {
    const { sessions, signIn, guard } = await start()
    const token = await signIn()
    const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: [], socket: {} } as never
    await guard.authenticate(req)
    const closed = new Promise<Error>((resolve) => {
      onTestFinished(closeWhenEnded(req, guard, resolve, { every: '1s' }))
    })
    await sessions.endAll('acc-1')
    expect(await closed).toMatchObject({ code: 'invalid_token', reason: 'revoked' })
  })

  it.each(['/sessions/SIGN-OUT', '/sessions/sign-out/'])('does not sign out at %s', async (path) => {
    const { ask, signIn } = await start()
    const token = await signIn()
    expect((await ask(token, 'POST', path)).status).not.toBe(204)
    expect((await ask(token, 'GET', '/in')).status).toBe(200)
  })

  describe('with several issuers', () => {
    const [old, _tokens] = [makeIssuer({ issuer: 'https://old.example' }), makeIssuer()]
    const partner = makeIssuer({ issuer: 'https://partner.example' })
    const owner = { accountId: 'acc-1', expiresAt: new Date(Date.now() + 3_600_000) }

    it('keeps the sessions of an app that changes its issuer', async () => {
      const { router, tokens, ...auth } = createAuth({ ...options, store: memoryStore(), alsoAccept: [old] })
      const sessions = auth.sessions as Sessions
      const { port } = await listen(express().use(router))
      const { accountId } = owner
      const [before, after] = [issueNow(old, { accountId }), issueNow(tokens, { accountId })]
      for (const { id } of [before, after]) await sessions.start({ ...owner, id })
      const ask = async (method: string, { token }: { token: string }) =>
        (await send(port, { method, path: '/sessions', headers: { Authorization: `Bearer ${token}` } })).status
      expect([await ask('GET', before), await ask('DELETE', after)]).toEqual([200, 204])
      expect([await ask('GET', before), await ask('GET', after)]).toEqual([401, 200])
    })

    it('refuses API keys, which have no session and must not show where their user is signed in', async () => {
      const key = { id: 'a', accountId: owner.accountId, scopes: [], issuedAt: new Date() }
      const keys = { issuer: 'keys', accepts: (text: string) => text.startsWith('key_'), verify: () => key }
      const { router, ...auth } = createAuth({ ...options, store: memoryStore(), alsoAccept: [keys] })
      const sessions = auth.sessions as Sessions
      await sessions.start({ ...owner, id: 'a' })
      const { port } = await listen(express().use(router))
      for (const [method, path] of [
        ['GET', '/sessions'],
        ['DELETE', '/sessions'],
        ['DELETE', '/sessions/a'],
        ['POST', '/sessions/sign-out'],
      ] as const) {
        const { status } = await send(port, { method, path, headers: { Authorization: 'Bearer key_1' } })
        expect([path, status]).toEqual([path, 401])
      }
      expect(await sessions.list(owner.accountId)).toHaveLength(1)
    })

    it('gives the sessions to the issuers of the app, whatever a partner’s token names', async () => {
      const sessions = createAuth({ ...options, store: memoryStore(), alsoAccept: [old] }).sessions as Sessions
      const found = []
      await sessions.start({ ...owner, id: 'a' })
      for (const { issuer } of [partner, old]) {
        const auth = { accountId: 'acc-1', id: 'a', issuer }
        found.push(await sessions.isEnded(auth), await sessions.end(auth, 'a'))
      }
      expect(found).toEqual([true, false, false, true])
    })

    it('refuses the token of an identity provider that names a session of the app', async () => {
      const { token } = await partner.issue({ accountId: 'acc-1' })
      const keys = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const
      const provider = createTokenVerifier({ accept: 'jwt', issuer: partner.issuer, audience: partner.issuer, keys })
      const { id, expiresAt } = await provider.verify(token)
      const store = memoryStore()
      const auth = createAuth({ ...options, store, alsoAccept: [provider] })
      await auth.sessions?.start({ id, accountId: 'acc-1', expiresAt })
      const { port } = await listen(express().use(requireBearer({ tokens: provider })))
      const { port: guarded } = await listen(express().use(auth.guard()))
      const headers = { Authorization: `Bearer ${token}` }
      expect((await send(port, { path: '/', headers })).status).toBe(404)
      expect((await send(guarded, { path: '/', headers })).status).toBe(401)
    })
  })
})
