import express from 'express'
import { memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { authWith } from '../../support/auth.js'
import { fromBase32 } from '../../support/base32.js'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { asJson, expectProblem } from '../../support/host.js'
import { client, listen, TOKEN_PATH } from '../../support/http.js'
import { cookieOf, membersOf, startRefreshHost } from '../../support/refresh-host.js'

const { alice, bob } = ACCOUNTS
const MINUTE = 60_000
const NOW = Date.parse('2026-01-01T00:00:00Z')

/** Starts two processes with one store and one table, whose functions continue in a random order. */
async function startProcesses(random: () => number) {
  const time = { now: NOW }
  const rows = new Map([
    ['old-of-alice', alice.id],
    ['old-of-bob', bob.id],
  ])
  const slow = async () => {
    for (let turns = random() * 6; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
  }
  const store = memoryStore()
  const accounts = { findByEmail: () => undefined, findById: (id: string) => [alice, bob].find((one) => one.id === id) }
  async function startProcess() {
    const auth = authWith({
      accounts,
      store,
      secret: SECRET,
      clock: () => time.now,
      refresh: 'body',
      oldRefreshTokens: {
        async find(token) {
          const accountId = rows.get(token)
          await slow()
          return accountId === undefined ? undefined : { accountId }
        },
        async remove(token) {
          await slow()
          rows.delete(token)
        },
        until: new Date(NOW + 1000 * MINUTE),
      },
    })
    const { port } = await listen(express().use(auth.router))
    const send = client(port)
    return async (path: string, refreshToken: string) => {
      const { status, body } = await send({ method: 'POST', path: TOKEN_PATH + path, ...asJson({ refreshToken }) })
      return { status, next: status === 200 ? (JSON.parse(body).refreshToken as string) : undefined }
    }
  }
  const processes = [await startProcess(), await startProcess()]
  const call = (path: string, token: string) =>
    (processes[Math.floor(random() * 2)] as (typeof processes)[0])(path, token)
  return { call, time, rows, sessions: store.sessions }
}

/** Returns a generator of the same numbers for the same seed. */
function randomOf(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1)

describe('somebody who has copied an old refresh token', () => {
  it.each(SEEDS)('and sends it at the same time as its owner makes no second session, seed %i', async (seed) => {
    const { call, rows, sessions } = await startProcesses(randomOf(seed))
    const results = await Promise.all(Array.from({ length: 6 }, () => call('/refresh', 'old-of-alice')))
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(results.map(({ next }) => next)).size).toBe(1)
    expect([[...rows.keys()], (await sessions.list(alice.id)).length]).toEqual([['old-of-bob'], 1])
  })

  it.each(SEEDS)('leaves no session when the owner signs out at the same time, seed %i', async (seed) => {
    const { call, rows, sessions } = await startProcesses(randomOf(seed))
    const thief = Array.from({ length: 4 }, () => call('/refresh', 'old-of-alice'))
    expect((await call('/sign-out', 'old-of-alice')).status).toBe(204)
    const stolen = (await Promise.all(thief)).flatMap(({ next }) => next ?? [])
    for (const token of [...stolen, 'old-of-alice']) expect((await call('/refresh', token)).status).toBe(403)
    expect([rows.has('old-of-alice'), await sessions.list(alice.id)]).toEqual([false, []])
  })

  it('is noticed when both use the session, and both lose it', async () => {
    const { call, time, sessions } = await startProcesses(randomOf(1))
    let [owner, thief] = ['old-of-alice', 'old-of-alice']
    let refused = 0
    for (let i = 0; i < 4; i++) {
      time.now += MINUTE
      const ofOwner = await call('/refresh', owner)
      time.now += MINUTE
      const ofThief = await call('/refresh', thief)
      refused += [ofOwner, ofThief].filter(({ status }) => status === 403).length
      owner = ofOwner.next ?? owner
      thief = ofThief.next ?? thief
    }
    expect(refused).toBeGreaterThanOrEqual(4)
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('gets no session of another account', async () => {
    const { call, sessions } = await startProcesses(randomOf(1))
    const { next } = await call('/refresh', 'old-of-bob')
    const [session] = await sessions.list(bob.id)
    // The first generation is the old token, so this package signs no token of it.
    for (const guess of [session?.id ?? '', `${session?.id}.0.${'A'.repeat(43)}`, next?.replace('.1.', '.0.') ?? ''])
      expect((await call('/refresh', guess)).status).toBe(403)
    expect(await sessions.list(alice.id)).toEqual([])
  })
})

describe('somebody who has several old refresh tokens of an account', () => {
  it('has no more sessions than maxPerAccount allows', async () => {
    const { refresh, signIn, sessions, events, wait } = await startRefreshHost({
      maxPerAccount: 2,
      oldRefreshTokens: { find: () => ({ accountId: alice.id }), remove() {}, until: new Date('2099-01-01') },
    })
    await signIn()
    for (const token of ['first', 'second', 'third']) {
      wait(1000)
      expect((await refresh(token)).status).toBe(200)
      expect((await sessions.list(alice.id)).length).toBeLessThanOrEqual(2)
    }
    expect(events.filter((event) => 'reason' in event && event.reason === 'maximum')).toHaveLength(2)
  })
})

describe('somebody in the network of a user who has sent 100 unknown texts', () => {
  it('does not keep the user signed in, whose browser still has an old cookie', async () => {
    const host = await startRefreshHost({
      refresh: 'cookie',
      oldRefreshTokens: { find: () => undefined, remove() {}, until: new Date('2099-01-01'), cookie: { name: 'jid' } },
    })
    const { post, withCookie, sessions } = host
    const answer = await post('', { email: alice.email, password: PASSWORD }, { 'sec-fetch-site': 'same-origin' })
    for (let i = 0; i < 100; i++) await withCookie('/refresh', `jid=${i}`)
    expect((await withCookie('/refresh', 'jid=100')).status).toBe(503)
    const both = `jid=100; ${cookieOf(answer)}`
    expect((await withCookie('/refresh', both)).status).toBe(200)
    expect((await withCookie('/sign-out', both)).status).toBe(503)
    expect(await sessions.list(alice.id)).toEqual([])
  })
})

describe('somebody who has the password and a new refresh token of the old system', () => {
  it.each([false, true])('cannot change a second factor without a code, where the account has one: %s', async (has) => {
    const auth = authWith({
      accounts: { findByEmail: () => alice, findById: () => alice },
      store: memoryStore(),
      secret: SECRET,
      secondFactor: true,
      refresh: 'body',
      oldRefreshTokens: {
        find: () => ({ accountId: alice.id, signedInAt: new Date() }),
        remove() {},
        until: new Date('2099-01-01'),
      },
    })
    const send = client((await listen(express().use(auth.router))).port)
    const tokenOf = async (path: string, body: object) => {
      const answer = await send({ method: 'POST', path: TOKEN_PATH + path, ...asJson(body) })
      return { authorization: `Bearer ${membersOf(answer).authenticationToken}` }
    }
    const path = '/auth/account/totp'
    if (has) {
      const owner = await tokenOf('', { email: alice.email, password: PASSWORD })
      const begun = await send({ method: 'POST', path, headers: owner })
      const otp = totpAt(fromBase32(JSON.parse(begun.body).secret), stepAt(Date.now()))
      const { headers, ...confirm } = asJson({ otp })
      const sent = { method: 'POST', path: `${path}/confirm`, ...confirm, headers: { ...headers, ...owner } }
      expect((await send(sent)).status).toBe(200)
    }
    const thief = await tokenOf('/refresh', { refreshToken: 'old' })
    for (const [method, below] of [
      ['DELETE', ''],
      ['POST', ''],
      ['POST', '/confirm'],
    ] as const)
      expectProblem(
        await send({
          method,
          path: path + below,
          ...asJson({ otp: '000000' }),
          headers: { ...asJson({}).headers, ...thief },
        }),
        401,
        'insufficient_user_authentication',
        'Unauthorized',
      )
  })
})
