// Tests routes/auth-errors.ts http/parser-refusal.ts

import express from 'express'
import {
  authErrors,
  createLogin,
  createSessions,
  createSignIn,
  type MemoryAccount,
  memorySessions,
  type SignIn,
  type SignInOptions,
  type TokenSubject,
} from 'express-token-endpoint'
import { LoginStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import request from 'supertest'
import { describe, expect, it, vi } from 'vitest'
import { deferred, settled, until } from '../../../support/concurrency.js'
import { expectMisuse, refusalOf, rejectionOf } from '../../../support/failures.js'
import { ACCOUNTS, fastPasswords, frozenClock, makeIssuer } from '../../../support/fixtures.js'
import { GOOD } from '../../../support/host.js'

const { alice } = ACCOUNTS

/** Creates the sign-in of a custom route. A test changes the account that the store finds. */
function create(account: MemoryAccount = alice, options: Partial<SignInOptions> = {}) {
  const clock = frozenClock('2026-03-01T12:00:00.500Z')
  const row: { account: unknown; next?: unknown } = { account }
  const find = vi.fn(async (_key: string) => {
    const found = row.account
    if ('next' in row) row.account = row.next
    return found as MemoryAccount
  })
  const accounts = { findByEmail: find, findById: find }
  const tokens = makeIssuer({ clock })
  const sessions = createSessions(memorySessions(), { clock })
  const logIn = createLogin({ accounts, passwords: fastPasswords(), limits: false, clock })
  const signIn = createSignIn({ tokens, sessions, accounts, ...options })
  return { clock, row, find, accounts, tokens, sessions, logIn, signIn }
}

describe('signIn', () => {
  it('issues a token of the whole subject, whose session has started', async () => {
    const account = { ...alice, lifetime: '10m', scopes: ['a'], claims: { house: 'north' } } as const
    const { logIn, signIn, tokens, sessions, clock } = create(account)
    const { subject } = await logIn(GOOD)
    clock.advance(90_000)
    const req = { ip: '192.0.2.1', headers: { 'user-agent': 'curl/8' }, rawHeaders: [], socket: undefined } as never
    const { token, id, expiresAt } = await signIn(subject, req, { label: 'Laptop' })
    const auth = await tokens.verify(token)
    expect(auth).toMatchObject({ id, expiresAt, accountId: alice.id, scopes: ['a'], claims: { house: 'north' } })
    expect(auth.issuedAt).toEqual(new Date('2026-03-01T12:00:00.500Z'))
    expect(expiresAt).toEqual(new Date('2026-03-01T12:10:00Z'))
    expect(await sessions.list(alice.id)).toMatchObject([
      { id, address: '192.0.2.1', userAgent: 'curl/8', label: 'Laptop', expiresAt },
    ])
  })

  it('takes a copy of the subject with other scopes, and the address of a client instead of a request', async () => {
    const { logIn, signIn, tokens, sessions } = create()
    const { subject } = await logIn(GOOD)
    const { token } = await signIn({ ...subject, scopes: ['b'] }, { address: '192.0.2.7' })
    expect(await tokens.verify(token)).toMatchObject({ scopes: ['b'] })
    expect(await sessions.list(alice.id)).toMatchObject([{ address: '192.0.2.7', userAgent: null, label: null }])
  })

  it('signs in an account by its id, with its scopes, claims and lifetime', async () => {
    const account = { ...alice, passwordHash: null, lifetime: '5m', claims: { house: 'north' } } as const
    const { signIn, tokens, sessions, find } = create(account)
    const { token } = await signIn(alice.id)
    const { scopes, claims, issuedAt, expiresAt } = await tokens.verify(token)
    expect({ scopes, claims }).toMatchObject({ scopes: alice.scopes, claims: { house: 'north' } })
    expect(expiresAt).toEqual(new Date('2026-03-01T12:05:00Z'))
    expect(issuedAt).toEqual(new Date('2026-03-01T12:00:00.500Z'))
    expect(find.mock.calls).toEqual([[alice.id], [alice.id]])
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it.each<[string, unknown, string]>([
    ['unknown', undefined, 'unknown_account'],
    ['disabled', { ...alice, disabled: true }, 'account_disabled'],
    [
      'signed out everywhere since the proof',
      { ...alice, tokensValidAfter: new Date('2026-03-01T12:00:00.250Z') },
      'superseded',
    ],
  ])('refuses the id of an account that is %s', async (_what, account, reason) => {
    const { signIn, row, sessions } = create()
    row.account = account
    const signedIn = signIn(alice.id, undefined, { issuedAt: new Date('2026-03-01T12:00:00.200Z') })
    expect(await refusalOf(signedIn)).toMatchObject({ code: 'invalid_credentials', reason, accountId: alice.id })
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('accepts tokensValidAfter before the proof, and counts a proof of the future as one of now', async () => {
    const { signIn, row, clock, tokens } = create()
    row.account = { ...alice, tokensValidAfter: new Date(clock()) }
    const { token } = await signIn(alice.id, undefined, { issuedAt: new Date(clock() + 5000) })
    expect((await tokens.verify(token)).issuedAt).toEqual(new Date('2026-03-01T12:00:00.500Z'))
    row.account = { ...alice, tokensValidAfter: new Date(clock() + 1) }
    const early = signIn(alice.id, undefined, { issuedAt: new Date(clock() + 5000) })
    expect(await refusalOf(early)).toMatchObject({ reason: 'superseded' })
  })

  it.each<[string, unknown, string]>([
    ['another password', { ...alice, passwordHash: 'plain:another' }, 'superseded'],
    ['been disabled', { ...alice, disabled: true }, 'account_disabled'],
    ['been deleted', undefined, 'unknown_account'],
  ])('leaves no session when the account has %s after it was looked up by its id', async (_what, next, reason) => {
    const { signIn, row, sessions } = create()
    row.next = next
    expect(await refusalOf(signIn(alice.id))).toMatchObject({ code: 'invalid_credentials', reason })
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('is unavailable when the store or the sessions fail, and leaves no session', async () => {
    const { signIn, find, sessions, accounts, tokens } = create()
    for (const times of [0, 1]) {
      for (let i = 0; i < times; i++) find.mockResolvedValueOnce(alice)
      find.mockRejectedValueOnce(new Error('down'))
      expect(await refusalOf(signIn(alice.id))).toMatchObject({ code: 'unavailable', dependency: 'accounts' })
    }
    expect(await sessions.list(alice.id)).toEqual([])
    const down = createSessions({ ...memorySessions(), add: () => Promise.reject(new Error('down')) })
    const failing = createSignIn({ tokens, sessions: down, accounts })
    expect(await refusalOf(failing(alice.id))).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
  })

  it('ends no older session, and leaves none, when the sessions took longer than its own time limit', async () => {
    const { tokens, accounts, clock } = create()
    const store = memorySessions()
    const events: string[] = []
    const added = deferred<void>()
    let isSlow = false
    const add: typeof store.add = async (session) => {
      if (isSlow) await added.promise
      return store.add(session)
    }
    const sessions = createSessions(
      { ...store, add },
      { maxPerAccount: 1, clock, onEvent: ({ type }) => events.push(type) },
    )
    const signIn = createSignIn({ tokens, sessions, accounts, timeout: '20ms' })
    const { id } = await signIn(alice.id)
    isSlow = true
    expect(await refusalOf(signIn(alice.id))).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
    added.resolve()
    await until(async () => expect((await sessions.list(alice.id)).map((one) => one.id)).toEqual([id]))
    expect(events).toEqual(['session.started'])
  })

  it('leaves no session of a client that has disconnected', async () => {
    const { signIn, logIn, sessions, find } = create()
    const [client, gate] = [new AbortController(), deferred<MemoryAccount>()]
    const origin = { signal: client.signal }
    const { subject } = await logIn(GOOD, origin)
    find.mockReturnValueOnce(gate.promise)
    const signedIn = refusalOf(signIn(subject, origin))
    await settled()
    expect(await sessions.list(alice.id)).toHaveLength(1)
    client.abort()
    gate.resolve(alice)
    expect(await signedIn).toMatchObject({ code: 'client_closed_request' })
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it.each<[string, unknown, unknown?]>([
    ['a subject without the time of its look-up', { accountId: alice.id }],
    ['a subject with another time', { accountId: alice.id, issuedAt: new Date() }],
    ['a subject from JSON', JSON.parse(JSON.stringify({ accountId: alice.id, issuedAt: new Date() }))],
    ['nothing', undefined],
    ['null', null],
  ])('refuses %s with a TypeError, and issues no token', async (_what, whom) => {
    const { signIn, sessions } = create()
    const error = await rejectionOf(signIn(whom as TokenSubject))
    expectMisuse(
      () => {
        throw error
      },
      'signIn: pass the subject that logIn() returned, or a copy of it with its "issuedAt"',
      [alice.id],
    )
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('refuses an id without accounts, and an issuedAt that is not a time, with a TypeError', async () => {
    const misused = async (signedIn: ReturnType<SignIn>) => {
      const error = await rejectionOf(signedIn)
      return () => {
        throw error
      }
    }
    const { signIn } = create(alice, { accounts: undefined })
    expectMisuse(await misused(signIn(alice.id)), 'To pass the id of an account, set the option "accounts"')
    const details = { issuedAt: '2026-03-01' } as never
    expectMisuse(
      await misused(create().signIn(alice.id, undefined, details)),
      'signIn: "issuedAt" must be a valid Date',
    )
    expectMisuse(
      await misused(create().signIn(alice.id, 'x' as never)),
      /^signIn: the origin must be the request or { address }, but is a string of 1 characters$/,
    )
    expectMisuse(await misused(create().signIn(alice.id, { ip: 'x' } as never)), 'signIn: unknown option "ip"')
  })

  it('names the option that is not valid', () => {
    const { tokens, sessions } = create()
    const partner = makeIssuer({ issuer: 'https://partner.example' })
    expectMisuse(() => createSignIn({ sessions } as never), 'createSignIn: option "tokens" must be')
    expectMisuse(() => createSignIn({ tokens } as never), 'createSignIn: option "sessions" must be')
    const lookUp = (() => alice) as never
    expectMisuse(() => createSignIn({ tokens, sessions, accounts: lookUp }), 'option "accounts" must be a store')
    expectMisuse(() => createSignIn({ tokens, sessions, store: lookUp } as never), 'Did you mean "accounts"?')
    expectMisuse(() => createSignIn({ issuer: tokens, sessions } as never), 'Did you mean "tokens"?')
    const foreign = /^createSignIn: "sessions" are not for the tokens of/
    expectMisuse(() => createSignIn({ tokens: partner, sessions }), foreign)
  })
})

it('a sign-in by LoginStrategy that overtakes a password change leaves no session', async () => {
  const { accounts, row, sessions, signIn } = create()
  const passport = new Passport().use(new LoginStrategy({ accounts, passwords: fastPasswords(), limits: false }))
  const app = express()
  app.post('/', passport.authenticate('login', { session: false }), (req, res, next) => {
    const { subject } = req.authInfo as { subject: TokenSubject }
    signIn(subject, req).then(({ token }) => res.json({ token }), next)
  })
  app.use(authErrors())
  await request(app).post('/').send(GOOD).expect(200)
  expect(await sessions.list(alice.id)).toHaveLength(1)
  row.next = { ...alice, passwordHash: 'plain:another' }
  await request(app).post('/').send(GOOD).expect(403, '')
  expect(await sessions.list(alice.id)).toHaveLength(1)
})
