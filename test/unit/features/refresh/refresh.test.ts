// Tests features/refresh/{refresh,refresh-steps,presented,sign-out}.ts login/start-session.ts
import { once } from 'node:events'
import express, { type Request, type Response } from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  authOf,
  createPasswords,
  createTokenVerifier,
  type Hasher,
  type MemoryAccount,
  memoryAccounts,
  memoryStore,
  oldTokens,
  type RefreshChoice,
  type RefreshTimes,
  requireBearer,
  type SessionStore,
  type Sessions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import type { RefreshParts } from '../../../../src/features/refresh/presented.js'
import { refreshFeature } from '../../../../src/features/refresh/refresh.js'
import { refused, refresh as runRefresh } from '../../../../src/features/refresh/refresh-steps.js'
import { type Endpoint, handlerOf } from '../../../../src/http/endpoint.js'
import { authWith } from '../../../support/auth.js'
import { all, deferred, settled, until } from '../../../support/concurrency.js'
import { refusalOf } from '../../../support/failures.js'
import { ACCOUNTS, PASSWORD } from '../../../support/fixtures.js'
import {
  type Answer,
  asForm,
  asJson,
  expectForbidden,
  expectProblem,
  expectUnavailable,
  GOOD_FORM,
  send,
} from '../../../support/host.js'
import { bearer, client, listen, TOKEN_PATH } from '../../../support/http.js'
import { memorySessions, sessionsAndSteps } from '../../../support/sessions.js'
import { hang } from '../../../support/values/invalid-results.js'

const ISSUER = 'https://api.example.com'
const SECRET = 'secret r'.repeat(4)
const COOKIE = '__Secure-refresh'
const [SECOND, MINUTE, DAY] = [1000, 60_000, 86_400_000]
const OWN = { 'sec-fetch-site': 'same-origin' }

interface Setup extends Partial<Omit<AuthOptions, 'store' | 'refresh'>> {
  store?: SessionStore
  options?: RefreshTimes
  refresh?: RefreshChoice
  issuer?: string
  account?: Partial<MemoryAccount>
  maxPerAccount?: number
}

/** Starts an app with refresh, whose clock the test moves. */
async function start({
  store = memorySessions(),
  options,
  issuer = ISSUER,
  refresh: mode = 'body',
  account = {},
  ...more
}: Setup = {}) {
  const time = { now: Date.parse('2026-01-01T00:00:00.500Z') }
  const clock = () => time.now
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => {
    events.push(event)
  }
  const alice: MemoryAccount = { ...ACCOUNTS.alice, ...account }
  const list = [alice]
  const accounts = {
    findByEmail: (email: string) => list.find((one) => one.email === email),
    findById: (id: string) => list.find((one) => one.id === id),
  }
  const app = express()
  const ofSessions = { store: { sessions: store }, secret: SECRET, refresh: { mode, ...options } }
  const auth = authWith({ issuer, lifetime: '10m', clock, accounts, ...ofSessions, onEvent, ...more })
  const sessions = auth.sessions as Sessions
  const { tokens } = auth
  app.use(auth.router)
  // Without the account, which a refresh looks up itself.
  const guard = requireBearer({ tokens, store: { sessions: store } })
  app.get('/me', guard, (req, res) => void res.json(req.auth))
  app.post('/step-up', guard, async (req, res) => {
    res.json(await auth.signIn(authOf(req).accountId, req, res))
  })
  app.get('/recent', requireBearer({ tokens, signedInWithin: '5m' }), (_req, res) => void res.json({}))
  const { port } = await listen(app)
  const ask = client(port)
  const post = (path: string, body?: object, headers: Record<string, string> = {}) =>
    ask(
      body
        ? { method: 'POST', path: TOKEN_PATH + path, ...asJson(body), headers: { ...asJson(body).headers, ...headers } }
        : { method: 'POST', path: TOKEN_PATH + path, headers },
    )
  const signIn = (extra: object = {}) => post('', { email: alice.email, password: PASSWORD, ...extra })
  const refresh = (refreshToken: unknown) => post('/refresh', { refreshToken })
  const withCookie = (path: string, cookie: string, headers: Record<string, string> = OWN) =>
    post(path, undefined, { cookie, ...headers })
  const get = (path: string, token: string) => ask(bearer(token, path))
  const wait = (ms: number) => {
    time.now += ms
  }
  return {
    port,
    send: ask,
    post,
    signIn,
    refresh,
    withCookie,
    get,
    wait,
    time,
    events,
    sessions,
    store,
    list,
    alice,
    accounts,
    tokens,
  }
}

const bodyOf = (answer: Answer) => {
  expect(answer.status).toBe(200)
  return JSON.parse(answer.body) as { authenticationToken: string; expiration: string; refreshToken: string }
}
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
/** Returns cookies of other sessions that the app has signed. */
const planted = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const text = sessionsAndSteps(memorySessions(), {
      refresh: { secrets: [Buffer.from(SECRET)] },
    }).refreshSteps?.write({ sessionId: `s${i}`, generation: 0 }, ISSUER)
    return `${COOKIE}=${text}`
  })
const setCookies = ({ headers }: Answer) => [headers['set-cookie'] ?? []].flat() as string[]
const cookieOf = (answer: Answer) => (setCookies(answer)[0] ?? '').split(';')[0] as string

describe('a sign-in with refresh', () => {
  it('gives a third member in the mode body, and two members and a cookie in the mode cookie', async () => {
    const body = await start()
    expect(Object.keys(bodyOf(await body.signIn()))).toEqual(['authenticationToken', 'expiration', 'refreshToken'])
    const cookie = await start({ refresh: 'cookie' })
    const answer = await cookie.signIn()
    expect(Object.keys(bodyOf(answer))).toEqual(['authenticationToken', 'expiration'])
    expect(setCookies(answer)).toEqual([
      expect.stringMatching(
        /^__Secure-refresh=[\w.-]+; Path=\/api\/v2013\/authentication\/token; Max-Age=1209600; HttpOnly; Secure; SameSite=Strict$/,
      ),
    ])
    const session = cookieOf(await cookie.signIn({ remember: false }))
    expect(session).toMatch(/^__Secure-refresh=/)
    expect(setCookies(await cookie.signIn({ remember: false }))[0]).not.toContain('Max-Age')
    const form = { ...asForm(`${GOOD_FORM}&remember=false`), method: 'POST', path: TOKEN_PATH }
    expect(setCookies(await cookie.send(form))).toEqual([expect.not.stringContaining('Max-Age')])
  })

  it('lets a function of the request choose, and gives nothing for undefined', async () => {
    const { signIn, post } = await start({
      refresh: (req) => (req.get('x-client') as 'body' | 'cookie' | undefined) ?? undefined,
    })
    expect(Object.keys(bodyOf(await signIn()))).toEqual(['authenticationToken', 'expiration'])
    const credentials = { email: ACCOUNTS.alice.email, password: PASSWORD }
    expect(bodyOf(await post('', credentials, { 'x-client': 'body' })).refreshToken).toMatch(/\.0\./)
    expectUnavailable(await post('', credentials, { 'x-client': 'other' }))
  })

  it('adds refreshToken to the object of respond', async () => {
    const { signIn, refresh } = await start({ respond: ({ token }) => ({ access: token }) })
    const { refreshToken, ...others } = bodyOf(await signIn())
    expect(Object.keys(others)).toEqual(['access'])
    expect(Object.keys(bodyOf(await refresh(refreshToken)))).toEqual(['access', 'refreshToken'])
  })

  it('issues tokens with sid and auth_time, which all guards know', async () => {
    const { signIn, refresh, get, wait, sessions, events } = await start()
    const { authenticationToken, refreshToken } = bodyOf(await signIn())
    const [first, [session]] = [claimsOf(authenticationToken), await sessions.list(ACCOUNTS.alice.id)]
    expect(first).toMatchObject({ sid: session?.id, auth_time: first.iat })
    expect(first.jti).not.toBe(first.sid)
    expect(events.find(({ type }) => type === 'session.started')).toMatchObject({ sessionId: first.sid })
    expect((await get('/recent', authenticationToken)).status).toBe(200)
    wait(6 * MINUTE)
    const next = bodyOf(await refresh(refreshToken)).authenticationToken
    expect(claimsOf(next)).toMatchObject({ sid: first.sid, auth_time: first.auth_time, iat: first.iat + 360 })
    expect((await get('/recent', next)).status).toBe(401)
    expect(JSON.parse((await get('/me', next)).body)).toMatchObject({ sessionId: first.sid })
    expect(JSON.parse((await get('/sessions', next)).body)).toMatchObject({
      sessions: [{ id: first.sid, current: true }],
    })
  })
})

describe('a refresh', () => {
  it('gives a new token for an account as it is now, and a new refresh token', async () => {
    const { signIn, refresh, wait, list, get, events } = await start()
    const first = bodyOf(await signIn())
    wait(9 * MINUTE)
    list[0] = { ...(list[0] as MemoryAccount), scopes: ['reports'] }
    const second = bodyOf(await refresh(first.refreshToken))
    expect(claimsOf(second.authenticationToken)).toMatchObject({ sub: ACCOUNTS.alice.id, scope: 'reports' })
    expect(second.refreshToken).not.toBe(first.refreshToken)
    expect((await get('/me', second.authenticationToken)).status).toBe(200)
    const { sid: sessionId, jti: tokenId } = claimsOf(second.authenticationToken)
    expect(events.at(-1)).toMatchObject({ type: 'session.refreshed', accountId: ACCOUNTS.alice.id, sessionId, tokenId })
    for (const { refreshToken } of [first, second]) expect(JSON.stringify(events)).not.toContain(refreshToken)
  })

  it('gives several tabs at once the same refresh token', async () => {
    const { signIn, refresh } = await start()
    const { refreshToken } = bodyOf(await signIn())
    const answers = await Promise.all(Array.from({ length: 12 }, () => refresh(refreshToken)))
    expect(new Set(answers.map((answer) => bodyOf(answer).refreshToken)).size).toBe(1)
    expect(new Set(answers.map((answer) => bodyOf(answer).authenticationToken)).size).toBe(12)
  })

  it('forgives a response that was lost, however long ago', async () => {
    const { signIn, refresh, wait } = await start()
    const lost = bodyOf(await signIn())
    bodyOf(await refresh(lost.refreshToken))
    wait(5 * DAY)
    const late = bodyOf(await refresh(lost.refreshToken))
    wait(9 * MINUTE)
    const next = bodyOf(await refresh(late.refreshToken))
    bodyOf(await refresh(next.refreshToken))
  })

  it('ends the session when a refresh token comes back that was replaced twice', async () => {
    const { signIn, refresh, wait, events, get } = await start()
    const stolen = bodyOf(await signIn())
    const owner = bodyOf(await refresh(stolen.refreshToken))
    wait(MINUTE)
    const latest = bodyOf(await refresh(owner.refreshToken))
    wait(MINUTE)
    expectForbidden(await refresh(stolen.refreshToken))
    const { sid: sessionId } = claimsOf(latest.authenticationToken)
    expect(events.filter(({ type }) => type === 'session.ended')).toEqual([
      expect.objectContaining({ reason: 'reused', sessionId, accountId: ACCOUNTS.alice.id }),
    ])
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', code: 'invalid_refresh_token', reason: 'reused' })
    expectForbidden(await refresh(latest.refreshToken))
    expect((await get('/me', latest.authenticationToken)).status).toBe(401)
  })

  it('notices a thief who takes turns with the owner', async () => {
    const { signIn, refresh, wait } = await start()
    const copied = bodyOf(await signIn()).refreshToken
    const thief = bodyOf(await refresh(copied)).refreshToken
    wait(MINUTE)
    bodyOf(await refresh(copied))
    wait(MINUTE)
    expectForbidden(await refresh(thief))
  })

  it('gives a token of full lifetime just before the session would have ended', async () => {
    const { signIn, refresh, wait } = await start({ options: { idle: '1d' } })
    const { refreshToken } = bodyOf(await signIn())
    wait(DAY - 2 * SECOND)
    const { iat, exp } = claimsOf(bodyOf(await refresh(refreshToken)).authenticationToken)
    expect(exp - iat).toBe(600)
  })

  it('ends after idle without a refresh, and after longest in any case', async () => {
    const { signIn, refresh, wait } = await start({ options: { idle: '1d', longest: '2d' } })
    const idle = bodyOf(await signIn()).refreshToken
    wait(DAY)
    expectForbidden(await refresh(idle))
    let { refreshToken } = bodyOf(await signIn())
    for (let i = 0; i < 2; i++) {
      wait(DAY - SECOND)
      refreshToken = bodyOf(await refresh(refreshToken)).refreshToken
    }
    wait(SECOND)
    const last = bodyOf(await refresh(refreshToken))
    expect(Date.parse(last.expiration) - Date.parse('2026-01-02T00:00:00.500Z')).toBeLessThanOrEqual(2 * DAY)
    wait(SECOND)
    expectForbidden(await refresh(last.refreshToken))
  })

  it.each<[string, string, (account: MemoryAccount, now: number) => MemoryAccount | undefined]>([
    ['is disabled', 'account_disabled', (account) => ({ ...account, disabled: true })],
    ['is gone', 'unknown_account', () => undefined],
    ['has ended its earlier tokens', 'superseded', (account, now) => ({ ...account, tokensValidAfter: new Date(now) })],
    ['has another password', 'superseded', (account) => ({ ...account, passwordHash: 'plain:other' })],
    ['has no password any more', 'superseded', (account) => ({ ...account, passwordHash: null })],
  ])('ends the session of an account that %s', async (_, reason, change) => {
    const { signIn, refresh, wait, list, alice, time, events, sessions } = await start()
    const { refreshToken } = bodyOf(await signIn())
    wait(SECOND)
    list.splice(0, 1, ...[change(alice, time.now) ?? []].flat())
    expectForbidden(await refresh(refreshToken))
    expect(events.at(-1)).toMatchObject({ code: 'invalid_refresh_token', reason, accountId: alice.id })
    expect(await sessions.list(alice.id)).toEqual([])
    expect(events.findLast(({ type }) => type === 'session.ended')).toMatchObject({ reason: 'account' })
    list.splice(0, 1, alice)
    expectForbidden(await refresh(refreshToken))
  })

  it('keeps the session of an account that ended its tokens of the time before the sign-in', async () => {
    const { signIn, refresh, list, alice, time } = await start()
    const { refreshToken } = bodyOf(await signIn())
    list[0] = { ...alice, tokensValidAfter: new Date(time.now) }
    bodyOf(await refresh(refreshToken))
  })

  it('uses up no refresh token for a client that disconnects, or a response that the host sent, before the token is issued', async () => {
    let gate = deferred<object>()
    let asked = deferred<express.Response>()
    const { port, signIn, refresh, events } = await start({
      respond: ({ req }) => {
        if (!req.get('x-waits')) return { first: true }
        asked.resolve(req.res as express.Response)
        return gate.promise
      },
    })
    const { refreshToken } = bodyOf(await signIn())
    const body = asJson({ refreshToken })
    const ask = (signal: AbortSignal) =>
      send(port, {
        method: 'POST',
        path: `${TOKEN_PATH}/refresh`,
        ...body,
        headers: { ...body.headers, 'x-waits': '1' },
        signal,
      })
    const client = new AbortController()
    const left = ask(client.signal).catch(() => 'left')
    const closed = once(await asked.promise, 'close')
    client.abort()
    expect(await left).toBe('left')
    await closed
    gate.resolve({ first: false })
    await until(() => expect(events.at(-1)).toMatchObject({ code: 'client_closed_request' }))
    gate = deferred()
    asked = deferred()
    const sent = ask(new AbortController().signal)
    ;(await asked.promise).status(504).end()
    gate.resolve({ first: false })
    expect(await sent).toMatchObject({ status: 504 })
    await until(() =>
      expect(events.filter((event) => 'code' in event && event.code === 'client_closed_request')).toHaveLength(2),
    )
    expect(bodyOf(await refresh(refreshToken)).refreshToken).toContain('.1.')
  })

  it('does not bring back a session that ends during a refresh', async () => {
    const store = memorySessions()
    let endAll = async () => {}
    const replace: SessionStore['replace'] = async (id, from, to) => {
      await endAll()
      return store.replace(id, from, to)
    }
    const { signIn, refresh, sessions, events } = await start({ store: { ...store, replace } })
    const { refreshToken } = bodyOf(await signIn())
    endAll = () => sessions.endAll(ACCOUNTS.alice.id)
    expectForbidden(await refresh(refreshToken))
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', reason: 'ended', accountId: ACCOUNTS.alice.id })
    endAll = async () => {}
    expectForbidden(await refresh(refreshToken))
    expect(await sessions.list(ACCOUNTS.alice.id)).toEqual([])
  })

  it('keeps the session in which the user changed the password, and ends the others', async () => {
    const { signIn, refresh, list, alice, sessions } = await start()
    const [here, there] = [bodyOf(await signIn()), bodyOf(await signIn())]
    list[0] = { ...alice, passwordHash: 'plain:new password' }
    const { sid: sessionId, sub: accountId, jti: id } = claimsOf(here.authenticationToken)
    await sessions.endOthers({ accountId, id, sessionId })
    const next = bodyOf(await refresh(here.refreshToken))
    expectForbidden(await refresh(there.refreshToken))
    bodyOf(await refresh(next.refreshToken))
    list[0] = { ...alice, passwordHash: 'plain:a third password' }
    expectForbidden(await refresh(next.refreshToken))
  })

  it('ends after a second change of the password that comes before its next refresh, although endOthers kept it over the first', async () => {
    const { signIn, refresh, list, alice, sessions, events } = await start()
    const { authenticationToken, refreshToken } = bodyOf(await signIn())
    const { sid: sessionId, sub: accountId, jti: id } = claimsOf(authenticationToken)
    list[0] = { ...alice, passwordHash: 'plain:second password' }
    await sessions.endOthers({ accountId, id, sessionId })
    list[0] = { ...alice, passwordHash: 'plain:third password' }
    expectForbidden(await refresh(refreshToken))
    expect(events.at(-1)).toMatchObject({ reason: 'superseded' })
  })

  it('stays signed in after endOthers is called again, which rejects while the account cannot be looked up', async () => {
    const kit = await start()
    const { authenticationToken, refreshToken } = bodyOf(await kit.signIn())
    const { sid: sessionId, sub: accountId, jti: id } = claimsOf(authenticationToken)
    kit.list[0] = { ...kit.alice, passwordHash: 'plain:second password' }
    const { find } = kit.list
    kit.list.find = () => {
      throw new Error('down')
    }
    const owner = { accountId, id, sessionId }
    expect(await refusalOf(kit.sessions.endOthers(owner))).toMatchObject({
      code: 'unavailable',
      dependency: 'accounts',
    })
    kit.list.find = find
    await kit.sessions.endOthers(owner)
    bodyOf(await kit.refresh(refreshToken))
  })

  it('ends after a new password although its user has ended the other sessions before, which changed no password', async () => {
    const { signIn, refresh, send, list, alice } = await start()
    const { authenticationToken, refreshToken } = bodyOf(await signIn())
    const kept = bodyOf(await refresh(refreshToken))
    expect(await send({ ...bearer(authenticationToken, '/sessions'), method: 'DELETE' })).toMatchObject({ status: 204 })
    list[0] = { ...alice, passwordHash: 'plain:new password' }
    expectForbidden(await refresh(kept.refreshToken))
  })

  it('keeps the other sessions when a sign-in replaces an outdated hash', async () => {
    const account = { ...ACCOUNTS.alice, passwordHash: `old:${PASSWORD}` }
    const accounts = memoryAccounts([account])
    const hasher = (name: string): Hasher & Required<Pick<Hasher, 'hash'>> => ({
      accepts: (hash) => hash.startsWith(`${name}:`),
      verify: async (password, hash) => hash === `${name}:${password}`,
      hash: async (password) => `${name}:${password}`,
    })
    const [old, current] = [hasher('old'), hasher('new')]
    const store = memorySessions()
    const before = await start({ accounts, store, passwords: createPasswords({ hashers: [old, current] }) })
    const after = await start({ accounts, store, passwords: createPasswords({ hashers: [current, old] }) })
    const first = bodyOf(await before.signIn())
    const second = bodyOf(await after.signIn())
    expect(accounts.findById(account.id)).toMatchObject({ passwordHash: `new:${PASSWORD}` })
    for (const { refreshToken } of [first, second]) bodyOf(await after.refresh(refreshToken))
  })

  it.each<[string, unknown]>([
    ['an empty text', ''],
    ['a text of 8,000 characters', 'a'.repeat(8000)],
    ['a JWT', 'e30.e30.e30'],
    ['another session', 'ffffffff-ffff-7fff-8fff-ffffffffffff.0.'.padEnd(82, 'A')],
  ])('refuses %s without a look-up', async (_, text) => {
    const store = memorySessions()
    let finds = 0
    const find: SessionStore['find'] = (id) => {
      finds++
      return store.find(id)
    }
    const { refresh, events } = await start({ store: { ...store, find } })
    expectForbidden(await refresh(text))
    expect(finds).toBe(0)
    expect(events).toEqual([expect.objectContaining({ type: 'token.refused', reason: 'malformed' })])
  })

  it('refuses a refresh token of another environment, and one with another generation', async () => {
    const store = memorySessions()
    const [here, sibling] = [await start({ store }), await start({ store, issuer: 'https://sibling.example.com' })]
    const { refreshToken } = bodyOf(await here.signIn())
    expectForbidden(await sibling.refresh(refreshToken))
    expectForbidden(await here.refresh(refreshToken.replace('.0.', '.1.')))
    bodyOf(await here.refresh(refreshToken))
  })

  it('accepts refresh tokens of the issuer that the app had before', async () => {
    const [store, issuer] = [memorySessions(), 'https://new.example.com']
    const former = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })
    const [before, after] = [await start({ store }), await start({ store, issuer, alsoAccept: [former] })]
    const { refreshToken } = bodyOf(await before.signIn())
    const next = bodyOf(await after.refresh(refreshToken))
    expect(claimsOf(next.authenticationToken)).toMatchObject({ iss: issuer })
    expectForbidden(await before.refresh(next.refreshToken))
  })

  it('accepts no refresh token of an identity provider, of old code or of a custom verifier, whatever secret has signed it', async () => {
    const [store, issuer] = [memorySessions(), 'https://new.example.com']
    const keys = { alg: 'HS256', secret: SECRET } as const
    const provider = createTokenVerifier({ issuer: ISSUER, accept: 'jwt', audience: issuer, keys })
    const custom = { issuer: ISSUER, verify: async () => undefined as never }
    const old = oldTokens({ keys, accountId: () => undefined, sessionId: () => 's', until: new Date(Date.now() + DAY) })
    for (const [written, accepted] of [
      [ISSUER, provider],
      [ISSUER, custom],
      [old.issuer, old],
    ] as const) {
      const { signIn, refresh } = await start({ store, issuer, alsoAccept: [accepted] })
      const { refreshToken } = bodyOf(await signIn())
      const { refreshSteps } = sessionsAndSteps(store, { refresh: { secrets: [Buffer.from(SECRET)] } })
      const facts = { sessionId: refreshToken.split('.')[0] as string, generation: 0 }
      expectForbidden(await refresh(refreshSteps?.write(facts, written)))
      bodyOf(await refresh(refreshSteps?.write(facts, issuer)))
    }
  })

  it('is refused by a guard, and a token of a guard by the refresh', async () => {
    const { signIn, refresh, get } = await start()
    const { refreshToken, authenticationToken } = bodyOf(await signIn())
    expect((await get('/me', refreshToken)).status).toBe(401)
    expectForbidden(await refresh(authenticationToken))
  })

  it.each([
    ['no member', {}],
    ['a number', { refreshToken: 1 }],
    ['null', { refreshToken: null }],
  ])('refuses a body with %s as malformed', async (_, body) => {
    const { post } = await start()
    const answer = await post('/refresh', body)
    expectProblem(answer, 400, 'invalid_body', 'Bad Request')
    expect(answer.body).toContain('must contain \\"refreshToken\\" exactly once, as a string')
  })

  it('has one method, and needs a media type', async () => {
    const { send, post } = await start()
    const path = `${TOKEN_PATH}/refresh`
    expect(await send({ method: 'GET', path })).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    expect(await post('/refresh', undefined, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
  })

  it('accepts refresh tokens of a secret that was replaced, and of no other', async () => {
    const store = memorySessions()
    const [before, after, without] = [
      await start({ store }),
      await start({ store, secret: ['secret n'.repeat(4), SECRET] }),
      await start({ store, secret: 'secret n'.repeat(4) }),
    ]
    const first = bodyOf(await before.signIn()).refreshToken
    const second = bodyOf(await after.refresh(first)).refreshToken
    expectForbidden(await without.refresh(first))
    bodyOf(await without.refresh(second))
  })
})

describe('a failing dependency', () => {
  it.each<[string, keyof SessionStore]>([
    ['finding the session', 'find'],
    ['changing the session', 'replace'],
  ])('is 503 while the store fails at %s, and the refresh token stays valid', async (_, method) => {
    const store = memorySessions()
    let isDown = false
    const failing = new Proxy(store, {
      get: (target, name, self) =>
        isDown && name === method ? () => Promise.reject(new Error('down')) : Reflect.get(target, name, self),
    })
    const { signIn, refresh, events } = await start({ store: failing })
    const { refreshToken } = bodyOf(await signIn())
    isDown = true
    expectUnavailable(await refresh(refreshToken))
    expect(events.at(-1)).toMatchObject({ type: 'dependency.failed', dependency: 'sessions' })
    isDown = false
    bodyOf(await refresh(refreshToken))
  })

  it.each<[string, object]>([
    ['no state', { refresh: null }],
    ['no state at all', { refresh: undefined }],
    ['another state', { refresh: 'x' }],
    ['data that is no object', { data: '[1]' }],
    ...[
      'null',
      '5',
      '[]',
      '"text"',
      '{bad',
      '{"scopes":"read admin"}',
      '{"scopes":null}',
      '{"scopes":5}',
      '{"claims":5}',
      '{"without":"role"}',
      '{"without":[1]}',
      '{"lifetime":"x"}',
      '{"lifetime":null}',
      '{"signedInAt":"x"}',
      '{"signedInAt":9e15}',
      '{"other":1}',
      '{"toString":1}',
    ].map((text): [string, object] => [`terms ${text}`, { terms: Buffer.from(text).toString('base64url') }]),
    ['terms that are no base64url', { terms: '!!!' }],
    ['empty terms', { terms: '' }],
    ['terms that are no text', { terms: 5 }],
  ])('is 503 while the store returns a session with %s, and the cookie stays', async (_, change) => {
    const store = memorySessions()
    let wrong: object | undefined
    const find: SessionStore['find'] = async (id) => {
      const found = await store.find(id)
      return found && wrong ? ({ ...found, ...wrong } as never) : found
    }
    const { signIn, withCookie, events, sessions } = await start({ refresh: 'cookie', store: { ...store, find } })
    const cookie = cookieOf(await signIn())
    wrong = change
    const answer = await withCookie('/refresh', cookie)
    expectUnavailable(answer)
    expect(setCookies(answer)).toEqual([])
    const failed = { type: 'dependency.failed', dependency: 'sessions' }
    const message = expect.stringMatching(/^sessions: "\w+" must be the text that the store was given, unchanged/)
    expect(events.at(-1)).toMatchObject({ ...failed, error: { message } })
    wrong = undefined
    expect(await sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
    bodyOf(await withCookie('/refresh', cookie))
  })

  it('gives the same successor when the store has written, and failed after that', async () => {
    const store = memorySessions()
    let fails = true
    const { signIn, refresh, sessions } = await start({
      store: {
        ...store,
        async replace(id, from, to) {
          const isSwapped = store.replace(id, from, to)
          if (fails) throw new Error('lost')
          return isSwapped
        },
      },
    }).catch(() => {
      throw new Error('must start')
    })
    fails = false
    const { refreshToken } = bodyOf(await signIn())
    fails = true
    expectUnavailable(await refresh(refreshToken))
    fails = false
    expect(bodyOf(await refresh(refreshToken)).refreshToken).toContain('.1.')
    expect(await sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
  })

  it('is 503 when the account store does not respond in time', async () => {
    const accounts = memoryAccounts([ACCOUNTS.alice])
    const store = memorySessions()
    const { refreshToken } = bodyOf(await (await start({ store })).signIn())
    const { refresh, events } = await start({ store, accounts: { ...accounts, findById: hang }, timeout: '1ms' })
    expectUnavailable(await refresh(refreshToken))
    expect(events.at(-1)).toMatchObject({ type: 'dependency.failed', dependency: 'accounts' })
  })

  it('uses up nothing while accounts or keys fail, also for days', async () => {
    let isDown = false
    const accounts = memoryAccounts([ACCOUNTS.alice])
    const findById = async (id: string) => {
      if (isDown) throw new Error('down')
      return accounts.findById(id)
    }
    const respond = ({ token }: { token: string }) => {
      if (isDown) throw new Error('down')
      return { token }
    }
    for (const more of [{ accounts: { ...accounts, findById } }, { respond }]) {
      const { signIn, refresh, wait } = await start(more)
      const { refreshToken } = bodyOf(await signIn())
      isDown = true
      for (let i = 0; i < 5; i++) {
        expectUnavailable(await refresh(refreshToken))
        wait(DAY)
      }
      isDown = false
      expect(bodyOf(await refresh(refreshToken)).refreshToken).toContain('.1.')
    }
  })
})

describe('the cookie', () => {
  const startWithCookie = async (more: Setup = {}) => {
    const kit = await start({ refresh: 'cookie', ...more })
    return { ...kit, cookie: cookieOf(await kit.signIn()) }
  }

  it('is renewed by a refresh, for the rest of the session', async () => {
    const { cookie, withCookie, wait } = await startWithCookie({ options: { idle: '10d', longest: '11d' } })
    wait(5 * DAY)
    const answer = await withCookie('/refresh', cookie)
    expect(Object.keys(bodyOf(answer))).toEqual(['authenticationToken', 'expiration'])
    const where = `; Path=${TOKEN_PATH}; Max-Age=${(6 * DAY) / 1000}; `
    expect(setCookies(answer)).toEqual([expect.stringContaining(where)])
    expect(cookieOf(answer)).not.toBe(cookie)
  })

  it('stays a cookie of the browser’s session with remember: false', async () => {
    const { signIn, withCookie } = await start({ refresh: 'cookie' })
    const answer = await withCookie('/refresh', cookieOf(await signIn({ remember: false })))
    expect(setCookies(answer)[0]).not.toContain('Max-Age')
  })

  it('with remember: false belongs to a session that ends after the time "unremembered", also after refreshes', async () => {
    const { signIn, withCookie, wait, sessions } = await start({
      refresh: 'cookie',
      options: { idle: '30d', unremembered: '1d' },
    })
    let cookie = cookieOf(await signIn({ remember: false }))
    for (let refreshes = 0; refreshes < 2; refreshes++) {
      wait(DAY - 1000)
      const answer = await withCookie('/refresh', cookie)
      expect(bodyOf(answer)).toBeDefined()
      cookie = cookieOf(answer)
    }
    const remembered = cookieOf(await signIn({ remember: true }))
    wait(DAY + 1)
    expectForbidden(await withCookie('/refresh', cookie))
    expect(bodyOf(await withCookie('/refresh', remembered))).toBeDefined()
    expect(await sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
  })

  it('is deleted when its session is over', async () => {
    const { cookie, withCookie, sessions } = await startWithCookie()
    await sessions.endAll(ACCOUNTS.alice.id)
    const answer = await withCookie('/refresh', cookie)
    expectForbidden(answer)
    expect(setCookies(answer)).toEqual([expect.stringContaining(`${COOKIE}=; Path=${TOKEN_PATH}; Max-Age=0; `)])
  })

  it.each<[string, (account: MemoryAccount) => MemoryAccount | undefined]>([
    ['is gone', () => undefined],
    ['is disabled', (account) => ({ ...account, disabled: true })],
    ['has another password', (account) => ({ ...account, passwordHash: 'plain:other' })],
  ])('is deleted when its account %s', async (_, change) => {
    const { cookie, withCookie, list, alice } = await startWithCookie()
    await withCookie('/refresh', cookie)
    const newer = cookieOf(await withCookie('/refresh', cookie))
    list.splice(0, 1, ...[change(alice) ?? []].flat())
    const answer = await withCookie('/refresh', newer)
    expectForbidden(answer)
    expect(setCookies(answer)).toEqual([expect.stringContaining('Max-Age=0')])
  })

  it('is deleted when it comes back after it was replaced twice, and is the newest of several', async () => {
    const { cookie, withCookie, wait } = await startWithCookie()
    const cookies = [cookie]
    for (let i = 0; i < 4; i++) {
      wait(MINUTE)
      // Browsers send them in any order.
      const sent = i % 2 ? cookies : cookies.toReversed()
      cookies.push(cookieOf(await withCookie('/refresh', sent.join('; '))))
    }
    expect(cookies.map((one) => one.split('.')[1])).toEqual(['0', '1', '2', '3', '4'])
    const answer = await withCookie('/refresh', cookie)
    expectForbidden(answer)
    expect(setCookies(answer)).toEqual([expect.stringContaining('Max-Age=0')])
  })

  it('is read also from a request with a body', async () => {
    const { cookie, post } = await startWithCookie()
    bodyOf(await post('/refresh', { any: 1 }, { cookie, ...OWN }))
  })

  it('is missing for a client without refresh', async () => {
    const { refresh, events } = await start({ refresh: () => undefined })
    expectForbidden(await refresh('x'))
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', reason: 'missing' })
    expect(Object.keys(refused('missing'))).not.toContain('accountId')
  })

  it('is not needed: without any, a refresh is 204, and no event', async () => {
    const { withCookie, post, events, cookie } = await startWithCookie()
    const count = events.length
    for (const answer of [await withCookie('/refresh', 'theme=dark'), await post('/refresh', undefined, OWN)]) {
      expect(answer).toMatchObject({ status: 204, body: '' })
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(setCookies(answer)).toEqual([])
    }
    expect(events).toHaveLength(count)
    expectProblem(await post('/refresh', { refreshToken: 'x' }, OWN), 400, 'invalid_body', 'Bad Request')
    const cross = { 'sec-fetch-site': 'cross-site' }
    expectProblem(await post('/refresh', undefined, cross), 403, 'cross_site_request', 'Forbidden')
    bodyOf(await withCookie('/refresh', cookie))
  })

  it('stays when it is lost in a race, when it is not ours, and while the store is down', async () => {
    const store = memorySessions()
    let isDown = false
    const find: SessionStore['find'] = (id) => {
      if (isDown) throw new Error('down')
      return store.find(id)
    }
    const { cookie, withCookie } = await startWithCookie({ store: { ...store, find } })
    const answers = await Promise.all([1, 2, 3].map(() => withCookie('/refresh', cookie)))
    for (const answer of answers) expect(setCookies(answer)[0]).not.toContain('Max-Age=0')
    for (const value of ['', 'garbage', `${cookie.slice(COOKIE.length + 1)}x`]) {
      const answer = await withCookie('/refresh', `${COOKIE}=${value}`)
      expectForbidden(answer)
      expect(setCookies(answer)).toEqual([])
    }
    isDown = true
    expect(setCookies(await withCookie('/refresh', cookie))).toEqual([])
  })

  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site', origin: 'https://blog.example.com' }],
    ['another origin, in a browser without Sec-Fetch-Site', { origin: 'https://evil.example' }],
    [
      'another port, in a browser without Sec-Fetch-Site',
      { origin: 'http://api.example.com:81', host: 'api.example.com' },
    ],
    ['an opaque origin', { origin: 'null' }],
  ])('is not taken from a page of %s', async (_, headers) => {
    const { cookie, withCookie, post, sessions } = await startWithCookie()
    const credentials = { email: ACCOUNTS.alice.email, password: PASSWORD }
    for (const ask of [
      () => post('', credentials, headers),
      () => withCookie('/refresh', cookie, headers),
      () => withCookie('/sign-out', cookie, headers),
    ]) {
      const answer = await ask()
      expectProblem(answer, 403, 'cross_site_request', 'Forbidden')
      expect(setCookies(answer)).toEqual([])
    }
    expect(await sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
  })

  it.each<[string, Record<string, string>]>([
    ['of its own origin', OWN],
    [
      'of its own origin, in a browser without Sec-Fetch-Site',
      { origin: 'https://api.example.com', host: 'api.example.com' },
    ],
    ['behind a proxy', { origin: 'https://api.example.com', 'x-forwarded-host': 'api.example.com' }],
    ['of an allowed origin', { 'sec-fetch-site': 'same-site', origin: 'https://app.example.com' }],
    ['of no browser', {}],
  ])('is taken from a client %s', async (_, headers) => {
    const { cookie, withCookie } = await startWithCookie({ allowedOrigins: ['https://app.example.com'] })
    bodyOf(await withCookie('/refresh', cookie, headers))
  })

  it('is refused when another host of the domain has added one, and not deleted', async () => {
    const { cookie, withCookie, signIn, events } = await startWithCookie()
    const other = cookieOf(await signIn())
    const answer = await withCookie('/refresh', `${other}; ${cookie}`)
    expectForbidden(answer)
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', reason: 'several_cookies' })
    expect(setCookies(answer)).toEqual([])
    bodyOf(await withCookie('/refresh', `${COOKIE}=garbage; ${cookie}; other=1`))
    const newer = cookieOf(await withCookie('/refresh', cookie))
    bodyOf(await withCookie('/refresh', `${cookie}; ${newer}`))
  })

  const { alice, bob } = ACCOUNTS
  it.each<[string, (kit: Awaited<ReturnType<typeof start>>) => unknown]>([
    ['has ended', ({ sessions }) => sessions.endAll(bob.id)],
    ['has expired', ({ wait }) => wait(DAY)],
    ['is of an account that was disabled', ({ list }) => list.splice(0, 2, alice, { ...bob, disabled: true })],
    ['is of an account that was removed', ({ list }) => list.splice(0, 2, alice)],
    ['has another password', ({ list }) => list.splice(0, 2, alice, { ...bob, passwordHash: 'plain:other' })],
  ])('keeps its user signed in beside the cookie of a session that %s', async (_, end) => {
    const kit = await startWithCookie({ options: { idle: '2d', unremembered: '1d' } })
    kit.list.push(bob)
    const other = cookieOf(await kit.signIn({ email: bob.email, remember: false }))
    const both = `${other}; ${kit.cookie}`
    expectForbidden(await kit.withCookie('/refresh', both))
    await end(kit)
    const { authenticationToken } = bodyOf(await kit.withCookie('/refresh', both))
    expect(claimsOf(authenticationToken)).toMatchObject({ sub: alice.id })
  })

  it.each(['/refresh', '/sign-out'])('%s: works beside 15 planted cookies', async (path) => {
    const { cookie, withCookie, sessions } = await startWithCookie()
    const garbage = Array.from({ length: 7 }, (_, i) => `${COOKIE}=x${i}`)
    const answer = await withCookie(path, [...garbage, ...planted(8), cookie].join('; '))
    expect(answer.status).toBe(path === '/refresh' ? 200 : 204)
    expect(setCookies(answer)).toHaveLength(1)
    expect(await sessions.list(alice.id)).toHaveLength(path === '/refresh' ? 1 : 0)
  })

  it.each(['/refresh', '/sign-out', ''])(
    '%s: refuses more than 16 cookies, valid or not, without a look-up',
    async (path) => {
      const store = memorySessions()
      const finds: string[] = []
      const find: SessionStore['find'] = (id) => {
        finds.push(id)
        return store.find(id)
      }
      const { cookie, post, withCookie } = await startWithCookie({ store: { ...store, find } })
      const credentials = path === '' ? { email: ACCOUNTS.alice.email, password: PASSWORD } : undefined
      for (const others of [planted(16), Array.from({ length: 16 }, (_, i) => `${COOKIE}=x${i}`)]) {
        finds.length = 0
        const answer = await post(path, credentials, { cookie: [...others, cookie].join('; '), ...OWN })
        expectProblem(answer, 400, 'invalid_body', 'Bad Request')
        expect(setCookies(answer)).toEqual([])
        expect(finds).toEqual([])
      }
      bodyOf(await withCookie('/refresh', cookie))
    },
  )

  it('causes one call of the store at a time, and none for a client that has left', async () => {
    const open = { now: 0, most: 0, calls: 0 }
    const find: SessionStore['find'] = async () => {
      open.calls++
      open.most = Math.max(open.most, ++open.now)
      await settled()
      open.now--
      return null
    }
    const { refreshSteps } = sessionsAndSteps({ ...memorySessions(), find }, { refresh: {} })
    const presented = Array.from({ length: 20 }, (_, i) => ({ sessionId: `s${i}`, generation: 0 }))
    const task = { refreshSteps, presented, isWanted: () => open.calls < 3 } as unknown as Parameters<
      typeof runRefresh
    >[0]
    expect(await refusalOf(runRefresh(task))).toMatchObject({ code: 'client_closed_request' })
    expect(open).toEqual({ now: 0, most: 1, calls: 3 })
  })

  it('keeps the other cookies of the response', async () => {
    const app = express()
    const { accounts } = await start()
    const store = memoryStore()
    app.use((_req, res, next) => {
      res.setHeader('Set-Cookie', 'theme=dark')
      next()
    })
    app.use(
      '/:tenant',
      authWith({ accounts, store, secret: SECRET, refresh: 'cookie', paths: { token: '/token' } }).router,
    )
    const { port } = await listen(app)
    const body = asJson({ email: ACCOUNTS.alice.email, password: PASSWORD })
    const answer = await client(port)({ method: 'POST', path: '/a;Domain=evil.example/token', ...body })
    expect(setCookies(answer)).toEqual(['theme=dark', expect.stringContaining('Path=/a%3BDomain=evil.example/token;')])
  })
})

describe('a sign-in that replaces a cookie', () => {
  const { alice, bob } = ACCOUNTS
  const CREDENTIALS = { email: alice.email, password: PASSWORD }
  async function startSignedIn(setup: Setup = {}) {
    const kit = await start({ refresh: 'cookie', ...setup })
    kit.list.push(bob)
    const signedIn = await kit.signIn()
    const ended = () => kit.events.filter(({ type }) => type === 'session.ended')
    const again = (credentials: object, sent: string) => kit.post('', credentials, { cookie: sent, ...OWN })
    return { ...kit, cookie: cookieOf(signedIn), token: bodyOf(signedIn).authenticationToken, ended, again }
  }

  it('ends the session of that cookie, once the new session has started', async () => {
    const { again, cookie, withCookie, sessions, ended } = await startSignedIn()
    const old = (await sessions.list(alice.id))[0]?.id
    const copy = cookieOf(await withCookie('/refresh', cookie))
    const answer = await again(CREDENTIALS, copy)
    expect(ended()).toMatchObject([{ reason: 'signed_out', accountId: alice.id, sessionId: old }])
    expectForbidden(await withCookie('/refresh', copy))
    bodyOf(await withCookie('/refresh', cookieOf(answer)))
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('ends the session of the token where the browser sends no cookie', async () => {
    const { send: ask, token, cookie, withCookie, sessions, ended } = await startSignedIn()
    const answer = await ask({ ...bearer(token, '/step-up'), method: 'POST' })
    expect(answer.status).toBe(200)
    expect(ended()).toMatchObject([{ reason: 'signed_out' }])
    expectForbidden(await withCookie('/refresh', cookie))
    bodyOf(await withCookie('/refresh', cookieOf(answer)))
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('keeps the session of another account, and that of a cookie that it did not send', async () => {
    const { again, signIn, cookie, withCookie, ended } = await startSignedIn()
    bodyOf(await again({ ...CREDENTIALS, email: bob.email }, cookie))
    bodyOf(await signIn())
    bodyOf(await again(CREDENTIALS, `${COOKIE}=garbage`))
    expect(ended()).toEqual([])
    bodyOf(await withCookie('/refresh', cookie))
  })

  it.each<[string, number, (kit: Awaited<ReturnType<typeof startSignedIn>>, store: SessionStore) => unknown]>([
    ['has a wrong password', 403, () => ({ password: 'wrong' })],
    [
      'finds the store down as it starts',
      503,
      (_, store) => {
        store.add = () => Promise.reject(new Error('down'))
      },
    ],
    [
      'finds the store down as it ends the old session',
      503,
      (_, store) => {
        store.remove = () => Promise.reject(new Error('down'))
      },
    ],
    [
      'finds its account disabled meanwhile',
      403,
      ({ list }, store) => {
        const { add } = store
        store.add = async (session) => {
          await add(session)
          list.splice(0, 1, { ...alice, disabled: true })
        }
      },
    ],
  ])('keeps the session when it %s', async (_, status, fail) => {
    const store = memorySessions()
    const kit = await startSignedIn({ store })
    const methods = { ...store }
    const change = fail(kit, store) ?? {}
    const answer = await kit.again({ ...CREDENTIALS, ...change }, kit.cookie)
    expect(answer.status).toBe(status)
    expect(setCookies(answer)).toEqual([])
    Object.assign(store, methods)
    kit.list.splice(0, 1, alice)
    bodyOf(await kit.withCookie('/refresh', kit.cookie))
  })

  it('keeps the earlier sessions in the mode body, where each client has its own', async () => {
    const { send: ask, signIn, refresh } = await start()
    const { refreshToken, authenticationToken } = bodyOf(await signIn())
    expect((await ask({ ...bearer(authenticationToken, '/step-up'), method: 'POST' })).status).toBe(200)
    bodyOf(await refresh(refreshToken))
  })
})

describe('the mode body', () => {
  it.each(['/refresh', '/sign-out'])('%s: refuses a form of another site as the sign-in does', async (path) => {
    const { send, events } = await start()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' }
    const answer = await send({ method: 'POST', path: TOKEN_PATH + path, headers, body: 'refreshToken=x' })
    expectProblem(answer, 415, 'cross_site_form', 'Unsupported Media Type')
    expect(events).toEqual([expect.objectContaining({ type: 'token.refused', code: 'cross_site_form' })])
  })

  it('takes a sign-in from a page of another origin, because it has no cookie', async () => {
    const { post } = await start()
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }
    bodyOf(await post('', { email: ACCOUNTS.alice.email, password: PASSWORD }, headers))
  })

  it('sets no cookie, also when the session is over', async () => {
    const { signIn, refresh, post } = await start()
    const { refreshToken } = bodyOf(await signIn())
    for (const answer of [await post('/sign-out', { refreshToken }), await refresh(refreshToken)]) {
      expect(setCookies(answer)).toEqual([])
    }
  })

  it.each(['/refresh', '/sign-out'])('%s: keeps an app whose request is taken for one of a page', async (path) => {
    const { signIn, post, sessions } = await start({ refresh: (req) => (req.get('x-client') ? 'body' : 'cookie') })
    await signIn()
    const answer = await post(path, { refreshToken: 'x' })
    expectProblem(answer, 400, 'invalid_body', 'Bad Request')
    expect(answer.body).toContain('reads the refresh token from a cookie')
    expect(await sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
  })
})

describe('a sign-out', () => {
  it('ends the session of a refresh token, also of an old one and after its token has expired', async () => {
    const { signIn, refresh, post, wait, get, events } = await start()
    const old = bodyOf(await signIn())
    const current = bodyOf(await refresh(old.refreshToken))
    wait(DAY)
    expect(await post('/sign-out', { refreshToken: old.refreshToken })).toMatchObject({ status: 204, body: '' })
    expect(events.at(-1)).toMatchObject({ type: 'session.ended', reason: 'signed_out' })
    const count = events.length
    expect(await post('/sign-out', { refreshToken: old.refreshToken })).toMatchObject({ status: 204 })
    expect(events).toHaveLength(count)
    expectForbidden(await refresh(current.refreshToken))
    expect((await get('/me', current.authenticationToken)).status).toBe(401)
  })

  it('is 204 for an unknown session, and deletes the cookie', async () => {
    const { post } = await start()
    expect(await post('/sign-out', { refreshToken: 'unknown' })).toMatchObject({ status: 204 })
    const { withCookie, signIn, sessions } = await start({ refresh: 'cookie' })
    for (const cookie of [cookieOf(await signIn()), '']) {
      const answer = await withCookie('/sign-out', cookie)
      expect(answer.status).toBe(204)
      expect(setCookies(answer)).toEqual([expect.stringContaining(`Path=${TOKEN_PATH}; Max-Age=0`)])
    }
    expect(await sessions.list(ACCOUNTS.alice.id)).toEqual([])
  })

  it('is 503 while the store is down, and keeps the cookie', async () => {
    const store = memorySessions()
    let isDown = false
    const find: SessionStore['find'] = (id) => {
      if (isDown) throw new Error('down')
      return store.find(id)
    }
    const { withCookie, signIn } = await start({ refresh: 'cookie', store: { ...store, find } })
    const cookie = cookieOf(await signIn())
    isDown = true
    const answer = await withCookie('/sign-out', cookie)
    expectUnavailable(answer)
    expect(setCookies(answer)).toEqual([])
  })
})

it.each(['body', 'cookie'] as const)(
  'a refresh in the mode %s is read before those of another client that floods',
  async (mode) => {
    const { store, accounts, tokens } = await start()
    const { findById } = accounts
    const { refreshSteps } = sessionsAndSteps(store, { refresh: {} })
    const refresh = { refreshSteps, issuers: [ISSUER], modeOf: () => mode, findById }
    const service = { emit() {}, refuse: undefined, bodyLimit: 10_240, allowedOrigins: new Set<string>() }
    const [endpoint] = refreshFeature.endpoints as [Endpoint<RefreshParts>]
    const parts = { tokens, path: '', timeout: 5000, ...service, refresh } as unknown as RefreshParts
    const handler = handlerOf(endpoint, parts, '/refresh', { ...service, modeOf: () => mode })
    const headers = { 'content-type': 'application/json', cookie: `${COOKIE}=x`, ...OWN }
    const order: string[] = []
    await all(41, async (i) => {
      const ip = i < 40 ? '192.0.2.1' : '192.0.2.2'
      const req = {
        headers,
        rawHeaders: [],
        body: { refreshToken: 'x' },
        baseUrl: '',
        url: '/refresh',
        ip,
        complete: true,
      }
      const { promise, resolve } = deferred<void>()
      const res = { setHeader() {}, end: resolve } as unknown as Response
      handler(req as unknown as Request, res, () => {})
      await promise
      order.push(ip)
    })
    expect(order.indexOf('192.0.2.2')).toBeLessThan(16)
  },
)
