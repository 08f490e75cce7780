import { createLimits, memoryStore, type Session, SignInRefusal, type SignInTerms } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { parse, startAuth } from '../../support/auth-app.js'
import { ACCOUNTS, decodePayload } from '../../support/fixtures.js'
import { expectBadRequest, expectForbidden, expectProblem, GOOD } from '../../support/host.js'
import { TOKEN_PATH } from '../../support/http.js'

const { alice, bob } = ACCOUNTS
const CONFIRM = `${TOKEN_PATH}/confirm`
const { password } = GOOD
const MINUTE = 60_000

async function start(options: Parameters<typeof startAuth>[0] = {}) {
  const time = { now: 1_800_000_000_000 }
  const store = memoryStore()
  const app = await startAuth({ refresh: 'body', store, clock: () => time.now, ...options })
  const confirm = (token: string, body: object = { password }) =>
    app.post(CONFIRM, body, { authorization: `Bearer ${token}` })
  const refresh = async (refreshToken: string) => parse(await app.post(`${TOKEN_PATH}/refresh`, { refreshToken }))
  return { ...app, time, store, confirm, refresh }
}

describe('a step-up', () => {
  it('returns a token of the same session with a new time of sign-in, and changes nothing else', async () => {
    const { signIn, confirm, refresh, get, time, events, store, sessions } = await start()
    const { authenticationToken, refreshToken } = await signIn()
    const { sid, auth_time } = decodePayload(authenticationToken)
    time.now += 5 * MINUTE
    expect(await get('/recent', authenticationToken)).toMatchObject({ status: 401 })
    const before = await store.sessions.find(String(sid))
    events.length = 0
    const answer = await confirm(authenticationToken)
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
    const { authenticationToken: token, expiration, ...rest } = parse(answer)
    expect(rest).toEqual({})
    const payload = decodePayload(token)
    expect(payload).toMatchObject({ sid, sub: alice.id, amr: ['pwd'], auth_time: time.now / 1000 })
    expect(new Date(expiration).getTime()).toBe(time.now + 10 * MINUTE)
    expect(await get('/recent', token)).toMatchObject({ status: 200 })
    const { jti: tokenId } = payload
    expect(events).toMatchObject([{ type: 'token.issued', accountId: alice.id, tokenId, sessionId: sid }])
    expect(await sessions.list(alice.id)).toHaveLength(1)
    expect(await store.sessions.find(String(sid))).toMatchObject({ refresh: before?.refresh, terms: before?.terms })
    const refreshed = decodePayload((await refresh(refreshToken)).authenticationToken)
    expect(refreshed).toMatchObject({ sid, auth_time, amr: ['pwd'] })
  })

  it.each<[string, Parameters<typeof startAuth>[0]]>([
    ['without refresh', { refresh: undefined }],
    ['of a client without refresh', { refresh: () => undefined }],
  ])('in a session %s has its id and ends with it', async (_, options) => {
    const { signIn, confirm, get, post, time, sessions } = await start(options)
    const { authenticationToken, expiration } = await signIn()
    const { jti } = decodePayload(authenticationToken)
    time.now += 5 * MINUTE
    const stepped = parse(await confirm(authenticationToken))
    const token = stepped.authenticationToken
    expect(decodePayload(token)).toMatchObject({ sid: jti, auth_time: time.now / 1000, amr: ['pwd'] })
    expect(stepped.expiration).toBe(expiration)
    const again = parse(await confirm(token)).authenticationToken
    expect(decodePayload(again)).toMatchObject({ sid: jti })
    expect(parse(await get('/sessions', again)).sessions).toMatchObject([{ id: jti, current: true }])
    expect(await post('/sessions/sign-out', {}, { authorization: `Bearer ${again}` })).toMatchObject({ status: 204 })
    expect(await sessions.list(alice.id)).toEqual([])
    for (const one of [authenticationToken, token, again]) expect(await get('/me', one)).toMatchObject({ status: 401 })
  })

  it('of a token with less than a second left is refused, where the token ends with its session', async () => {
    const { signIn, confirm, time } = await start({ refresh: undefined })
    const { authenticationToken } = await signIn()
    time.now += 10 * MINUTE - 999
    expectProblem(await confirm(authenticationToken), 401, 'invalid_token', 'Unauthorized')
  })

  it('is absent without sessions, and without accounts that are found by their id', async () => {
    const off = { secret: undefined, refresh: undefined }
    for (const options of [{ store: undefined }, { accounts: () => ({ ...alice, team: 'north' }) }]) {
      const { signIn, confirm, auth } = await start({ ...off, ...options })
      expect(await confirm((await signIn()).authenticationToken)).toMatchObject({ status: 404 })
      expect(auth.openApi).toMatchObject({ stepUp: false })
    }
  })

  it('has the response of the option respond, and reads the password of a body of another shape', async () => {
    const { signIn, confirm } = await start({
      respond: ({ token, account }) => ({ authenticationToken: token, hello: account.team }),
      credentials: ({ user }: { user: { mail: string; pass: string } }) => ({ email: user.mail, password: user.pass }),
    })
    const { authenticationToken } = await signIn({ user: { mail: GOOD.email, pass: password } })
    const answer = parse(await confirm(authenticationToken, { user: { pass: password } }))
    expect(answer).toEqual({ authenticationToken: expect.any(String), hello: 'north' })
  })

  it.each([{}, { password: 7 }, { password: ['x'] }, { password: '\ud800' }])('refuses the body %o', async (body) => {
    const { signIn, confirm } = await start()
    expectBadRequest(await confirm((await signIn()).authenticationToken, body))
  })

  it('refuses a request without a token, and an administrator who acts as the account', async () => {
    const { signIn, actAs, post, confirm } = await start()
    expect(await post(CONFIRM, { password })).toMatchObject({ status: 401 })
    const acting = parse(await actAs(bob, (await signIn()).authenticationToken)).authenticationToken
    expectProblem(await confirm(acting), 403, 'forbidden', 'Forbidden')
  })

  it('refuses an API key', async () => {
    const key = { id: 'key-1', accountId: alice.id, scopes: [], issuedAt: new Date(0) }
    const keys = { issuer: 'keys', accepts: (text: string) => text === 'key', verify: async () => key }
    const { confirm, get } = await start({ alsoAccept: [keys], refresh: undefined })
    expect(await get('/me', 'key')).toMatchObject({ status: 200 })
    expect(await confirm('key')).toMatchObject({ status: 401 })
  })
})

describe('a wrong password of a step-up', () => {
  const limits = () => createLimits({ limits: { account: { points: 3, duration: '1h' } } })

  it('is the empty 403 of a sign-in, and counts with those of sign-ins at the same account', async () => {
    const { signIn, confirm, post, events } = await start({ limits: limits() })
    const { authenticationToken } = await signIn()
    events.length = 0
    expectForbidden(await confirm(authenticationToken, { password: 'wrong' }))
    expect(events).toMatchObject([{ type: 'token.refused', accountId: alice.id, reason: 'wrong_password' }])
    expectForbidden(await post(TOKEN_PATH, { ...GOOD, password: 'wrong' }))
    expectForbidden(await confirm(authenticationToken, { password: 'wrong' }))
    expectProblem(await confirm(authenticationToken), 429, 'too_many_attempts', 'Too Many Requests')
    expectProblem(await post(TOKEN_PATH, GOOD), 429, 'too_many_attempts', 'Too Many Requests')
  })

  it('counts for an account whose store returns no address', async () => {
    const { signIn, confirm, list } = await start({ limits: limits() })
    const { authenticationToken } = await signIn()
    Object.assign(list[0] as object, { email: undefined })
    for (let times = 0; times < 3; times++) expectForbidden(await confirm(authenticationToken, { password: 'wrong' }))
    expectProblem(await confirm(authenticationToken), 429, 'too_many_attempts', 'Too Many Requests')
  })

  it('counts for no other account, where the store returns no addresses', async () => {
    const { signIn, confirm, list } = await start({ limits: limits() })
    const token = (await signIn()).authenticationToken
    const ofBob = (await signIn({ email: bob.email, password })).authenticationToken
    for (const account of list) Object.assign(account, { email: undefined })
    for (let times = 0; times < 3; times++) expectForbidden(await confirm(ofBob, { password: 'wrong' }))
    expect(await confirm(token)).toMatchObject({ status: 200 })
  })

  it('is every one for an account without a password', async () => {
    const { signIn, confirm, list } = await start()
    const { authenticationToken } = await signIn()
    Object.assign(list[0] as object, { passwordHash: null })
    expectForbidden(await confirm(authenticationToken))
  })

  it('does not put the address of the account into events, which the client has not sent', async () => {
    const { signIn, confirm, events } = await start({ emailInEvents: true })
    const { authenticationToken } = await signIn()
    events.length = 0
    await confirm(authenticationToken, { password: 'wrong' })
    expect(events[0]).not.toHaveProperty('email')
  })
})

describe('beforeSignIn at a step-up', () => {
  it('is asked as at a sign-in, and a wrong code counts as a failed login', async () => {
    const asked: object[] = []
    const { signIn, confirm } = await start({
      limits: createLimits({ limits: { account: { points: 2, duration: '1h' } } }),
      extraFields: ['code'],
      beforeSignIn({ method, amr, fields }) {
        asked.push({ method, amr, fields: { ...fields } })
        if (fields['code'] !== '1') throw new SignInRefusal('wrong_code', { countAsFailure: true })
      },
    })
    const { authenticationToken } = await signIn({ ...GOOD, code: '1' })
    expect(await confirm(authenticationToken, { password, code: '1' })).toMatchObject({ status: 200 })
    for (const code of ['2', '3'])
      expectProblem(await confirm(authenticationToken, { password, code }), 403, 'wrong_code', 'Forbidden')
    expect(await confirm(authenticationToken, { password, code: '1' })).toMatchObject({ status: 429 })
    const byPassword = { method: 'password', amr: ['pwd'] }
    expect(asked).toEqual(['1', '1', '2', '3'].map((code) => ({ ...byPassword, fields: { code } })))
  })

  it.each(['body', undefined] as const)('narrows this token only, refresh: %s', async (refresh) => {
    let terms: SignInTerms | undefined
    const app = await start({ refresh, beforeSignIn: () => terms })
    Object.assign(app.list[0] as object, { scopes: ['a', 'b', 'c'], claims: { role: 'manager' } })
    terms = { scopes: ['a', 'b'], claims: { kiosk: true } }
    const { authenticationToken, refreshToken } = await app.signIn()
    terms = { scopes: ['b', 'c'], claims: { branch: 7 }, lifetime: '1m' }
    const { scope, kiosk, role, branch, iat, exp } = decodePayload(
      parse(await app.confirm(authenticationToken)).authenticationToken,
    )
    expect({ scope, kiosk, role, branch }).toEqual({ scope: 'b', kiosk: true, role: 'manager', branch: 7 })
    expect(Number(exp) - Number(iat)).toBe(60)
    if (!refresh) return
    const refreshed = decodePayload((await app.refresh(refreshToken)).authenticationToken)
    expect(refreshed).toMatchObject({ scope: 'a b', kiosk: true })
    expect(refreshed).not.toHaveProperty('branch')
  })
})

describe('the terms of a session', () => {
  it.each(['body', undefined] as const)(
    'stay at a step-up when the account gets more, refresh: %s',
    async (refresh) => {
      let terms: SignInTerms | undefined = { scopes: ['a'], claims: { kiosk: true } }
      const app = await start({ refresh, beforeSignIn: () => terms })
      Object.assign(app.list[0] as object, { scopes: ['a', 'b'] })
      const { authenticationToken } = await app.signIn()
      terms = undefined
      const stepped = parse(await app.confirm(authenticationToken)).authenticationToken
      expect(decodePayload(stepped)).toMatchObject({ scope: 'a', kiosk: true })
    },
  )

  it('of an earlier release are those of its token, which the new token does not outlive', async () => {
    const { signIn, confirm, list, store, time } = await start({ beforeSignIn: () => ({ scopes: ['a'] }) })
    Object.assign(list[0] as object, { scopes: ['a'] })
    const { authenticationToken, expiration } = await signIn()
    const session = await store.sessions.find(String(decodePayload(authenticationToken)['sid']))
    await store.sessions.removeAll((session as Session).accountId)
    await store.sessions.add({ ...(session as Session), terms: null })
    Object.assign(list[0] as object, { scopes: ['a', 'b'] })
    time.now += MINUTE
    const stepped = parse(await confirm(authenticationToken))
    expect(stepped.expiration).toBe(expiration)
    expect(decodePayload(stepped.authenticationToken)).toMatchObject({ sid: decodePayload(authenticationToken)['sid'] })
  })

  it('that the store has changed cause 503, and no token', async () => {
    const { signIn, confirm, store, events } = await start()
    const { authenticationToken } = await signIn()
    const session = await store.sessions.find(String(decodePayload(authenticationToken)['sid']))
    await store.sessions.removeAll((session as Session).accountId)
    await store.sessions.add({ ...(session as Session), terms: '!' })
    events.length = 0
    expect(await confirm(authenticationToken)).toMatchObject({ status: 503 })
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'sessions' }])
  })
})

describe('a step-up in progress', () => {
  type App = Awaited<ReturnType<typeof start>>

  it.each<[string, (app: App) => unknown]>([
    [
      'its account gets another password',
      ({ list }) => Object.assign(list[0] as object, { passwordHash: 'plain:new' }),
    ],
    ['its account is disabled', ({ list }) => Object.assign(list[0] as object, { disabled: true })],
    ['its account is deleted', ({ list }) => list.shift()],
    ['its session ends', ({ sessions }) => sessions.endAll(alice.id)],
    [
      'its account ends earlier tokens',
      ({ list, time }) => Object.assign(list[0] as object, { tokensValidAfter: new Date(time.now - MINUTE) }),
    ],
  ])('gets no token when %s meanwhile', async (_, change) => {
    for (const at of ['beforeSignIn', 'respond'] as const) {
      let isChanging = false
      const run = async () => {
        if (isChanging) await change(app)
      }
      const app: App = await start({
        ...(at === 'beforeSignIn' && { beforeSignIn: run }),
        ...(at === 'respond' && {
          respond: async ({ token }) => {
            await run()
            return { authenticationToken: token }
          },
        }),
      })
      const { authenticationToken } = await app.signIn()
      app.time.now += 5 * MINUTE
      isChanging = true
      expectForbidden(await app.confirm(authenticationToken))
      expect(app.events.filter(({ type }) => type === 'token.issued')).toHaveLength(1)
    }
  })

  it('finds no session after a restart of the store, and gets no token', async () => {
    const { signIn, confirm, store } = await start()
    const { authenticationToken } = await signIn()
    const { find } = store.sessions
    let calls = 0
    store.sessions.find = (id) => (++calls > 1 ? undefined : find(id))
    expectForbidden(await confirm(authenticationToken))
  })
})
