import express from 'express'
import {
  type Account,
  type AccountStore,
  type AuthEvent,
  createPasswords,
  createThrottle,
  type RequireBearerOptions,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all, deferred, settled, statuses, until } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  countingHasher,
  fastPasswords,
  frozenClock,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import { expectUnavailable, unhandledRejections } from '../../support/host.js'
import { bearer, client, flood, listen, login } from '../../support/http.js'
import {
  FAILURES,
  hang,
  INVALID_BY_EMAIL,
  INVALID_BY_ID,
  INVALID_REVOKED,
  NOT_TRUE,
} from '../../support/invalid-results.js'

const { alice } = ACCOUNTS
const good = login(alice.email, PASSWORD)
const wrong = login(alice.email, 'guess')

/** An app whose parts can be set while it runs. */
async function start(options: Partial<TokenRouterOptions> = {}, guard: Partial<RequireBearerOptions> = {}) {
  const events: AuthEvent[] = []
  const forwarded: unknown[] = []
  const store = makeStore()
  const parts = {
    findByEmail: store.findByEmail as (email: string) => unknown,
    findById: store.findById as (id: string) => unknown,
    isRevoked: (() => false) as () => unknown,
  }
  const accounts = {
    findByEmail: (email: string) => parts.findByEmail(email),
    findById: (id: string) => parts.findById(id),
  } as Required<Pick<AccountStore, 'findByEmail' | 'findById'>>
  const hasher = countingHasher()
  const tokens = makeIssuer()
  const shared = { tokens, accounts, timeout: '30ms', onEvent: (event: AuthEvent) => events.push(event) }
  const app = express()
  app.use(tokenRouter({ ...shared, passwords: fastPasswords(hasher), throttle: false, ...options }))
  let handled = 0
  app.get('/in', requireBearer({ ...shared, isRevoked: () => parts.isRevoked() as boolean, ...guard }), (_req, res) => {
    handled++
    res.end('in')
  })
  app.use(((error, _req, res, _next) => {
    forwarded.push(error)
    res.status(error.status).end()
  }) satisfies express.ErrorRequestHandler)
  const send = client((await listen(app)).port)
  const { token } = tokens.issue({ accountId: alice.id })
  return { send, parts, events, forwarded, hasher, handled: () => handled, ask: () => send(bearer(token, '/in')) }
}

describe('a store that, by e-mail,', () => {
  it.each(INVALID_BY_EMAIL)('%s: 503, and then service goes on', async (_, findByEmail) => {
    const caught = unhandledRejections()
    const { send, parts, events } = await start()
    parts.findByEmail = findByEmail
    const answers = await all(20, () => send(good))
    for (const answer of answers) expectUnavailable(answer)
    expect(events).toHaveLength(20)
    for (const event of events) expect(event).toMatchObject({ type: 'dependency.failed', refused: true })
    parts.findByEmail = makeStore().findByEmail
    expect(await send(good)).toMatchObject({ status: 200 })
    expect(await send(wrong)).toMatchObject({ status: 403 })
    await settled()
    expect(caught).toEqual([])
  })

  it.each(FAILURES)('%s, with forwardErrors: the host’s handler is told, and no budget is spent', async (_, fail) => {
    const { send, parts, forwarded } = await start({ forwardErrors: true, throttle: createThrottle() })
    parts.findByEmail = fail
    for (let i = 0; i < 3; i++) expect(statuses(await all(10, () => send(wrong)))).toEqual({ 503: 10 })
    expect(forwarded).toEqual(Array(30).fill(expect.objectContaining({ code: 'unavailable', dependency: 'accounts' })))
    parts.findByEmail = makeStore().findByEmail
    expect(statuses(await all(20, () => send(wrong)))).toEqual({ 403: 10, 429: 10 })
  })

  it.each([
    ['the account', alice],
    ['nothing', undefined],
    ['a lie', 1],
  ])('answers %s after its time: nothing comes of it', async (_, late) => {
    const caught = unhandledRejections()
    const { send, parts, events, hasher } = await start()
    const answer = deferred<unknown>()
    parts.findByEmail = () => answer.promise
    expectUnavailable(await send(good))
    answer.resolve(late)
    await settled()
    expect(hasher.asked).toEqual([])
    expect(events.map(({ type }) => type)).toEqual(['dependency.failed'])
    expect(caught).toEqual([])
  })

  it('rejects after its time: nothing comes of it', async () => {
    const caught = unhandledRejections()
    const { send, parts, events } = await start()
    const answer = deferred<unknown>()
    parts.findByEmail = () => answer.promise
    expectUnavailable(await send(good))
    answer.reject(new Error('late'))
    await settled()
    expect(events).toHaveLength(1)
    expect(caught).toEqual([])
  })
})

describe('a hasher that', () => {
  const withHasher = (verify: () => unknown, more = {}) =>
    createPasswords({ hashers: [{ ...countingHasher(), verify: verify as () => boolean }], concurrency: 4, ...more })

  it.each(FAILURES)('%s: 503', async (_, verify) => {
    const { send, events } = await start({ passwords: withHasher(verify) })
    for (const answer of await all(4, () => send(good))) expectUnavailable(answer)
    expect(events).toEqual(
      Array(4).fill(expect.objectContaining({ type: 'dependency.failed', dependency: 'passwords', refused: true })),
    )
  })

  it.each(NOT_TRUE)('answers %j has not said true: 403', async (lie) => {
    const { send } = await start({ passwords: withHasher(() => lie) })
    expect(await send(good)).toMatchObject({ status: 403, body: '' })
  })

  it('says true after its time lets nobody in', async () => {
    const answer = deferred<boolean>()
    const { send, events } = await start({ passwords: withHasher(() => answer.promise) })
    expectUnavailable(await send(wrong))
    answer.resolve(true)
    await settled()
    expect(events.map(({ type }) => type)).toEqual(['dependency.failed'])
  })

  it('hangs, and then answers: service goes on', async () => {
    const answer = deferred<boolean>()
    let verify: () => unknown = () => answer.promise
    const passwords = withHasher(() => verify(), { concurrency: 1 })
    const { send } = await start({ passwords })
    expect(statuses(await all(20, () => send(good)))).toEqual({ 503: 20 })
    expect(passwords.load()).toEqual({ active: 1, waiting: 0 })
    verify = () => true
    answer.resolve(false)
    await settled()
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
    expect(await send(good)).toMatchObject({ status: 200 })
  })

  it('hangs and never answers: service goes on all the same', async () => {
    let verify: () => unknown = hang
    const passwords = withHasher(() => verify(), { concurrency: 1 })
    const { send } = await start({ passwords })
    expect(await send(good)).toMatchObject({ status: 503 })
    verify = () => true
    await until(() => expect(passwords.load().active).toBe(0))
    expect(await send(good)).toMatchObject({ status: 200 })
  })
})

describe('a store that, by id,', () => {
  it.each(INVALID_BY_ID)('%s: 503 and never through', async (_, findById) => {
    const caught = unhandledRejections()
    const { ask, parts, events, handled } = await start()
    parts.findById = findById
    for (const answer of await all(10, ask)) expectUnavailable(answer)
    expect(handled()).toBe(0)
    expect(events).toEqual(Array(10).fill(expect.objectContaining({ dependency: 'accounts', refused: true })))
    parts.findById = makeStore().findById
    expect(await ask()).toMatchObject({ status: 200, body: 'in' })
    expect(caught).toEqual([])
  })

  it('answers after its time: the request stays refused', async () => {
    const { ask, parts, handled } = await start()
    const answer = deferred<Account>()
    parts.findById = () => answer.promise
    expectUnavailable(await ask())
    answer.resolve(alice)
    await settled()
    expect(handled()).toBe(0)
  })
})

describe('a revocation check that', () => {
  it.each(INVALID_REVOKED)('%s: 503 and never through', async (_, isRevoked) => {
    const caught = unhandledRejections()
    const { ask, parts, events, handled } = await start()
    parts.isRevoked = isRevoked
    for (const answer of await all(10, ask)) expectUnavailable(answer)
    expect(handled()).toBe(0)
    expect(events).toEqual(Array(10).fill(expect.objectContaining({ dependency: 'revocation', refused: true })))
    parts.isRevoked = () => true
    expect(await ask()).toMatchObject({ status: 401 })
    parts.isRevoked = () => false
    expect(await ask()).toMatchObject({ status: 200, body: 'in' })
    expect(caught).toEqual([])
  })

  it('says false after its time: the request stays refused', async () => {
    const { ask, parts, handled } = await start()
    const answer = deferred<boolean>()
    parts.isRevoked = () => answer.promise
    expectUnavailable(await ask())
    answer.resolve(false)
    await settled()
    expect(handled()).toBe(0)
  })
})

describe('a token where the parts are not asked', () => {
  it('goes on working while they are all away', async () => {
    const tokens = makeIssuer()
    const app = express()
    app.use(tokenRouter({ tokens, accounts: hang, passwords: fastPasswords(), throttle: false, timeout: '30ms' }))
    app.get('/in', requireBearer({ tokens }), (_req, res) => res.end('in'))
    const send = client((await listen(app)).port)
    const { token } = tokens.issue({ accountId: 'acc-1' })
    const [down, up] = await Promise.all([all(20, () => send(good)), all(20, () => send(bearer(token, '/in')))])
    expect([statuses(down), statuses(up)]).toEqual([{ 503: 20 }, { 200: 20 }])
  })
})

describe('a clock that is set', () => {
  const SECOND = 1000
  const HOUR = 3600 * SECOND
  const steps = [1, 30, 3600, 86_400].flatMap((seconds) => [seconds * SECOND, -seconds * SECOND])
  const moments = [0, HOUR / 2, HOUR - SECOND, HOUR - 1, HOUR, HOUR + SECOND, 2 * HOUR, 25 * HOUR]

  it.each(steps)('by %i ms: a token is good from its iat to its exp, and at no other time', async (step) => {
    for (const moment of moments) {
      const clock = frozenClock()
      const tokens = makeIssuer({ clock, lifetime: '1h' })
      const app = express().get('/in', requireBearer({ tokens }), (_req, res) => res.end('in'))
      const send = client((await listen(app)).port, 1)
      const { token } = tokens.issue({ accountId: 'acc-1' })
      const ask = async () => (await send(bearer(token, '/in'))).status
      clock.advance(moment)
      expect(await ask(), `${moment}`).toBe(moment < HOUR ? 200 : 401)
      clock.advance(step)
      const age = moment + step
      expect(await ask(), `${moment} ${step}`).toBe(age >= 0 && age < HOUR ? 200 : 401)
    }
  })

  it.each(['10s', '60s'])('with a tolerance of %s: not a second more', async (clockTolerance) => {
    const tolerance = Number.parseInt(clockTolerance, 10) * SECOND
    for (const [age, status] of [
      [-tolerance - SECOND, 401],
      [-tolerance, 200],
      [HOUR + tolerance - 1, 200],
      [HOUR + tolerance, 401],
      ...steps.map((step) => [HOUR + tolerance + Math.abs(step), 401] as const),
    ] as const) {
      const clock = frozenClock()
      const tokens = makeIssuer({ clock, clockTolerance, lifetime: '1h' })
      const { token } = tokens.issue({ accountId: 'acc-1' })
      clock.advance(age)
      const verified = tokens.verify(token).then(
        () => 200,
        (error) => error.status,
      )
      expect(await verified, `${age}`).toBe(status)
    }
  })
})

describe('a guard whose host hangs', () => {
  const hangs: [string, Partial<RequireBearerOptions>][] = [
    ['revocation check', { isRevoked: () => hang() }],
    ['account store', { accounts: { findByEmail: hang, findById: hang } }],
    ['own verifier', { tokens: { ...makeIssuer(), verify: hang } }],
  ]
  it.each(hangs)(
    '%s: 128 requests of one connection wait, and a connection with more gets 503 at once',
    async (_, guard) => {
      const tokens = makeIssuer()
      const { token } = tokens.issue({ accountId: alice.id })
      const app = express()
      app.get('/in', requireBearer({ tokens, timeout: '1m', ...guard }))
      const { port } = await listen(app)
      const greedy = await flood(port, 129, () => bearer(token, '/in'), 1)
      expect(statuses(greedy)).toEqual({ 503: 129 })
      for (const { body } of greedy) expect(JSON.parse(body)).toMatchObject({ code: 'overloaded' })
    },
  )
})
