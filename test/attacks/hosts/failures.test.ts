import express, { type RequestHandler } from 'express'
import {
  type AccountStore,
  type AuthEvent,
  createLimits,
  createPasswords,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all, deferred, settled, statuses } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  countingHasher,
  fastPasswords,
  issueNow,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import { asJson, expectUnavailable, passFailuresOn, unhandledRejections } from '../../support/host.js'
import { bearer, client, listen, login } from '../../support/http.js'
import {
  FAILURES,
  INVALID_BY_EMAIL,
  INVALID_BY_ID,
  INVALID_REVOKED,
  NOT_TRUE,
} from '../../support/values/invalid-results.js'

const { alice } = ACCOUNTS
const good = login(alice.email, PASSWORD)
const wrong = login(alice.email, 'guess')
const rejects = async () => expect.fail('the host is down')

/** A time limit that no slow machine reaches, and a short one for what hangs. */
const limitFor = (does: string) => ({ timeout: does.includes('hang') ? '250ms' : '1m' })
const SHORT = limitFor('hangs')

/** An app whose functions can be replaced while it runs. `unhandled` has the promises whose rejection nobody handled. */
async function start(options: Partial<TokenRouterOptions> = {}, before: RequestHandler[] = []) {
  const unhandled = unhandledRejections()
  const events: AuthEvent[] = []
  const forwarded: unknown[] = []
  const store = makeStore()
  const parts: Record<'findByEmail' | 'findById' | 'isRevoked', (id: string) => unknown> = {
    ...store,
    isRevoked: () => false,
  }
  const accounts = {
    findByEmail: (email: string) => parts.findByEmail(email),
    findById: (id: string) => parts.findById(id),
  } as Required<Pick<AccountStore, 'findByEmail' | 'findById'>>
  const hasher = countingHasher()
  const tokens = makeIssuer()
  const { timeout = '1m' } = options
  const shared = { tokens, accounts, timeout, onEvent: (event: AuthEvent) => events.push(event) }
  const isRevoked = () => parts.isRevoked('') as boolean
  const app = express()
  app.use(...before, tokenRouter({ ...shared, passwords: fastPasswords(hasher), limits: false, ...options }))
  let handled = 0
  app.get('/in', requireBearer({ ...shared, isRevoked }), (_req, res) => {
    handled++
    res.end('in')
  })
  app.use(((error, _req, res, _next) => {
    forwarded.push(error)
    res.status(error.status).end()
  }) satisfies express.ErrorRequestHandler)
  const send = client((await listen(app)).port)
  const ask = () => send(bearer(issueNow(tokens, { accountId: alice.id }).token, '/in'))
  const types = () => events.map(({ type }) => type)
  return { send, parts, store, events, types, forwarded, hasher, unhandled, handled: () => handled, ask }
}

describe('a store that, by e-mail,', () => {
  it.each(INVALID_BY_EMAIL)('%s: 503, and then service goes on', async (does, findByEmail) => {
    const { send, parts, store, events, unhandled } = await start(limitFor(does))
    parts.findByEmail = findByEmail
    for (const answer of await all(4, () => send(good))) expectUnavailable(answer)
    expect(events).toHaveLength(4)
    for (const event of events) expect(event).toMatchObject({ type: 'dependency.failed', refused: true })
    parts.findByEmail = store.findByEmail
    expect(await send(good)).toMatchObject({ status: 200 })
    expect(await send(wrong)).toMatchObject({ status: 403 })
    await settled()
    expect(unhandled).toEqual([])
  })

  it.each(FAILURES)(
    '%s, with a refuse that calls next: the host’s handler is told, and no budget is spent',
    async (does, fail) => {
      const options = { refuse: passFailuresOn, limits: createLimits(), ...limitFor(does) }
      const { send, parts, store, forwarded } = await start(options)
      parts.findByEmail = fail
      for (let i = 0; i < 3; i++) expect(statuses(await all(10, () => send(wrong)))).toEqual({ 503: 10 })
      expect(forwarded).toEqual(
        Array(30).fill(expect.objectContaining({ code: 'unavailable', dependency: 'accounts' })),
      )
      parts.findByEmail = store.findByEmail
      expect(statuses(await all(20, () => send(wrong)))).toEqual({ 403: 10, 429: 10 })
    },
  )
})

const withHasher = (verify: () => unknown) =>
  createPasswords({ hashers: [{ ...countingHasher(), verify: verify as () => boolean }], concurrency: 4 })

describe('a hasher that', () => {
  it.each(FAILURES)('%s: 503', async (does, verify) => {
    const { send, events } = await start({ passwords: withHasher(verify), ...limitFor(does) })
    for (const answer of await all(4, () => send(good))) expectUnavailable(answer)
    const failed = { type: 'dependency.failed', dependency: 'passwords', refused: true }
    expect(events).toEqual(Array(4).fill(expect.objectContaining(failed)))
  })

  it.each(NOT_TRUE)('answers %j has not said true: 403', async (lie) => {
    const { send } = await start({ passwords: withHasher(() => lie) })
    expect(await send(good)).toMatchObject({ status: 403, body: '' })
  })
})

describe.each([
  ['a store by id', 'findById', 'accounts', INVALID_BY_ID, alice],
  ['a revocation check', 'isRevoked', 'revocation', INVALID_REVOKED, false],
] as const)('%s that', (_part, name, dependency, invalid, valid) => {
  it.each(invalid)('%s: 503 and never through', async (does, fail) => {
    const { ask, parts, events, handled, unhandled } = await start(limitFor(does))
    parts[name] = fail
    for (const answer of await all(4, ask)) expectUnavailable(answer)
    expect(handled()).toBe(0)
    expect(events).toEqual(Array(4).fill(expect.objectContaining({ dependency, refused: true })))
    parts[name] = () => valid
    expect(await ask()).toMatchObject({ status: 200, body: 'in' })
    expect(unhandled).toEqual([])
  })
})

describe('after its time, nothing comes of', () => {
  it.each<[string, 'findByEmail' | 'findById' | 'isRevoked' | 'verify', () => unknown]>([
    ['an account by e-mail', 'findByEmail', async () => alice],
    ['no account by e-mail', 'findByEmail', async () => undefined],
    ['a lie about an account', 'findByEmail', async () => 1],
    ['a failure of the store', 'findByEmail', rejects],
    ['a right password', 'verify', async () => true],
    ['an account by id', 'findById', async () => alice],
    ['a token that is not revoked', 'isRevoked', async () => false],
  ])('%s', async (_, name, late) => {
    const answer = deferred<unknown>()
    const options = name === 'verify' ? { passwords: withHasher(() => answer.promise) } : {}
    const { send, ask, parts, hasher, types, handled, unhandled } = await start({ ...SHORT, ...options })
    if (name !== 'verify') parts[name] = () => answer.promise
    const isLogin = name === 'verify' || name === 'findByEmail'
    expectUnavailable(await (isLogin ? send(wrong) : ask()))
    answer.resolve(late())
    await settled()
    expect([types(), hasher.asked, handled(), unhandled]).toEqual([['dependency.failed'], [], 0, []])
  })
})

describe('what throws outside of the package’s own code goes to the host’s error handler:', () => {
  const fault = Object.assign(new Error('the host’s own'), { status: 599 })
  const throwing = (): never => {
    throw fault
  }
  // Express calls `trust proxy` only for a forwarded request.
  const forwardedFor = { 'X-Forwarded-For': '192.0.2.1, garbage' }
  const breakAddress: RequestHandler = ({ app }, _res, next) => next(void app.set('trust proxy', throwing))
  const breakResponse: RequestHandler = (_req, res, next) => next(void Object.assign(res, { setHeader: throwing }))

  it.each([
    ['req.ip', breakAddress, []],
    ['the response', breakResponse, ['token.issued', 'token.refused', 'token.refused']],
  ])('%s', async (_, breakIt, expected) => {
    const { send, forwarded, unhandled, types } = await start({}, [breakIt])
    for (const sent of [bearer('', '/in'), good, wrong, { ...good, ...asJson({}) }]) {
      expect((await send({ ...sent, headers: { ...sent.headers, ...forwardedFor } })).status).toBe(599)
    }
    await settled()
    expect([forwarded, unhandled]).toEqual([[fault, fault, fault, fault], []])
    expect(types().filter((type) => type.startsWith('token.'))).toEqual(expected)
  })
})
