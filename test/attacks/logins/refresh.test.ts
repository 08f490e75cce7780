import express from 'express'
import type { SessionStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { authWith } from '../../support/auth.js'
import { deferred, statuses } from '../../support/concurrency.js'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { expectForbidden, expectUnavailable } from '../../support/host.js'
import { client, listen } from '../../support/http.js'
import { bearer } from '../../support/plain-js/http-client.mjs'
import { claimsOf, cookieOf, membersOf, setCookies, startRefreshHost } from '../../support/refresh-host.js'
import { memorySessions } from '../../support/sessions.js'

const MINUTE = 60_000

/** A store whose next call of a method waits until the test lets it continue. */
function pausingStore() {
  const store = memorySessions()
  let pause: { method: string; reached: () => void; go: Promise<unknown> } | undefined
  const paused = new Proxy(store, {
    get(target, name, self) {
      const method = Reflect.get(target, name, self) as (...args: unknown[]) => unknown
      return async (...args: unknown[]) => {
        const own = pause?.method === name ? pause : undefined
        if (own) {
          pause = undefined
          own.reached()
          await own.go
        }
        return method(...args)
      }
    },
  })
  /** Pauses the next call of a method. Returns when it is reached, with the function that continues it. */
  function pauseAt(method: keyof SessionStore) {
    const [reached, go] = [deferred<void>(), deferred<void>()]
    pause = { method, reached: () => reached.resolve(), go: go.promise }
    return { reached: reached.promise, go: () => go.resolve() }
  }
  return { store: paused, pauseAt }
}

describe('a refresh that is under way', () => {
  it.each<
    [string, (host: Awaited<ReturnType<typeof startRefreshHost>>, token: string, refreshToken: string) => unknown]
  >([
    ['the session is signed out', ({ signOut }, _, refreshToken) => signOut(refreshToken)],
    ['all sessions end', ({ sessions, alice }) => sessions.endAll(alice.id)],
    [
      'the user ends the session',
      ({ sessions, alice }, token) => sessions.end({ accountId: alice.id }, claimsOf(token).sid),
    ],
    ['all other sessions end', ({ sessions, alice }) => sessions.endOthers({ accountId: alice.id, id: 'other' })],
  ])('gives no token when %s meanwhile', async (_, end) => {
    const { store, pauseAt } = pausingStore()
    const host = await startRefreshHost({ store })
    const { authenticationToken, refreshToken } = membersOf(await host.signIn())
    const { reached, go } = pauseAt('replace')
    const under = host.refresh(refreshToken)
    await reached
    await end(host, authenticationToken, refreshToken)
    go()
    expectForbidden(await under)
    expect((await host.get('/me', authenticationToken)).status).toBe(401)
    expect(await host.sessions.list(host.alice.id)).toEqual([])
  })

  it('does not undo that the session is kept after a change of the password', async () => {
    const { store, pauseAt } = pausingStore()
    const { signIn, refresh, change, sessions, alice } = await startRefreshHost({ store })
    const { authenticationToken, refreshToken } = membersOf(await signIn())
    const { sid: sessionId, jti: id } = claimsOf(authenticationToken)
    const { reached, go } = pauseAt('replace')
    const under = refresh(refreshToken)
    await reached
    change({ passwordHash: 'plain:changed' })
    await sessions.endOthers({ accountId: alice.id, id, sessionId })
    go()
    const next = membersOf(await under).refreshToken
    expect((await refresh(next)).status).toBe(200)
  })

  it('does not carry a session over a change of the password that ends no session', async () => {
    const { store, pauseAt } = pausingStore()
    const { signIn, refresh, change } = await startRefreshHost({ store })
    const { refreshToken } = membersOf(await signIn())
    const { reached, go } = pauseAt('replace')
    const under = refresh(refreshToken)
    await reached
    change({ passwordHash: 'plain:changed' })
    go()
    expectForbidden(await refresh(membersOf(await under).refreshToken))
  })

  it('ends no newer session when the account signs in as often as it may', async () => {
    const { store, pauseAt } = pausingStore()
    const { signIn, refresh, sessions, alice } = await startRefreshHost({
      store,
      maxPerAccount: 2,
    })
    const first = membersOf(await signIn()).refreshToken
    const { reached, go } = pauseAt('replace')
    const under = refresh(first)
    await reached
    await signIn()
    const last = membersOf(await signIn()).refreshToken
    go()
    expectForbidden(await under)
    expect((await refresh(last)).status).toBe(200)
    expect(await sessions.list(alice.id)).toHaveLength(2)
  })
})

describe('a thief who has copied a refresh token', () => {
  it('does not survive a change of the password by signing the other devices out', async () => {
    const { signIn, refresh, change, send } = await startRefreshHost()
    const copied = membersOf(await signIn())
    const thief = membersOf(await refresh(copied.refreshToken))
    const endOthers = async () => {
      const sent = { ...bearer(thief.authenticationToken, '/sessions'), method: 'DELETE' }
      expect((await send(sent)).status).toBe(204)
    }
    await endOthers()
    change({ passwordHash: 'plain:changed' })
    await endOthers()
    expectForbidden(await refresh(thief.refreshToken))
  })

  it('gets no more tokens than two after the first exchange outside of grace, at any step', async () => {
    for (const before of [0, 1, 2]) {
      const { signIn, refresh, wait } = await startRefreshHost()
      let owner = membersOf(await signIn()).refreshToken
      for (let i = 0; i < before; i++) {
        owner = membersOf(await refresh(owner)).refreshToken
        wait(MINUTE)
      }
      let thief = owner
      const results: number[] = []
      for (let i = 0; i < 4; i++) {
        const first = await refresh(thief)
        wait(MINUTE)
        const other = await refresh(owner)
        wait(MINUTE)
        results.push(first.status, other.status)
        if (first.status === 200) thief = membersOf(first).refreshToken
        if (other.status === 200) owner = membersOf(other).refreshToken
      }
      expect(results).toEqual([200, 200, 403, 403, 403, 403, 403, 403])
    }
  })

  it('cannot use the refresh token of another account’s session, nor swap the ids', async () => {
    const { signIn, refresh } = await startRefreshHost()
    const alice = membersOf(await signIn()).refreshToken.split('.')
    const bob = membersOf(await signIn(ACCOUNTS.bob)).refreshToken.split('.')
    expectForbidden(await refresh([alice[0], '0', bob[2]].join('.')))
    expectForbidden(await refresh([bob[0], '0', alice[2]].join('.')))
  })

  it('cannot sign in with the password of before, and cannot keep a session that began with it', async () => {
    const { signIn, refresh, change, sessions, alice } = await startRefreshHost()
    const { refreshToken } = membersOf(await signIn())
    change({ passwordHash: 'plain:changed', tokensValidAfter: new Date(Date.parse('2026-01-01T00:00:01Z')) })
    expectForbidden(await refresh(refreshToken))
    expectForbidden(await signIn())
    expect(await sessions.list(alice.id)).toEqual([])
  })
})

describe('a session and its tokens', () => {
  it('a refreshed access token is refused by guards with sessions after a sign-out', async () => {
    const { signIn, refresh, signOut, get } = await startRefreshHost()
    const first = membersOf(await signIn())
    const second = membersOf(await refresh(first.refreshToken))
    expect((await get('/me', second.authenticationToken)).status).toBe(200)
    await signOut(second.refreshToken)
    for (const { authenticationToken } of [first, second])
      expect((await get('/me', authenticationToken)).status).toBe(401)
  })

  it('a token does not outlive its session by more than a second', async () => {
    const { signIn, refresh, wait, time } = await startRefreshHost({ options: { idle: '3m', longest: '5m' } })
    const end = time.now + 5 * MINUTE
    let { refreshToken, expiration } = membersOf(await signIn())
    expect(Date.parse(expiration)).toBeLessThanOrEqual(time.now + 3 * MINUTE)
    for (const ms of [2 * MINUTE, 2 * MINUTE, MINUTE - 100]) {
      wait(ms)
      const next = membersOf(await refresh(refreshToken))
      refreshToken = next.refreshToken
      expect(Date.parse(next.expiration)).toBeLessThanOrEqual(end + 1000)
    }
  })

  it('the id of a session is chosen by the server at each sign-in, also with a cookie of an earlier session', async () => {
    const { signIn, post, sessions, alice } = await startRefreshHost({ refresh: 'cookie' })
    const cookie = cookieOf(await signIn())
    const credentials = { email: alice.email, password: PASSWORD }
    const answer = await post('', { ...credentials, sid: 'mine', refreshToken: cookie.split('=')[1] }, { cookie })
    expect(cookieOf(answer).split('.')[0]).not.toBe(cookie.split('.')[0])
    expect(await sessions.list(alice.id)).toMatchObject([{ id: cookieOf(answer).split('=')[1]?.split('.')[0] }])
  })

  it('a rolled-back store neither signs the owner out nor hides a thief', async () => {
    const store = memorySessions()
    const { signIn, refresh, wait, ended } = await startRefreshHost({ store })
    const first = membersOf(await signIn()).refreshToken
    const id = first.split('.')[0] as string
    const backup = { ...(store.find(id) as never as Parameters<typeof store.add>[0]) }
    let owner = first
    let copied = ''
    for (let i = 0; i < 3; i++) {
      wait(MINUTE)
      owner = membersOf(await refresh(owner)).refreshToken
      if (i === 1) copied = owner
    }
    store.remove(id, backup.accountId)
    store.add(backup)
    wait(MINUTE)
    owner = membersOf(await refresh(owner)).refreshToken
    wait(MINUTE)
    owner = membersOf(await refresh(owner)).refreshToken
    expectForbidden(await refresh(copied))
    expect(ended()).toEqual([expect.objectContaining({ reason: 'reused' })])
  })
})

describe('a store that lies', () => {
  const lies: [string, keyof SessionStore, () => unknown][] = [
    [
      'throws at once',
      'find',
      () => {
        throw new Error('down')
      },
    ],
    ['returns a text', 'find', () => 'session'],
    ['returns an array', 'find', () => []],
    ['returns a state of another form', 'find', () => ({ ...DATES, accountId: 'acc-1', refresh: '2.0.00.' })],
    [
      'returns a state that is no text',
      'find',
      () => ({ ...DATES, accountId: 'acc-1', refresh: { toString: () => '1.0.01.' } }),
    ],
    ['returns a session of no account', 'find', () => ({ ...DATES, accountId: '', refresh: '1.0.01.' })],
    [
      'returns dates as texts',
      'find',
      () => ({ accountId: 'acc-1', refresh: '1.0.01.', createdAt: '2026', expiresAt: '2027', lastUsedAt: '2026' }),
    ],
    [
      'throws at once while it changes',
      'replace',
      () => {
        throw new Error('down')
      },
    ],
    ['returns a number of rows', 'replace', () => 1],
    ['returns nothing', 'replace', () => undefined],
    ['always loses the race', 'replace', () => false],
  ]
  const DATES = { createdAt: new Date(0), expiresAt: new Date(4e12), lastUsedAt: new Date(0) }

  it.each(lies)('%s: 503, the cookie stays and the refresh token too (%s)', async (_, method, lie) => {
    const store = memorySessions()
    let isLying = false
    const lying = new Proxy(store, {
      get: (target, name, self) => (isLying && name === method ? lie : Reflect.get(target, name, self)),
    })
    const { signIn, withCookie } = await startRefreshHost({ refresh: 'cookie', store: lying })
    const cookie = cookieOf(await signIn())
    isLying = true
    const answer = await withCookie('/refresh', cookie)
    expect(answer.status).toBe(503)
    expect(setCookies(answer)).toEqual([])
    isLying = false
    expect((await withCookie('/refresh', cookie)).status).toBe(200)
  })

  it('hangs: 503 after the time limit of the sessions, and no queue slot is lost', async () => {
    const store = memorySessions()
    let hangs = false
    const find: SessionStore['find'] = (id) => (hangs ? new Promise<never>(() => {}) : store.find(id))
    const { signIn, refresh } = await startRefreshHost({ store: { ...store, find }, timeout: '1ms' })
    const { refreshToken } = membersOf(await signIn())
    hangs = true
    const answers = await Promise.all(Array.from({ length: 100 }, () => refresh(refreshToken)))
    expect(statuses(answers)).toEqual({ 503: 100 })
    hangs = false
    expect((await refresh(refreshToken)).status).toBe(200)
  })
})

it('the account that a look-up returns for another id is not signed in', async () => {
  const { accounts, store, signIn, time } = await startRefreshHost()
  const clock = () => time.now
  const { refreshToken } = membersOf(await signIn())
  const wrong = { ...accounts, findById: () => ACCOUNTS.bob }
  const ofSessions = { store: { sessions: store }, secret: SECRET, refresh: 'body' as const }
  const { router } = authWith({ accounts: wrong, clock, ...ofSessions, paths: { token: '/token' } })
  const { port } = await listen(express().use(router))
  const body = JSON.stringify({ refreshToken })
  expectUnavailable(
    await client(port)({ path: '/token/refresh', headers: { 'Content-Type': 'application/json' }, body }),
  )
})

it('a clock that was far ahead does not stop the rotation', async () => {
  const { signIn, refresh, wait, ended } = await startRefreshHost({ options: { idle: '366d', longest: '3000d' } })
  let { refreshToken } = membersOf(await signIn())
  wait(300 * 86_400_000)
  for (let i = 0; i < 9; i++) refreshToken = membersOf(await refresh(refreshToken)).refreshToken
  wait(-299 * 86_400_000)
  const copied = refreshToken
  for (let i = 0; i < 3; i++) {
    refreshToken = membersOf(await refresh(refreshToken)).refreshToken
    wait(MINUTE)
  }
  expectForbidden(await refresh(copied))
  expect(ended()).toHaveLength(1)
})
