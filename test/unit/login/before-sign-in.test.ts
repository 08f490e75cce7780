// Tests errors/{refusal,sign-in-refusal}.ts

import { getEventListeners } from 'node:events'
import express, { type ErrorRequestHandler } from 'express'
import {
  AuthError,
  type AuthEvent,
  type AuthObserver,
  type AuthOptions,
  type BeforeSignIn,
  createLimits,
  createPasswords,
  memoryStore,
  type Session,
  SignInRefusal,
  type SignInTerms,
  type Store,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { allowSignIn, BY_PASSWORD } from '../../../src/login/before-sign-in.js'
import { authWith, logInWith } from '../../support/auth.js'
import { settled, until } from '../../support/concurrency.js'
import { refreshTokenOfBefore } from '../../support/earlier-release.js'
import { expectMisuse, fatalErrors, rejectionOf } from '../../support/failures.js'
import {
  ACCOUNTS,
  countingHasher,
  decodePayload,
  fastPasswords,
  ISSUER,
  makeIssuer,
  SECRET,
} from '../../support/fixtures.js'
import {
  asForm,
  asJson,
  expectBadRequest,
  expectForbidden,
  expectUnavailable,
  GOOD,
  GOOD_FORM,
  passOn,
} from '../../support/host.js'
import { client, listen, TOKEN_PATH } from '../../support/http.js'

const alice = {
  ...ACCOUNTS.alice,
  scopes: ['reports:read', 'admin'],
  totp: '123456',
  claims: { role: 'manager', org: 7 },
}
const asCode: BeforeSignIn<Omit<typeof alice, 'passwordHash'>> = ({ account, fields }) => {
  if (fields['code'] === account.totp) return
  if (fields['code']) throw new SignInRefusal('wrong_code', { countAsFailure: true })
  throw new SignInRefusal('code_required', { detail: 'Send the code of your app too.' })
}

async function start(options: Partial<AuthOptions<typeof alice>> = {}, onError?: ErrorRequestHandler) {
  const events: AuthEvent[] = []
  const list = [{ ...alice }]
  const accounts = {
    findByEmail: (email: string) => list.find((one) => one.email === email),
    findById: (id: string) => list.find((one) => one.id === id),
  }
  const app = express()
  const onEvent = (event: AuthEvent) => void events.push(event)
  app.use(authWith({ accounts, onEvent, ...options }).router)
  if (onError) app.use(onError)
  const send = client((await listen(app)).port)
  const post = (body: object, path = '') => send({ ...asJson(body), method: 'POST', path: TOKEN_PATH + path })
  const form = (text: string) => send({ ...asForm(text), method: 'POST', path: TOKEN_PATH })
  return { post, form, send, events, list, account: list[0] as typeof alice }
}

const tokenOf = ({ body }: { body: string }) => decodePayload(JSON.parse(body).authenticationToken)

describe('a sign-in with a step after the password', () => {
  const extraFields = ['code']

  it('asks for the code, refuses a wrong one, and accepts the right one', async () => {
    const { post, events } = await start({ extraFields, beforeSignIn: asCode })
    const asked = await post(GOOD)
    expect(asked.status).toBe(403)
    expect(asked.headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
    expect(JSON.parse(asked.body)).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      code: 'code_required',
      detail: 'Send the code of your app too.',
    })
    expect(JSON.parse((await post({ ...GOOD, code: '000000' })).body)).toMatchObject({ code: 'wrong_code' })
    expect(await post({ ...GOOD, code: '123456' })).toMatchObject({ status: 200 })
    expect(events.map((event) => 'code' in event && event.code)).toEqual(['code_required', 'wrong_code', false])
    expect(events[0]).toMatchObject({ type: 'token.refused', accountId: alice.id })
  })

  it('reveals nothing before the password is right', async () => {
    const beforeSignIn = vi.fn()
    const { post, account } = await start({ beforeSignIn })
    expectForbidden(await post({ ...GOOD, password: 'wrong' }))
    expectForbidden(await post({ ...GOOD, email: 'nobody@example.com' }))
    Object.assign(account, { disabled: true })
    expectForbidden(await post(GOOD))
    expect(beforeSignIn).not.toHaveBeenCalled()
  })

  it('counts a wrong code as a failed login, so that nobody can guess codes, and a missing one not', async () => {
    const limits = createLimits({ limits: { account: { points: 2, duration: '1h' } } })
    const { post } = await start({ limits, extraFields, beforeSignIn: asCode })
    for (let times = 0; times < 5; times++) expect(await post(GOOD)).toMatchObject({ status: 403 })
    for (const code of ['1', '2']) expect(await post({ ...GOOD, code })).toMatchObject({ status: 403 })
    for (const body of [{ ...GOOD, code: '123456' }, GOOD, { ...GOOD, password: 'wrong' }]) {
      expect(JSON.parse((await post(body)).body)).toMatchObject({ code: 'too_many_attempts' })
    }
  })

  it('hides a right password behind the response of a wrong one, whatever the error of the step holds', async () => {
    const thrown = new AuthError('invalid_credentials', { message: 'Wrong code', retryAfter: 7, accountId: 'other' })
    const beforeSignIn = () => Promise.reject(thrown)
    const { post, events } = await start({ beforeSignIn })
    const [right, wrong] = [await post(GOOD), await post({ ...GOOD, password: 'wrong' })]
    const { date: _, ...headers } = right.headers
    expect(wrong).toMatchObject({ status: right.status, body: right.body, headers })
    expectForbidden(right)
    expect(events[0]).toMatchObject({ type: 'token.refused', code: 'invalid_credentials', accountId: alice.id })
  })

  it('counts a wrong code also when its refusal was changed to one that cannot be sent', async () => {
    const limits = createLimits({ limits: { account: { points: 2, duration: '1h' } } })
    const beforeSignIn = () =>
      Promise.reject(
        Object.defineProperty(new SignInRefusal('wrong_code', { countAsFailure: true }), 'extra', {
          enumerable: true,
          get: () => expect.fail('a getter'),
        }),
      )
    const { post } = await start({ limits, beforeSignIn })
    for (let times = 0; times < 2; times++) expectUnavailable(await post(GOOD))
    expect(await post(GOOD)).toMatchObject({ status: 429 })
  })

  it('passes the host its own account, the named fields as they were sent, the request and a signal', async () => {
    const seen: Parameters<BeforeSignIn<Omit<typeof alice, 'passwordHash'>>>[0][] = []
    const beforeSignIn: BeforeSignIn<Omit<typeof alice, 'passwordHash'>> = (signIn) => void seen.push(signIn)
    const { post, form, account } = await start({ extraFields: ['code', 'device', 'none'], beforeSignIn })
    await post({ ...GOOD, code: 7, device: { name: ['x'] }, other: 1, __proto__: { none: 1 } })
    await form(`${GOOD_FORM}&code=8&other=1`)
    expect(seen.map(({ method, amr }) => [method, amr])).toEqual(Array(2).fill(['password', ['pwd']]))
    const { passwordHash: _, ...row } = account
    expect(seen[0]?.account).toEqual(row)
    expect(seen.map(({ fields }) => ({ ...fields }))).toStrictEqual([
      { code: 7, device: { name: ['x'] } },
      { code: '8' },
    ])
    expect(seen[0]?.req).toMatchObject({ method: 'POST' })
    expect(seen[0]?.signal.aborted).toBe(false)
    expect(Object.isFrozen(seen[0]?.fields)).toBe(true)
  })

  it('passes the fields to findByEmail, for tenants', async () => {
    const findByEmail = vi.fn((_email: string, _context: object) => alice)
    const { post } = await start({ accounts: { findByEmail }, extraFields: ['tenant'] })
    await post({ ...GOOD, tenant: 'north' })
    expect(findByEmail.mock.calls[0]?.[1]).toMatchObject({ fields: { tenant: 'north' }, req: { method: 'POST' } })
  })

  it.each<[string, unknown]>([
    ['an error', new Error('down')],
    ['an error with a status that is not exposed', Object.assign(new Error('no'), { status: 422 })],
    ['an exposed error of the server', Object.assign(new Error('no'), { status: 500, expose: true })],
    ['an exposed error with the status 399', Object.assign(new Error('no'), { status: 399, expose: true })],
    ['an exposed error whose status is a text', Object.assign(new Error('no'), { status: '402', expose: true })],
    ['an error whose "expose" is a text', Object.assign(new Error('no'), { status: 402, expose: 'yes' })],
    ['a text', 'no'],
  ])('responds 503 with an event when the step throws %s', async (_, thrown) => {
    const { post, events } = await start({
      beforeSignIn: () => {
        throw thrown
      },
    })
    expectUnavailable(await post(GOOD))
    expect(events).toMatchObject([
      {
        type: 'dependency.failed',
        dependency: 'hook',
        option: 'beforeSignIn',
        refused: true,
        error: thrown,
        accountId: alice.id,
      },
    ])
  })

  it('responds as to a wrong password when the step throws an AuthError with this code, and 503 for any other', async () => {
    const { post } = await start({ beforeSignIn: () => Promise.reject(new AuthError('invalid_credentials')) })
    expectForbidden(await post(GOOD))
    const { post: other } = await start({ beforeSignIn: () => Promise.reject(new AuthError('invalid_token')) })
    expectUnavailable(await other(GOOD))
  })

  it('takes one refusal for several sign-ins, and writes no account into it', async () => {
    const refusal = new SignInRefusal('closed')
    const { post, events } = await start({ beforeSignIn: () => Promise.reject(refusal) })
    expect(JSON.parse((await post(GOOD)).body)).toMatchObject({ code: 'closed' })
    expect(events).toMatchObject([{ accountId: alice.id }])
    expect(refusal).not.toHaveProperty('accountId')
  })

  it('leaves nothing on the signal of a connection', async () => {
    const { signal } = new AbortController()
    const network = '192.0.2.1'
    const task = { fields: {}, hasUnnamed: false, req: undefined, address: undefined, network, signal, timeout: 1000 }
    const beforeSignIn = () => void expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await allowSignIn({ ...task, beforeSignIn }, { account: alice, original: alice, user: alice }, BY_PASSWORD)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  const RETURNED = 'beforeSignIn: must return nothing, or { lifetime, claims, scopes }, but returned'
  const ADVICE = "To refuse the sign-in, throw new SignInRefusal('code')."
  it.each<[string, unknown, string]>([
    ['false', false, `${RETURNED} false. ${ADVICE}`],
    ['a list', [], `${RETURNED} an empty array. ${ADVICE}`],
    ['an unknown member', { scope: 'x' }, `${RETURNED} a member "scope". ${ADVICE}`],
    ['scopes that are a text', { scopes: 'admin' }, 'beforeSignIn: "scopes" must be an array of scopes'],
    ['a scope that the account does not have', { scopes: ['admin', 'root'] }, 'Add the scope to the account'],
    ['claims that are a list', { claims: [] }, 'beforeSignIn: "claims" must be an object'],
    ['a lifetime that is none', { lifetime: 'soon' }, 'beforeSignIn: "lifetime" must be'],
  ])('responds 503 when the step returns %s, with an event that says it', async (_, returned, message) => {
    const { post, events } = await start({ beforeSignIn: () => returned as never })
    expectUnavailable(await post(GOOD))
    expect(events).toMatchObject([{ error: { message: expect.stringContaining(message) } }])
  })

  it('accepts the sign-in when the step returns null', async () => {
    const { post } = await start({ beforeSignIn: () => null })
    expect(await post(GOOD)).toMatchObject({ status: 200 })
  })

  it('gives no scope to an account without scopes', async () => {
    const { post, account, events } = await start({ beforeSignIn: () => ({ scopes: ['admin'] }) })
    Object.assign(account, { scopes: undefined })
    expectUnavailable(await post(GOOD))
    expect(events).toMatchObject([{ error: { message: expect.stringContaining('does not have') } }])
  })

  it('ends a step that takes too long, and its signal aborts', async () => {
    let signal: AbortSignal | undefined
    const beforeSignIn: BeforeSignIn<object> = (signIn) => {
      signal = signIn.signal
      return new Promise<never>(() => {})
    }
    const { post } = await start({ beforeSignIn, timeout: '500ms' })
    expectUnavailable(await post(GOOD))
    expect(signal?.aborted).toBe(true)
  })

  it('aborts the signal when the client disconnects', async () => {
    let signal: AbortSignal | undefined
    const beforeSignIn: BeforeSignIn<object> = (signIn) => {
      signal = signIn.signal
      return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('gone'))))
    }
    const app = express().use(
      tokenRouter({
        tokens: makeIssuer(),
        accounts: () => alice,
        passwords: fastPasswords(),
        beforeSignIn,
        onEvent() {},
      }),
    )
    const { url } = await listen(app)
    const controller = new AbortController()
    const { headers, body } = asJson(GOOD)
    const sent = fetch(url + TOKEN_PATH, { method: 'POST', headers, body, signal: controller.signal } as RequestInit)
    await until(() => expect(signal).toBeDefined())
    controller.abort()
    await rejectionOf(sent)
    await until(() => expect(signal?.aborted).toBe(true))
    expect(signal?.aborted).toBe(true)
  })

  it('receives an aborted signal when the client disconnected while its password was checked', async () => {
    const client = new AbortController()
    const beforeSignIn = vi.fn((_signIn: { signal: AbortSignal }) => undefined)
    const verify = async () => {
      client.abort()
      return true
    }
    const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify }] })
    const logIn = logInWith({ accounts: () => alice, passwords, beforeSignIn })
    await logIn({ email: alice.email, password: 'x' }, { signal: client.signal })
    expect(beforeSignIn.mock.calls[0]?.[0].signal.aborted).toBe(true)
  })

  it('reports a code that is a name of an object as a refusal', async () => {
    const { post, events } = await start({ beforeSignIn: () => Promise.reject(new SignInRefusal('constructor')) })
    expect(await post(GOOD)).toMatchObject({ status: 403 })
    expect(events).toMatchObject([{ type: 'token.refused', code: 'constructor' }])
  })

  it("sends the refusal's status and headers", async () => {
    const refusal = new SignInRefusal('terms_changed', {
      status: 451,
      headers: { 'X-Terms': '7', 'Retry-After': '60' },
    })
    const { post } = await start({ beforeSignIn: () => Promise.reject(refusal) })
    const answer = await post(GOOD)
    expect(answer).toMatchObject({ status: 451, headers: { 'x-terms': '7', 'retry-after': '60' } })
    expect(JSON.parse(answer.body)).toMatchObject({
      title: 'Unavailable For Legal Reasons',
      detail: 'The sign-in was refused.',
    })
  })

  it.each([
    ['statusCode', 400],
    ['status', 499],
  ])("passes an exposed error to the host's error handler, with its %s and one event", async (name, status) => {
    const thrown = Object.assign(new Error('Pay first'), { [name]: status, expose: true })
    const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(error[name]).send(error.message)
    const { post, events } = await start({ beforeSignIn: () => Promise.reject(thrown) }, onError)
    expect(await post(GOOD)).toMatchObject({ status, body: 'Pay first', headers: { 'cache-control': 'no-store' } })
    expect(events).toMatchObject([{ type: 'token.refused', code: 'sign_in_refused', accountId: alice.id }])
  })

  it('sends a refusal whose code is that of an exposed error like another one', async () => {
    const { post } = await start({ beforeSignIn: () => Promise.reject(new SignInRefusal('sign_in_refused')) })
    const answer = await post(GOOD)
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([403, 'sign_in_refused'])
  })

  it("passes a refusal to the host's error handler when refuse calls next", async () => {
    const onError: ErrorRequestHandler = (error, _req, res, _next) =>
      void res.status(418).set(error.headers).json(error)
    const { post, events } = await start({ beforeSignIn: asCode, refuse: passOn }, onError)
    const answer = await post(GOOD)
    expect(answer).toMatchObject({ status: 418, headers: { 'cache-control': 'no-store' } })
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'code_required' })
    expect(events).toHaveLength(1)
  })
})

describe('the terms of a sign-in', () => {
  const terms = { lifetime: '5m', claims: { second: ['otp'], iss: 'x' }, scopes: ['reports:read'] }

  it('shorten the token, narrow its scopes, and add claims', async () => {
    const { post } = await start({ beforeSignIn: () => terms })
    const { scope, second, role, iat, exp, iss } = tokenOf(await post(GOOD)) as Record<string, number>
    expect({ scope, second, role }).toEqual({ scope: 'reports:read', second: ['otp'], role: 'manager' })
    expect(Number(exp) - Number(iat)).toBe(300)
    expect(iss).not.toBe('x')
  })

  it.each<[string | undefined, string | undefined, number]>([
    ['2m', '5m', 120],
    ['5m', '2m', 120],
    [undefined, '2m', 120],
    ['2m', undefined, 120],
    [undefined, '5h', 3600],
  ])('never lengthen a token: the account has %s, the terms %s', async (ofAccount, lifetime, seconds) => {
    const { post, account } = await start({ beforeSignIn: () => ({ lifetime }) })
    Object.assign(account, { lifetime: ofAccount })
    const { iat, exp } = tokenOf(await post(GOOD))
    expect(Number(exp) - Number(iat)).toBe(seconds)
  })

  const refreshing = () => ({ store: memoryStore(), secret: SECRET, refresh: 'body' }) as const
  /** Returns the terms of the session of a refresh token. */
  const keptIn = async (store: Store, { body }: { body: string }): Promise<unknown> => {
    const [id = ''] = String(JSON.parse(body).refreshToken).split('.')
    const { terms } = (await store.sessions.find(id)) ?? expect.fail('no session')
    return terms ? JSON.parse(Buffer.from(terms, 'base64url').toString()) : undefined
  }

  it.each<[string, SignInTerms | undefined, object | undefined]>([
    ['none', undefined, undefined],
    [
      'those of the account',
      { scopes: ['admin', 'reports:read'], claims: { role: 'manager' } },
      { scopes: ['admin', 'reports:read'], claims: { role: 'manager' } },
    ],
    ['fewer scopes', { scopes: ['admin'] }, { scopes: ['admin'] }],
    ['no scopes', { scopes: [] }, { scopes: [] }],
    ['other claims', { claims: { org: 8, second: ['otp'] } }, { claims: { org: 8, second: ['otp'] } }],
    ['a shorter lifetime', { lifetime: '2m' }, { lifetime: '2m' }],
    ['a longer lifetime', { lifetime: '20m' }, { lifetime: '10m' }],
    ['the same lifetime in seconds', { lifetime: 600 }, { lifetime: '10m' }],
  ])('are in its session, so that they hold when the account gets more: %s', async (_, returned, kept) => {
    const ofRefresh = refreshing()
    const { post, account } = await start({
      ...ofRefresh,
      beforeSignIn: () => returned,
    })
    Object.assign(account, { lifetime: '10m' })
    expect(await keptIn(ofRefresh.store, await post(GOOD))).toEqual({ ...kept, amr: ['pwd'] })
  })

  it('are at most 1,536 bytes of JSON', async () => {
    const claims = (length: number) => ({
      claims: { long: 'x'.repeat(length - JSON.stringify({ claims: { long: '' }, amr: ['pwd'] }).length) },
    })
    for (const [length, status] of [
      [1536, 200],
      [1537, 503],
    ] as const) {
      const { post, events } = await start({
        ...refreshing(),
        beforeSignIn: () => claims(length),
      })
      expect(await post(GOOD)).toMatchObject({ status })
      const error = status === 503 ? [{ message: expect.stringContaining('beforeSignIn: the claims and scopes') }] : []
      expect(events.flatMap((event) => ('error' in event ? event.error : []))).toMatchObject(error)
    }
  })

  it('stay after each refresh, without what the account has lost meanwhile', async () => {
    const options = {
      ...refreshing(),
      beforeSignIn: () => ({ ...terms, scopes: ['reports:read', 'admin'].slice(0, 1) }),
    } as const
    const { post, account } = await start(options)
    let { refreshToken } = JSON.parse((await post(GOOD)).body)
    for (let times = 0; times < 2; times++) {
      const answer = await post({ refreshToken }, '/refresh')
      const { scope, second, amr, role, iat, exp } = tokenOf(answer)
      expect({ scope, second, role }).toEqual({ scope: 'reports:read', second: ['otp'], role: 'manager' })
      expect(amr).toEqual(['pwd'])
      expect(Number(exp) - Number(iat)).toBe(300)
      ;({ refreshToken } = JSON.parse(answer.body))
    }
    Object.assign(account, { scopes: ['admin'], claims: { role: 'clerk' } })
    const { scope, role } = tokenOf(await post({ refreshToken }, '/refresh'))
    expect({ scope, role }).toEqual({ scope: undefined, role: 'clerk' })
  })

  it('stay after a refresh although the account has got more since, also where the sign-in had all that it had', async () => {
    const same = { scopes: ['reports:read'], lifetime: '5m', claims: { role: 'manager' } }
    const options = { ...refreshing(), beforeSignIn: () => same } as const
    const { post, account } = await start(options)
    Object.assign(account, same)
    const { refreshToken } = JSON.parse((await post(GOOD)).body)
    Object.assign(account, { scopes: ['reports:read', 'admin'], lifetime: '20m', claims: { role: 'owner' } })
    const { scope, role, iat, exp } = tokenOf(await post({ refreshToken }, '/refresh'))
    expect({ scope, role }).toEqual({ scope: 'reports:read', role: 'manager' })
    expect(Number(exp) - Number(iat)).toBe(300)
  })

  it('stay after a refresh where they take a claim of the account away', async () => {
    const beforeSignIn = () => ({ claims: { role: undefined } })
    const { post } = await start({ ...refreshing(), beforeSignIn })
    const answer = await post(GOOD)
    const { refreshToken } = JSON.parse(answer.body)
    for (const token of [tokenOf(answer), tokenOf(await post({ refreshToken }, '/refresh'))]) {
      expect({ role: token['role'], org: token['org'] }).toEqual({ role: undefined, org: 7 })
    }
  })

  it('of a refresh token of an earlier release hold, and move into the session at its next refresh', async () => {
    const ofRefresh = refreshing()
    const { post, account } = await start({ ...ofRefresh, beforeSignIn: () => terms })
    const { sessions } = ofRefresh.store
    const [sessionId = ''] = String(JSON.parse((await post(GOOD)).body).refreshToken).split('.')
    const [session] = await Promise.all([sessions.find(sessionId)])
    const { refresh, expiresAt, lastUsedAt, terms: kept } = session as Session
    const facts = { sessionId, generation: 0, terms: kept ?? expect.fail('no terms') }
    // As an earlier release has stored it.
    await sessions.removeAll((session as Session).accountId)
    await sessions.add({ ...(session as Session), terms: null })
    Object.assign(account, { scopes: ['reports:read', 'admin'] })
    const old = refreshTokenOfBefore(SECRET, facts, ISSUER)
    const answers = [await post({ refreshToken: old }, '/refresh'), await post({ refreshToken: old }, '/refresh')]
    expect(answers.map((one) => tokenOf(one)['scope'])).toEqual(['reports:read', 'reports:read'])
    expect((await sessions.find(sessionId))?.terms).toBe(kept)
    const { refreshToken } = JSON.parse(answers[1]?.body ?? '')
    expect(refreshToken.split('.')).toHaveLength(3)
    expect(tokenOf(await post({ refreshToken }, '/refresh'))['scope']).toBe('reports:read')
    expect([refresh, expiresAt, lastUsedAt].every(Boolean)).toBe(true)
  })

  it('are refused with 503 by a store that does not store them, and no session and no token remains', async () => {
    const options = refreshing()
    const { sessions } = options.store
    const { add } = sessions
    sessions.add = ({ terms: _, ...session }) => add(session)
    const { post, events } = await start({ ...options, beforeSignIn: () => terms })
    expectUnavailable(await post(GOOD))
    const message = expect.stringContaining('"terms" must be the string that the store received, unchanged')
    expect(events.at(-1)).toMatchObject({ type: 'dependency.failed', dependency: 'sessions', error: { message } })
    expect(events.map(({ type }) => type)).not.toContain('token.issued')
    expect(sessions.list(alice.id)).toEqual([])
  })

  it('of an earlier release cannot be changed, or left out', async () => {
    const { post } = await start({ ...refreshing(), beforeSignIn: () => terms })
    const [id = ''] = String(JSON.parse((await post(GOOD)).body).refreshToken).split('.')
    const old = refreshTokenOfBefore(SECRET, { sessionId: id, generation: 0, terms: 'e30' }, ISSUER)
    const [, , , mac] = old.split('.')
    for (const forged of [
      [id, 0, mac],
      [id, 0, 'e31', mac],
      [id, 0, '', mac],
    ])
      expectForbidden(await post({ refreshToken: forged.join('.') }, '/refresh'))
  })

  it('are refused with 503 when the column could not hold them, and no session remains', async () => {
    const options = refreshing()
    const { post } = await start({
      ...options,
      beforeSignIn: () => ({ claims: { long: 'x'.repeat(2000) } }),
    })
    expectUnavailable(await post(GOOD))
    expect(options.store.sessions.list(alice.id)).toEqual([])
  })
})

describe('the claim amr', () => {
  const refreshing = () => ({ store: memoryStore(), secret: SECRET, refresh: 'body' }) as const

  it('names the password, also after each refresh', async () => {
    const { post } = await start(refreshing())
    const answer = await post(GOOD)
    const { refreshToken } = JSON.parse(answer.body)
    for (const token of [tokenOf(answer), tokenOf(await post({ refreshToken }, '/refresh'))])
      expect(token).toMatchObject({ amr: ['pwd'] })
  })

  it('is that of the sign-in, and not a private claim of the host', async () => {
    const { post, account } = await start({ beforeSignIn: () => ({ claims: { amr: ['hwk'] } }) })
    Object.assign(account, { claims: { amr: ['swk'] } })
    expect(tokenOf(await post(GOOD))).toMatchObject({ amr: ['pwd'] })
  })

  it('is absent after a refresh of a session of an earlier release, which had none', async () => {
    const options = refreshing()
    const { post } = await start(options)
    const { refreshToken } = JSON.parse((await post(GOOD)).body)
    const { sessions } = options.store
    const session = await sessions.find(refreshToken.split('.')[0])
    await sessions.removeAll((session as Session).accountId)
    await sessions.add({ ...(session as Session), terms: null })
    expect(tokenOf(await post({ refreshToken }, '/refresh'))).not.toHaveProperty('amr')
  })
})

describe('the option credentials', () => {
  type Nested = { user: Record<string, unknown> }

  it('reads a nested body, and passes on the other members of what it returns', async () => {
    const seen: object[] = []
    const { post } = await start({
      credentials: ({ user }: Nested) => ({ email: user['mail'], password: user['pass'], device: user['device'] }),
      beforeSignIn: ({ fields }) => void seen.push({ ...fields }),
    })
    const user = { mail: GOOD.email, pass: GOOD.password, device: 'x', other: 1 }
    expect(await post({ user })).toMatchObject({ status: 200 })
    expect(seen).toEqual([{ device: 'x' }])
  })

  it('passes on only what extraFields names, where both are given', async () => {
    const seen: object[] = []
    const credentials = ({ user }: Nested) => user
    const { post } = await start({
      credentials,
      extraFields: ['code'],
      beforeSignIn: ({ fields }) => void seen.push({ ...fields }),
    })
    await post({ user: { ...GOOD, code: 1, other: 2 } })
    expect(seen).toEqual([{ code: 1 }])
  })

  it.each<[string, unknown]>([
    ['another shape', { email: 1 }],
    ['no object', []],
    ['a member of the wrong type', { user: { email: 1, password: 'x' } }],
  ])('responds 400 to a body with %s', async (_, body) => {
    const { post } = await start({
      credentials: ({ user }: Nested) => ({ email: user['email'], password: user['password'] }),
    })
    expectBadRequest(await post(body as object))
  })

  it('that is an async function causes 503 with an event, and a body that it does not understand does not end the process', async () => {
    const { post, events } = await start({ credentials: async ({ user }: Nested) => ({ ...GOOD, id: user['id'] }) })
    const unhandled = fatalErrors()
    for (const body of [{ user: GOOD }, {}]) expectUnavailable(await post(body))
    await settled()
    expect(unhandled).toEqual([])
    expect(events).toMatchObject(
      Array(2).fill({ type: 'dependency.failed', error: { message: expect.stringContaining('a Promise') } }),
    )
  })

  it('is not called for a body that is no object', async () => {
    const { post } = await start({ credentials: () => GOOD })
    expect(await post({})).toMatchObject({ status: 200 })
    expectBadRequest(await post([]))
  })

  it("passes its error to the host's error handler when refuse calls next, as the cause of the refusal", async () => {
    const cause = new Error('another shape')
    const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(418).json(error.cause === cause)
    const credentials = () => {
      throw cause
    }
    const { post } = await start({ credentials, refuse: passOn }, onError)
    expect(await post({})).toMatchObject({ status: 418, body: 'true' })
  })
})

describe('auth.logIn with a step after the password', () => {
  const make = (beforeSignIn: BeforeSignIn<Omit<typeof alice, 'passwordHash'>, unknown>, onEvent?: AuthObserver) =>
    authWith<typeof alice>({
      accounts: () => alice,
      extraFields: ['code'],
      beforeSignIn: beforeSignIn as never,
      onEvent,
    })

  it('takes the further fields beside the credentials, and rejects with the refusal', async () => {
    const { logIn } = make(asCode as never)
    expect(await logIn({ ...GOOD, code: '123456' })).toMatchObject({ subject: { accountId: alice.id } })
    const refusal = await rejectionOf(logIn(GOOD))
    expect(refusal).toMatchObject({ name: 'SignInRefusal', code: 'code_required', status: 403, statusCode: 403 })
    expect(JSON.parse(JSON.stringify(refusal))).toMatchObject({ code: 'code_required' })
  })

  it('rejects with the exposed error itself', async () => {
    const thrown = Object.assign(new Error('Pay first'), { status: 402, expose: true })
    expect(await rejectionOf(make(() => Promise.reject(thrown)).logIn(GOOD))).toBe(thrown)
  })

  it('sends its refusals with auth.errors from a custom route, with one event', async () => {
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => void events.push(event)
    const auth = make(asCode as never, onEvent)
    const app = express().use(express.json())
    app.post('/custom', async (req, res) => void res.json(await auth.logIn(req.body, req)))
    app.use(auth.errors)
    const send = client((await listen(app)).port)
    const answer = await send({ ...asJson(GOOD), method: 'POST', path: '/custom' })
    expect(answer).toMatchObject({ status: 403, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'code_required' })
    expect(events).toMatchObject([{ type: 'token.refused', code: 'code_required' }])
  })

  it('needs no login: auth.errors sends and reports a refusal that a custom route throws', async () => {
    const onEvent = vi.fn()
    const app = express().get('/custom', () => {
      throw new SignInRefusal('closed')
    })
    app.use(make(() => null, onEvent).errors)
    const answer = await client((await listen(app)).port)({ method: 'GET', path: '/custom' })
    expect(answer).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } })
    expect(onEvent.mock.calls).toMatchObject([[{ type: 'token.refused', code: 'closed' }]])
  })
})

describe('SignInRefusal', () => {
  const CODE = 'SignInRefusal: the code must be a string like "code_required", of at most 64 characters'
  const STATUS = 'option "status" must be a status, a whole number from 400 to 499'
  const HEADERS = `option "headers" must be an object of header lines, like { 'Retry-After': '60' }`
  it.each<[string, unknown, object, string]>([
    ['no code', undefined, {}, CODE],
    ['a number as a code', 7, {}, CODE],
    ['a code with a space', 'code required', {}, CODE],
    ['a code with a space at its beginning', ' code', {}, CODE],
    ['a code with a space at its end', 'code ', {}, CODE],
    ['a code of 65 characters', 'x'.repeat(65), {}, CODE],
    [
      'a code of AuthError',
      'invalid_credentials',
      {},
      '"invalid_credentials" is a code of AuthError. Choose a different',
    ],
    ['a status of the server', 'x', { status: 500 }, STATUS],
    ['a status of a success', 'x', { status: 399 }, STATUS],
    ['an empty detail', 'x', { detail: '' }, 'option "detail" must be a non-empty string'],
    ['headers that are a list', 'x', { headers: [] }, HEADERS],
    ['a header with a line break', 'x', { headers: { 'X-A': 'a\r\nb' } }, HEADERS],
    ['a header that is a number', 'x', { headers: { 'Retry-After': 60 } }, HEADERS],
    ['a header whose name has a space at its end', 'x', { headers: { 'X-A ': 'a' } }, HEADERS],
    ['a header whose name has a space at its beginning', 'x', { headers: { ' X-A': 'a' } }, HEADERS],
    ['one of two headers that is a number', 'x', { headers: { 'X-A': 'a', 'X-B': 1 } }, HEADERS],
    ['a header without a name', 'x', { headers: { '': 'a' } }, HEADERS],
    ['a misspelt option', 'x', { countsAsFailure: true }, 'SignInRefusal: unknown option "countsAsFailure". Did you'],
    ['the status as "statusCode"', 'x', { statusCode: 400 }, 'Did you mean "status"'],
  ])('throws a TypeError for %s', (_, code, options, message) => {
    expectMisuse(() => new SignInRefusal(code as string, options), message)
  })

  it.each([
    'cache-control',
    'Connection',
    'content-type',
    'Content-Length',
    'pragma',
    'set-cookie',
    'transfer-encoding',
    'www-authenticate',
  ])('throws a TypeError for the header %s, which belongs to the response', (name) => {
    expectMisuse(() => new SignInRefusal('x', { headers: { [name]: 'a' } }), HEADERS)
    const headers = { [`X-${name}`]: 'a', [`${name.replace('ontent-', 'ontents-')}-X`]: 'a' }
    expect(new SignInRefusal('x', { headers }).headers).toMatchObject(headers)
  })

  it('holds what it was given, and a cause only where there is one', () => {
    const cause = new Error('bad')
    const code = 'x'.repeat(64)
    expect(new SignInRefusal(code, { status: 400, detail: 'No', cause })).toMatchObject({ code, message: 'No', cause })
    const refusal = new SignInRefusal('x', { status: 499, headers: { 'X-A': '' } })
    expect(refusal).toMatchObject({ status: 499, statusCode: 499, headers: { 'X-A': '' }, countAsFailure: false })
    expect(Object.hasOwn(refusal, 'cause')).toBe(false)
  })
})

describe('the options of a step after the password', () => {
  const make = (options: object) => tokenRouter({ tokens: makeIssuer(), accounts: () => alice, ...options })
  it.each<[string, object, string]>([
    ['extraFields that is a text', { extraFields: 'code' }, 'option "extraFields"'],
    ['extraFields with the password', { extraFields: ['password'] }, 'without "email" and "password"'],
    ['beforeSignIn that is no function', { beforeSignIn: true }, 'option "beforeSignIn"'],
  ])('throw a TypeError for %s', (_, options, message) => {
    expectMisuse(() => make(options), message)
  })
})
