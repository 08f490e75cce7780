// Tests features/refresh/{old-refresh-options,old-refresh-tokens}.ts
import express from 'express'
import type {
  AuthEvent,
  AuthOptions,
  MemoryAccount,
  OldRefreshToken,
  OldRefreshTokensOptions,
  RefreshTimes,
  SessionStore,
  Sessions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { authWith } from '../../../support/auth.js'
import { all, deferred, settled } from '../../../support/concurrency.js'
import { ACCOUNTS } from '../../../support/fixtures.js'
import { type Answer, asJson, expectForbidden, expectUnavailable } from '../../../support/host.js'
import { client, listen, TOKEN_PATH } from '../../../support/http.js'
import { memorySessions } from '../../../support/sessions.js'
import { hang } from '../../../support/values/invalid-results.js'

const ISSUER = 'https://api.example.com'
const SECRET = 'secret o'.repeat(4)
const MINUTE = 60_000
const NOW = Date.parse('2026-01-01T00:00:00.500Z')
const SIGNED_IN = new Date(NOW - 60 * MINUTE)
const OLD = 'old-token-of-alice'
const { id: ALICE } = ACCOUNTS.alice

interface Setup extends Partial<Omit<AuthOptions, 'store' | 'refresh' | 'oldRefreshTokens'>> {
  store?: SessionStore
  mode?: 'body' | 'cookie'
  times?: RefreshTimes
  old?: Partial<OldRefreshTokensOptions>
  account?: Partial<MemoryAccount>
}

/** A store that stores nothing for an id that it has. */
function ignoringSessions(): Required<SessionStore> {
  const store = memorySessions()
  return { ...store, add: (session) => void (store.find(session.id) || store.add(session)) }
}

/** Starts an app that had its refresh tokens in its own table. */
async function start({ store = memorySessions(), mode = 'body', times, old, account, ...more }: Setup = {}) {
  const time = { now: NOW }
  const events: AuthEvent[] = []
  const rows = new Map<string, OldRefreshToken>([[OLD, { accountId: ALICE, signedInAt: SIGNED_IN }]])
  const calls: string[] = []
  const alice: MemoryAccount = { ...ACCOUNTS.alice, ...account }
  const accounts = {
    findByEmail: (email: string) => (alice.email === email ? alice : undefined),
    findById: (id: string) => (alice.id === id ? alice : undefined),
  }
  const oldRefreshTokens: OldRefreshTokensOptions = {
    async find(token) {
      calls.push('find')
      return rows.get(token)
    },
    async remove(token) {
      calls.push('remove')
      rows.delete(token)
    },
    until: new Date(NOW + 1000 * MINUTE),
    ...old,
  }
  const auth = authWith({
    issuer: ISSUER,
    clock: () => time.now,
    accounts,
    secret: SECRET,
    store: { sessions: store },
    refresh: { mode, ...times },
    oldRefreshTokens,
    onEvent: (event) => void events.push(event),
    ...more,
  })
  const app = express().set('trust proxy', true).use(auth.router)
  app.get('/me', auth.guard(), (req, res) => void res.json(req.auth))
  const { port } = await listen(app)
  const ask = client(port)
  const post = (path: string, body?: object, headers: Record<string, string> = {}) => {
    const given = body ? asJson(body) : { headers: {} }
    return ask({ method: 'POST', path: TOKEN_PATH + path, ...given, headers: { ...given.headers, ...headers } })
  }
  return {
    auth,
    time,
    rows,
    calls,
    events,
    alice,
    accounts,
    sessions: auth.sessions as Sessions,
    store,
    post,
    refresh: (refreshToken: string, headers?: Record<string, string>) => post('/refresh', { refreshToken }, headers),
    signOut: (refreshToken: string) => post('/sign-out', { refreshToken }),
    withCookie: (path: string, cookie: string, headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }) =>
      post(path, undefined, { cookie, ...headers }),
    types: () => events.map(({ type }) => type),
  }
}

function bodyOf(answer: Answer) {
  expect(answer.status).toBe(200)
  return JSON.parse(answer.body) as { authenticationToken: string; refreshToken: string }
}
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
const setCookies = ({ headers }: Answer) => [headers['set-cookie'] ?? []].flat() as string[]

describe('an old refresh token', () => {
  it('is replaced by a refresh token of a session of its account', async () => {
    const { refresh, rows, calls, types, sessions } = await start()
    const { authenticationToken, refreshToken } = bodyOf(await refresh(OLD))
    expect(rows.size).toBe(0)
    expect(calls).toEqual(['find', 'find', 'remove'])
    expect(types()).toEqual(['session.started', 'session.refreshed'])
    const [session, ...others] = await sessions.list(ALICE)
    expect(others).toEqual([])
    expect(session?.id).not.toContain(OLD)
    const claims = claimsOf(authenticationToken)
    expect(claims).toMatchObject({ sub: ALICE, sid: session?.id, auth_time: Math.floor(+SIGNED_IN / 1000) })
    const next = bodyOf(await refresh(refreshToken))
    expect(claimsOf(next.authenticationToken)).toMatchObject({ sid: session?.id, auth_time: claims.auth_time })
    expect(calls).toHaveLength(3)
  })

  it('has the name and the lifetime that find returns, and an unknown sign-in is not recent', async () => {
    const { refresh, rows, sessions } = await start({ times: { idle: '14d', unremembered: '1h' } })
    rows.set(OLD, { accountId: ALICE, label: 'Phone', remember: false })
    expect(claimsOf(bodyOf(await refresh(OLD)).authenticationToken)).toMatchObject({ auth_time: 0 })
    const [session] = await sessions.list(ALICE)
    expect(session).toMatchObject({ label: 'Phone', expiresAt: new Date(NOW + 60 * MINUTE) })
  })

  it('takes a number as the id of an account', async () => {
    const { refresh, rows, alice } = await start()
    alice.id = '17'
    rows.set(OLD, { accountId: 17, signedInAt: SIGNED_IN })
    expect(claimsOf(bodyOf(await refresh(OLD)).authenticationToken).sub).toBe('17')
  })

  it.each([
    ['throws', memorySessions],
    ['ignores it', ignoringSessions],
  ])(
    'of several tabs gives each the same refresh token, in a store that has the session and %s',
    async (_, makeStore) => {
      const { refresh, types } = await start({ store: makeStore() })
      const tokens = (await all(5, () => refresh(OLD))).map((one) => bodyOf(one).refreshToken)
      expect(new Set(tokens).size).toBe(1)
      expect(types().filter((type) => type === 'session.started')).toHaveLength(1)
    },
  )

  it.each([0, 10 * MINUTE])('gives the session again after a lost response, %i ms later', async (later) => {
    const { refresh, time, sessions } = await start()
    const lost = bodyOf(await refresh(OLD))
    time.now += later
    const { authenticationToken, refreshToken } = bodyOf(await refresh(OLD))
    expect(claimsOf(authenticationToken).sid).toBe(claimsOf(lost.authenticationToken).sid)
    time.now += later
    bodyOf(await refresh(refreshToken))
    expect(await sessions.list(ALICE)).toHaveLength(1)
  })

  it('of a thief ends the session when its successor was used before', async () => {
    const { refresh, time, events, sessions } = await start()
    const { refreshToken } = bodyOf(await refresh(OLD))
    time.now += MINUTE
    const next = bodyOf(await refresh(refreshToken))
    time.now += MINUTE
    expectForbidden(await refresh(OLD))
    expect(events.at(-2)).toMatchObject({ type: 'session.ended', reason: 'reused' })
    expectForbidden(await refresh(next.refreshToken))
    expectForbidden(await refresh(OLD))
    expect(await sessions.list(ALICE)).toEqual([])
  })

  it('ends the session when it comes a second time without grace', async () => {
    const { refresh } = await start({ times: { grace: 0 } })
    const { refreshToken } = bodyOf(await refresh(OLD))
    expectForbidden(await refresh(OLD))
    expectForbidden(await refresh(refreshToken))
  })

  it('is of no use after a sign-out', async () => {
    const { refresh, signOut, sessions } = await start()
    const { refreshToken } = bodyOf(await refresh(OLD))
    expect((await signOut(refreshToken)).status).toBe(204)
    expectForbidden(await refresh(OLD))
    expect(await sessions.list(ALICE)).toEqual([])
  })

  it('signs out, before and after it was replaced', async () => {
    const { refresh, signOut, rows, sessions, calls } = await start()
    expect((await signOut(OLD)).status).toBe(204)
    expect([rows.size, calls]).toEqual([0, ['find', 'remove']])
    expectForbidden(await refresh(OLD))
    rows.set(OLD, { accountId: ALICE, signedInAt: SIGNED_IN })
    bodyOf(await refresh(OLD))
    expect((await signOut(OLD)).status).toBe(204)
    expect(await sessions.list(ALICE)).toEqual([])
  })

  it('of a sign-out that nobody knows removes nothing, within the limits', async () => {
    const { refresh, signOut, calls } = await start()
    expect((await signOut('unknown')).status).toBe(204)
    expect(calls).toEqual(['find'])
    for (let i = 1; i < 100; i++) await refresh('unknown')
    expect((await signOut('unknown')).status).toBe(503)
  })

  it('is refused after "until", when it is unknown, and when it is too long or empty', async () => {
    const { refresh, time, calls, events } = await start()
    expectForbidden(await refresh('unknown'))
    expect(events).toMatchObject([{ type: 'token.refused', reason: 'malformed' }])
    expect(calls).toEqual(['find'])
    for (const text of ['', 'x'.repeat(4097), 'a\u0000', 'ä']) expectForbidden(await refresh(text))
    time.now += 1000 * MINUTE
    expectForbidden(await refresh(OLD))
    expect(calls).toEqual(['find'])
  })

  it('is found after the secret was replaced', async () => {
    const store = memorySessions()
    const first = await start({ store })
    bodyOf(await first.refresh(OLD))
    const second = await start({ store, secret: ['another '.repeat(4), SECRET] })
    second.rows.clear()
    bodyOf(await second.refresh(OLD))
    expect(await second.sessions.list(ALICE)).toHaveLength(1)
  })
})

describe('an old refresh token of an account', () => {
  it.each([
    ['disabled', { disabled: true }, 'account_disabled'],
    ['that ended its tokens since the sign-in', { tokensValidAfter: new Date(+SIGNED_IN + 1) }, 'superseded'],
  ])('%s is refused, and leaves its row and no session', async (_, account, reason) => {
    const { refresh, events, rows, sessions } = await start({ account })
    expectForbidden(await refresh(OLD))
    expect(events).toMatchObject([{ type: 'token.refused', reason, accountId: ALICE }])
    expect([rows.size, await sessions.list(ALICE)]).toEqual([1, []])
  })

  it('whose sign-in is older than tokensValidAfter by its default', async () => {
    const { refresh, rows } = await start({ account: { tokensValidAfter: new Date(1000) } })
    rows.set(OLD, { accountId: ALICE })
    expectForbidden(await refresh(OLD))
    rows.set(OLD, { accountId: ALICE, signedInAt: SIGNED_IN })
    bodyOf(await refresh(OLD))
  })

  it('that is unknown is refused', async () => {
    const { refresh, rows, events } = await start()
    rows.set(OLD, { accountId: 'nobody' })
    expectForbidden(await refresh(OLD))
    expect(events).toMatchObject([{ reason: 'unknown_account' }])
  })

  it('whose rows were deleted meanwhile is refused, and leaves no session', async () => {
    const setup = await start({
      old: {
        async find(token) {
          const row = setup.rows.get(token)
          setup.rows.delete(token)
          return row
        },
      },
    })
    expectForbidden(await setup.refresh(OLD))
    expect(setup.events).toMatchObject([{ type: 'session.started' }, { type: 'session.ended' }, { reason: 'ended' }])
    expect(await setup.sessions.list(ALICE)).toEqual([])
  })

  it('whose row moved to another account meanwhile is refused', async () => {
    const ids = [ALICE, 'other']
    const { refresh, sessions } = await start({ old: { find: () => ({ accountId: ids.shift() ?? '' }) } })
    expectForbidden(await refresh(OLD))
    expect(await sessions.list(ALICE)).toEqual([])
  })

  it('whose password was changed meanwhile is refused', async () => {
    let calls = 0
    const setup = await start({
      old: {
        find(token) {
          if (++calls === 2) setup.alice.passwordHash = 'plain:another'
          return setup.rows.get(token)
        },
      },
    })
    expectForbidden(await setup.refresh(OLD))
    expect(await setup.sessions.list(ALICE)).toEqual([])
  })
})

describe('a failure', () => {
  it.each([
    ['throws', () => Promise.reject(new Error('down'))],
    ['hangs', hang],
    ['returns a text', () => ALICE],
    ['returns no account', () => ({})],
    ['returns a time in the future', () => ({ accountId: ALICE, signedInAt: new Date(NOW + 60_001) })],
    ['returns an invalid time', () => ({ accountId: ALICE, signedInAt: 'yesterday' })],
    ['returns an invalid member', () => ({ accountId: ALICE, remember: 1 })],
    ['returns an invalid name', () => ({ accountId: ALICE, label: 1 })],
  ])('of find, which %s, is 503 and leaves the row', async (_, find) => {
    const { refresh, events, rows, sessions } = await start({ old: { find: find as never }, timeout: '20ms' })
    expectUnavailable(await refresh(OLD))
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'hook', option: 'oldRefreshTokens' }])
    expect([rows.size, await sessions.list(ALICE)]).toEqual([1, []])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('down'))],
    ['hangs', hang],
  ])('of remove, which %s, is 503, and the same token works later', async (_, remove) => {
    let isDown = true
    const setup = await start({
      timeout: '20ms',
      old: { remove: (token) => (isDown ? remove() : setup.rows.delete(token)) },
    })
    expectUnavailable(await setup.refresh(OLD))
    setup.time.now += MINUTE
    expectUnavailable(await setup.refresh(OLD))
    isDown = false
    setup.time.now += MINUTE
    bodyOf(await setup.refresh(OLD))
    expect([setup.rows.size, (await setup.sessions.list(ALICE)).length]).toEqual([0, 1])
  })

  it('of the store is 503, and the same token works later', async () => {
    const store = memorySessions()
    const { add } = store
    store.add = () => Promise.reject(new Error('down'))
    const { refresh, rows } = await start({ store })
    expectUnavailable(await refresh(OLD))
    expect(rows.size).toBe(1)
    store.add = add
    bodyOf(await refresh(OLD))
  })

  it('of the store after it has stored the session is none', async () => {
    const store = memorySessions()
    const { add } = store
    store.add = async (session) => {
      await add(session)
      throw new Error('connection lost')
    }
    const { refresh } = await start({ store })
    bodyOf(await refresh(OLD))
  })
})

describe('the limits', () => {
  it('of unknown texts hold for one network, and are 503', async () => {
    const { refresh, calls } = await start()
    const guess = (address: string) => refresh('guess', { 'x-forwarded-for': address })
    for (let i = 0; i < 100; i++) expectForbidden(await guess('192.0.2.1'))
    const refused = await guess('192.0.2.1')
    expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([503, expect.any(Number)])
    expect(calls).toHaveLength(100)
    expectForbidden(await guess('192.0.2.2'))
    bodyOf(await refresh(OLD, { 'x-forwarded-for': '192.0.2.3' }))
  })

  it('of calls in progress hold for one network', async () => {
    const gate = deferred<void>()
    const { refresh } = await start({ old: { find: () => gate.promise.then(() => undefined) } })
    const at = (address: string) => refresh(OLD, { 'x-forwarded-for': address })
    const waiting = Array.from({ length: 33 }, () => at('192.0.2.1'))
    const first = await Promise.race(waiting)
    expect(first.status).toBe(503)
    const other = at('192.0.2.2')
    gate.resolve()
    expectForbidden(await other)
    expect((await Promise.all(waiting)).filter(({ status }) => status === 403)).toHaveLength(32)
  })
})

describe('an old refresh token in a cookie', () => {
  const cookie = { name: 'jid', path: '/auth', domain: 'example.com' }
  const DELETED = 'jid=; Path=/auth; Domain=example.com; Max-Age=0; HttpOnly'

  it('is replaced by our cookie and deleted', async () => {
    const { withCookie, calls } = await start({ mode: 'cookie', old: { cookie } })
    const [deleted, ours, ...others] = setCookies(await withCookie('/refresh', `jid=${OLD}`)).reverse()
    expect([deleted, others]).toEqual([DELETED, []])
    expect(ours).toMatch(/^__Secure-refresh=[\w-]{43}\.1\./)
    const next = await withCookie('/refresh', `jid=another; ${ours?.split(';')[0]}`)
    expect(setCookies(next).at(-1)).toBe(DELETED)
    expect(calls).toEqual(['find', 'find', 'remove'])
  })

  it('is decoded as cookie-parser does, and an invalid code stays', async () => {
    const found: string[] = []
    const { withCookie } = await start({
      mode: 'cookie',
      old: { cookie: { name: '__Host-jid' }, find: (token) => void found.push(token) },
    })
    const refused = await withCookie('/refresh', '__Host-jid=a%2Fb')
    await withCookie('/refresh', '__Host-jid=%zz')
    expect(found).toEqual(['a/b', '%zz'])
    expectForbidden(refused)
    expect(setCookies(refused)).toEqual(['__Host-jid=; Path=/; Max-Age=0; HttpOnly; Secure'])
  })

  it('is not read for a page of another site, in another mode, or without the option "cookie"', async () => {
    const first = await start({ mode: 'cookie', old: { cookie } })
    const foreign = await first.withCookie('/refresh', `jid=${OLD}`, { 'sec-fetch-site': 'cross-site' })
    expect([foreign.status, first.calls]).toEqual([403, []])
    const second = await start({ mode: 'cookie' })
    expect((await second.withCookie('/refresh', `jid=${OLD}`)).status).toBe(204)
    const third = await start({ old: { cookie } })
    expect((await third.withCookie('/refresh', `jid=${OLD}`)).status).toBe(415)
    expect([second.calls, third.calls]).toEqual([[], []])
  })

  it('next to a different one is refused, and none is deleted', async () => {
    const { withCookie, calls, events } = await start({ mode: 'cookie', old: { cookie } })
    const refused = await withCookie('/refresh', `jid=${OLD}; jid=of-a-thief`)
    expectForbidden(refused)
    expect([setCookies(refused), calls]).toEqual([[], []])
    expect(events).toMatchObject([{ reason: 'several_cookies' }])
  })

  it('stays while a dependency is down', async () => {
    const { withCookie } = await start({
      mode: 'cookie',
      old: { cookie, find: () => Promise.reject(new Error('down')) },
    })
    const failed = await withCookie('/refresh', `jid=${OLD}`)
    expectUnavailable(failed)
    expect(setCookies(failed)).toEqual([])
  })

  it('is removed by a sign-out, also next to our cookie', async () => {
    const { withCookie, rows } = await start({ mode: 'cookie', old: { cookie } })
    const signedOut = await withCookie('/sign-out', `jid=${OLD}`)
    expect([signedOut.status, rows.size]).toEqual([204, 0])
    expect(setCookies(signedOut)).toEqual([DELETED, expect.stringMatching(/^__Secure-refresh=;/)])
  })
})

/** Holds one of the calls of a function, until it is released. */
function holdCall(number: number) {
  const [reached, released] = [deferred<void>(), deferred<void>()]
  let calls = 0
  return {
    reached: reached.promise,
    release: released.resolve,
    /** Waits if this is the call. Returns whether it has waited. */
    async wait(): Promise<boolean> {
      if (++calls !== number) return false
      reached.resolve()
      await released.promise
      return true
    },
  }
}

describe('a race', () => {
  it('with a sign-out that comes between leaves no session', async () => {
    const first = holdCall(1)
    const setup = await start({
      old: {
        async find(token) {
          const row = setup.rows.get(token)
          await first.wait()
          return row
        },
      },
    })
    const slow = setup.refresh(OLD)
    await first.reached
    const { refreshToken } = bodyOf(await setup.refresh(OLD))
    expect((await setup.signOut(refreshToken)).status).toBe(204)
    first.release()
    expectForbidden(await slow)
    expect(await setup.sessions.list(ALICE)).toEqual([])
    expectForbidden(await setup.refresh(refreshToken))
  })

  it('with a request that starts the session, moves it on and removes the row before the other asks for the row', async () => {
    const first = holdCall(1)
    const store = memorySessions()
    const setup = await start({
      store: {
        ...store,
        // The first request finds no session, and is slow to hear it.
        async find(id) {
          const found = await store.find(id)
          await first.wait()
          return found
        },
      },
    })
    const slow = setup.refresh(OLD)
    await first.reached
    const { refreshToken } = bodyOf(await setup.refresh(OLD))
    expect(setup.rows.has(OLD)).toBe(false)
    first.release()
    expect(bodyOf(await slow).refreshToken).toBe(refreshToken)
    expect(await setup.sessions.list(ALICE)).toHaveLength(1)
  })

  it('with a request that has moved the session on gets the same refresh token', async () => {
    // The second call of the first request.
    const second = holdCall(2)
    const setup = await start({
      old: {
        async find(token) {
          const row = setup.rows.get(token)
          return (await second.wait()) ? setup.rows.get(token) : row
        },
      },
    })
    const slow = setup.refresh(OLD)
    await second.reached
    const { refreshToken } = bodyOf(await setup.refresh(OLD))
    second.release()
    await settled()
    expect(bodyOf(await slow).refreshToken).toBe(refreshToken)
  })
})

describe('the option oldRefreshTokens', () => {
  const options = { find: () => undefined, remove() {}, until: new Date() }

  it.each([
    ['another value', true, '{ find, remove, until }'],
    ['no find', { ...options, find: undefined }, 'option "find"'],
    ['no remove', { ...options, remove: undefined }, 'option "remove"'],
    ['the name "used"', { ...options, used() {} }, '"remove"'],
    ['an invalid until', { ...options, until: '2030' }, 'option "until"'],
    ['a cookie name', { ...options, cookie: 'jid' }, '{ name, path }'],
    ['an invalid path', { ...options, cookie: { name: 'jid', path: 'a;b' } }, 'the path of the cookie'],
    ['an invalid domain', { ...options, cookie: { name: 'jid', domain: 'a;b' } }, 'the domain of the cookie'],
  ])('is checked: %s', async (_, oldRefreshTokens, message) => {
    await expect(start({ ...({ oldRefreshTokens } as object) })).rejects.toThrow(message)
  })

  it('needs refresh', async () => {
    await expect(start({ ...({ refresh: undefined } as object) })).rejects.toThrow(
      'option "oldRefreshTokens" needs "refresh"',
    )
  })
})
