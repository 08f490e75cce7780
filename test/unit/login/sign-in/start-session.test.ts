import { inspect } from 'node:util'
import express from 'express'
import {
  type AuthEvent,
  createLogin,
  createSessions,
  type Login,
  memorySessions,
  type SessionStore,
  type Sessions,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { deferred, settled, until } from '../../../support/concurrency.js'
import { ACCOUNTS, fastPasswords, makeIssuer } from '../../../support/fixtures.js'
import { asJson, expectForbidden, expectToken, expectUnavailable, GOOD, send } from '../../../support/host.js'
import { listen } from '../../../support/http.js'
import { hang } from '../../../support/values/invalid-results.js'

const { alice } = ACCOUNTS
const CHANGED = { ...alice, passwordHash: 'plain:another password' }

interface Set {
  store?: Partial<SessionStore>
  sessions?: (sessions: Sessions) => Partial<Sessions>
  router?: Partial<TokenRouterOptions>
  /** Finds the account after the session has started. */
  find?: () => unknown
}

/** Starts a router whose look-ups a test controls. */
async function start({ store = {}, sessions: change = () => ({}), router = {}, find = () => alice }: Set = {}) {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const findByEmail = vi.fn((_email: string): unknown => (findByEmail.mock.calls.length > 1 ? find() : alice))
  const made = createSessions({ ...memorySessions(), ...store }, { onEvent })
  const sessions = { ...made, ...change(made) }
  const tokens = makeIssuer()
  const login = { accounts: { findByEmail } as never, passwords: fastPasswords() }
  const app = express().use(tokenRouter({ tokens, ...login, sessions, onEvent, timeout: '2s', ...router }))
  const { port } = await listen(app)
  return {
    events,
    findByEmail,
    sessions,
    tokens,
    port,
    login,
    logIn: (body: object = GOOD) => send(port, asJson(body)),
  }
}

describe('a sign-in with sessions', () => {
  it('looks the account up a second time only after a right password, and when its session has started', async () => {
    const { logIn, findByEmail, sessions } = await start({
      find: async () => (await sessions.list('acc-1')).length === 1 && alice,
    })
    expectForbidden(await logIn({ ...GOOD, password: 'wrong' }))
    expect(findByEmail).toHaveBeenCalledTimes(1)
    findByEmail.mockClear()
    expectToken(await logIn())
    expect(findByEmail.mock.calls).toEqual(Array(2).fill([GOOD.email, expect.anything()]))
  })

  it('looks the account up once without sessions', async () => {
    const { logIn, findByEmail } = await start({ router: { sessions: undefined }, find: () => CHANGED })
    expectToken(await logIn())
    expect(findByEmail).toHaveBeenCalledTimes(1)
  })

  it('ends its session and sends the response of a wrong password after a password change, and no token is issued', async () => {
    const { logIn, events, sessions } = await start({ find: () => CHANGED })
    expectForbidden(await logIn())
    expect(await sessions.list('acc-1')).toEqual([])
    expect(events).toMatchObject([
      { type: 'session.started' },
      { type: 'session.ended', reason: 'ended', address: expect.stringMatching(/127\.0\.0\.1$/) },
      { type: 'token.refused', code: 'invalid_credentials', reason: 'superseded', accountId: 'acc-1' },
    ])
    expect(inspect(events, { depth: 9, showHidden: true })).not.toMatch(/plain:|correct horse/)
  })

  it.each<[string, () => unknown]>([
    ['fails', () => Promise.reject(new Error('down'))],
    ['hangs', hang],
    ['returns an invalid account', () => ({ id: 7 })],
  ])('leaves no session, and responds 503, when the second look-up %s', async (_how, find) => {
    const { logIn, events, sessions } = await start({ find, router: { timeout: '200ms' } })
    expectUnavailable(await logIn())
    expect(await sessions.list('acc-1')).toEqual([])
    expect(events.filter(({ type }) => !type.startsWith('session'))).toMatchObject([
      { type: 'dependency.failed', dependency: 'accounts', refused: true },
    ])
  })

  it('leaves no session of a client that disconnects during the second look-up', async () => {
    const [gate, asked] = [deferred<object>(), deferred<void>()]
    const find = () => {
      asked.resolve()
      return gate.promise
    }
    const { port, events, sessions } = await start({ find })
    const client = new AbortController()
    const left = send(port, { ...asJson(GOOD), signal: client.signal }).catch(() => 'left')
    await asked.promise
    client.abort()
    expect(await left).toBe('left')
    await settled()
    gate.resolve(alice)
    await until(() => expect(events.at(-1)).toMatchObject({ code: 'client_closed_request' }))
    expect(await sessions.list('acc-1')).toEqual([])
    expect(events.map(({ type }) => type)).not.toContain('token.issued')
  })

  it.each<[string, (sessions: Sessions) => Partial<Sessions>]>([
    ['whose end fails', () => ({ end: () => Promise.reject(new Error('down')) })],
    ['whose end hangs', () => ({ end: hang })],
    ['whose start does not ask whether the token is wanted', ({ start }) => ({ start: (session) => start(session) })],
  ])('is refused after a password change with sessions %s', async (_which, sessions) => {
    const { logIn, events } = await start({ sessions, find: () => CHANGED, router: { timeout: '200ms' } })
    expectForbidden(await logIn())
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', reason: 'superseded' })
  })

  it('respond runs before the session starts, so that the session is stored last', async () => {
    const steps: string[] = []
    const { logIn } = await start({
      store: { add: () => steps.push('add') },
      router: { respond: () => ({ step: steps.push('respond') }) },
      find: () => ({ ...alice, step: steps.push('second look-up') }),
    })
    expect((await logIn()).status).toBe(200)
    expect(steps).toEqual(['respond', 'add', 'second look-up'])
  })
})

describe('the subject of a login', () => {
  const result = async () => createLogin({ accounts: () => alice, passwords: fastPasswords(), limits: false })(GOOD)

  it('shows neither the password nor the hash, however it is printed, copied or sent', async () => {
    const { account, subject } = await result()
    const shown = [{ account, subject }, { ...subject }, structuredClone(subject)]
    for (const value of shown) {
      const texts = [inspect(value, { showHidden: true, depth: 9 }), JSON.stringify(value)]
      for (const text of texts) expect(text).not.toMatch(/plain:|correct horse/)
    }
    expect(Reflect.ownKeys(subject)).toEqual(['accountId', 'scopes', 'claims', 'lifetime', 'issuedAt'])
    expect(Object.keys(subject.issuedAt as Date)).toEqual([])
  })

  it.each<[string, (result: Awaited<ReturnType<Login>>) => Awaited<ReturnType<Login>>]>([
    ['copies both parts', ({ account, subject }) => ({ account: { ...account }, subject: { ...subject, scopes: [] } })],
    [
      'names the members that it takes',
      ({ account, subject: { accountId, issuedAt } }) => ({ account, subject: { accountId, issuedAt } }),
    ],
  ])('confirms the sign-in of a function around the login that %s', async (_how, change) => {
    const { login } = await start({ find: () => CHANGED })
    const inner = createLogin({ ...login, limits: false })
    const logIn: Login = async (...call) => change(await inner(...call))
    const { logIn: send, sessions } = await start({ router: { accounts: undefined, passwords: undefined, logIn } })
    expectForbidden(await send())
    expect(await sessions.list('acc-1')).toEqual([])
  })
})
