import { inspect } from 'node:util'
import express from 'express'
import type { AuthEvent, AuthOptions, SessionStore, Sessions } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { authWith, logInWith } from '../../support/auth.js'
import { deferred, settled, until } from '../../support/concurrency.js'
import { ACCOUNTS } from '../../support/fixtures.js'
import { asJson, expectForbidden, expectToken, expectUnavailable, GOOD, send } from '../../support/host.js'
import { listen } from '../../support/http.js'
import { memorySessions } from '../../support/sessions.js'
import { hang } from '../../support/values/invalid-results.js'

const { alice } = ACCOUNTS
const CHANGED = { ...alice, passwordHash: 'plain:another password' }

interface Set {
  store?: Partial<SessionStore>
  options?: Partial<AuthOptions>
  /** Finds the account after the session has started. */
  find?: () => unknown
}

/** Starts a router whose look-ups a test controls. */
async function start({ store = {}, options = {}, find = () => alice }: Set = {}) {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const findByEmail = vi.fn((_email: string): unknown => (findByEmail.mock.calls.length > 1 ? find() : alice))
  const accounts = { findByEmail } as never
  const auth = authWith({
    accounts,
    store: { sessions: { ...memorySessions(), ...store } },
    onEvent,
    timeout: '2s',
    limits: undefined,
    ...options,
  })
  const sessions = auth.sessions as Sessions
  const { port } = await listen(express().use(auth.router))
  return {
    events,
    findByEmail,
    sessions,
    port,
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
    const { logIn, findByEmail } = await start({ options: { store: undefined }, find: () => CHANGED })
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
    const { logIn, events, sessions } = await start({ find, options: { timeout: '200ms' } })
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

  it.each<[string, Partial<SessionStore>]>([
    ['fails', { remove: () => Promise.reject(new Error('down')) }],
    ['hangs', { remove: hang }],
  ])('is refused after a password change when the end of its session %s', async (_how, store) => {
    const { logIn, events } = await start({ store, find: () => CHANGED, options: { timeout: '200ms' } })
    expectForbidden(await logIn())
    expect(events.at(-1)).toMatchObject({ type: 'token.refused', reason: 'superseded' })
  })

  it('ends no older session, and leaves none, when the sessions took longer than the time limit of the app', async () => {
    const store = memorySessions()
    const added = deferred<void>()
    let isSlow = false
    const add: typeof store.add = async (session) => {
      if (isSlow) await added.promise
      return store.add(session)
    }
    const { logIn, sessions, events } = await start({
      options: { store: { sessions: { ...store, add } }, maxPerAccount: 1, timeout: '100ms' },
    })
    expectToken(await logIn())
    const [first] = await sessions.list('acc-1')
    isSlow = true
    expectUnavailable(await logIn())
    added.resolve()
    await until(async () => expect((await sessions.list('acc-1')).map(({ id }) => id)).toEqual([first?.id]))
    const types = events.map(({ type }) => type).filter((type) => type.startsWith('session.'))
    expect(types).toEqual(['session.started'])
  })

  it('respond runs before the session starts, so that the session is stored last', async () => {
    const steps: string[] = []
    const { logIn } = await start({
      store: { add: () => steps.push('add') },
      options: { respond: () => ({ step: steps.push('respond') }) },
      find: () => ({ ...alice, step: steps.push('second look-up') }),
    })
    expect((await logIn()).status).toBe(200)
    expect(steps).toEqual(['respond', 'add', 'second look-up'])
  })
})

describe('the subject of a login', () => {
  const result = async () => logInWith({ accounts: () => alice })(GOOD)

  it('shows neither the password nor the hash, however it is printed, copied or sent', async () => {
    const { account, subject } = await result()
    const shown = [{ account, subject }, { ...subject }, structuredClone(subject)]
    for (const value of shown) {
      const texts = [inspect(value, { showHidden: true, depth: 9 }), JSON.stringify(value)]
      for (const text of texts) expect(text).not.toMatch(/plain:|correct horse/)
    }
    expect(Reflect.ownKeys(subject)).toEqual(['accountId', 'scopes', 'claims', 'lifetime', 'issuedAt', 'amr'])
    expect(Object.keys(subject.issuedAt as Date)).toEqual([])
  })
})
