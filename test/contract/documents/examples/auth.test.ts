import type { Account, Auth } from 'express-token-endpoint'
import { Secret, TOTP } from 'otpauth'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { statuses } from '../../../support/concurrency.js'
import { get, signIn, startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }

describe('the page on createAuth', () => {
  it('create-auth: signs in with a cookie, guards routes with the account, and lets an administrator act as a user', async () => {
    const { app, auth } = await run<{ auth: Auth<Account> }>('create-auth')
    const { body, headers } = await signIn(app).expect(200)
    expect(String(headers['set-cookie'])).toContain('__Secure-refresh=')
    await get(app, '/me', body.authenticationToken).expect(200, { hello: GOOD.email })
    await get(app, '/admin', body.authenticationToken).expect(403)
    const sessionId = (await auth.tokens.verify(body.authenticationToken)).sessionId as string
    const { token } = await auth.tokens.issue({ accountId: 'acc-1', scopes: ['admin'], sessionId })
    // The account does not have the scope now.
    await request(app).post('/act-as/acc-1').set('Authorization', `Bearer ${token}`).expect(403)
  })
})

describe('the page on steps after the password', () => {
  const WRONG = { ...GOOD, password: 'wrong' }

  async function startFactor(instance: string) {
    const { app, alice, secret } = await run<{ alice: { verified: boolean }; secret: string }>(
      'after-password',
      instance,
    )
    const totp = new TOTP({ secret: Secret.fromBase32(secret) })
    const send = (body: object) => request(app).post(TOKEN_PATH).send(body)
    const code = totp.generate()
    const next = totp.generate({ timestamp: Date.now() + 30_000 })
    const wrong = `${(Number(code) + 1) % 1_000_000}`.padStart(6, '0')
    return { app, alice, send, code, next, wrong }
  }

  it('after-password: asks for a code after a right password, and takes each code once', async () => {
    const { app, alice, send, code, next, wrong } = await startFactor('once')
    await send(WRONG).expect(403, '')
    await send({ ...WRONG, code }).expect(403, '')
    const codeOf = async (body: object) => (await send({ ...GOOD, ...body }).expect(403)).body.code
    expect(await codeOf({})).toBe('code_required')
    const responses = await Promise.all([send({ ...GOOD, code }), send({ ...GOOD, code })])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 403])
    const token = responses.find(({ status }) => status === 200)?.body.authenticationToken
    await get(app, '/me', token).expect(200, { id: 'acc-1' })
    for (const no of [code, Number(next), { $ne: 1 }, null, wrong])
      expect(await codeOf({ code: no })).toBe('wrong_code')
    alice.verified = false
    expect(await codeOf({ code: next })).toBe('email_not_verified')
    alice.verified = true
    await send({ ...GOOD, code: next }).expect(200)
  })

  it.each([
    ['right', GOOD],
    ['wrong', WRONG],
  ])('after-password: checks ten codes of simultaneous guesses with a %s password', async (instance, credentials) => {
    const { send, wrong } = await startFactor(`${instance} at once`)
    const responses = await Promise.all(Array.from({ length: 30 }, () => send({ ...credentials, code: wrong })))
    expect(statuses(responses)).toEqual({ 403: 10, 429: 20 })
  })

  it('after-password: counts wrong codes like wrong passwords, so that a 429 does not tell that the password is right', async () => {
    /** Returns what a client sees of a sign-in after ten failures, of which some had a wrong code. */
    async function seen(codes: number) {
      const { send, next, wrong } = await startFactor(`${codes} wrong codes`)
      for (let i = 0; i < 10; i++) await send({ ...(i < codes ? GOOD : WRONG), code: wrong }).expect(403)
      const responses = [await send({ ...GOOD, code: next }), await send({ ...WRONG, code: wrong })]
      return responses.map(({ status, body, headers }) => ({ status, body, headers: Object.keys(headers) }))
    }
    const [refused, same] = await seen(10)
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_attempts' } })
    expect(same).toEqual(refused)
    for (const codes of [0, 5]) expect(await seen(codes)).toEqual([refused, refused])
  })
})

describe('the recipe for administrators', () => {
  async function startActing(instance: string) {
    const recipe = await run<{ auth: Auth<Account>; rows: object[]; failing: Set<string> }>('act-as', instance)
    const { app, auth, rows } = recipe
    const tokenOf = async (name: string) =>
      (
        await request(app)
          .post(TOKEN_PATH)
          .send({ email: `${name}@example.com`, password: 'secret' })
          .expect(200)
      ).body.authenticationToken as string
    const post = (path: string, token: string) => request(app).post(path).auth(token, { type: 'bearer' })
    const actAs = async (token: string) => (await post('/act-as/acc-1', token).expect(200)).body.authenticationToken
    const admin = await tokenOf('bob')
    return {
      ...recipe,
      admin,
      user: await tokenOf('alice'),
      post,
      actAs,
      idOf: async (token: string) => {
        const { id, sessionId = id } = await auth.tokens.verify(token)
        return sessionId
      },
      rows,
    }
  }

  it('act-as: writes both names into the audit for the sign-in and for each request', async () => {
    const { app, rows, admin, user, actAs, idOf } = await startActing('audit')
    const acting = await actAs(admin)
    await get(app, '/me', acting).expect(200, { id: 'acc-1', actor: 'adm-1' })
    await get(app, '/me', user).expect(200, { id: 'acc-1' })
    const both = { accountId: 'acc-1', actorId: 'adm-1', sessionId: await idOf(acting) }
    expect(rows).toEqual([
      { accountId: 'adm-1', actorId: undefined, sessionId: await idOf(admin), action: 'POST /act-as/acc-1' },
      { ...both, action: 'acts as the user' },
      { ...both, action: 'GET /me' },
      { accountId: 'acc-1', actorId: undefined, sessionId: await idOf(user), action: 'GET /me' },
    ])
  })

  it('act-as: is for administrators only, not for other administrators, and not for the password', async () => {
    const { app, admin, user, post, actAs, failing } = await startActing('limits')
    await post('/act-as/acc-1', user).expect(403)
    await post('/act-as/adm-2', admin).expect(403)
    await post('/act-as/acc-0', admin).expect(403)
    const acting = await actAs(admin)
    await post('/act-as/acc-1', acting).expect(403)
    const change = (token: string) => request(app).put('/password').auth(token, { type: 'bearer' })
    expect((await change(acting).expect(403)).body.code).toBe('forbidden')
    await change(user).expect(204)
    failing.add('PUT /password')
    await change(user).expect(500)
  })

  it('act-as: ends with a sign-out, by the user, or by the id in the audit, and leaves the other sessions', async () => {
    const { app, auth, admin, user, post, actAs, idOf } = await startActing('end')
    const sessions = auth.sessions ?? expect.fail('no sessions')
    const [one, two, three] = [await actAs(admin), await actAs(admin), await actAs(admin)]
    expect((await sessions.list('acc-1')).filter(({ label }) => label === 'Support')).toHaveLength(3)
    await post('/sessions/sign-out', one).expect(204)
    await request(app)
      .delete(`/sessions/${await idOf(two)}`)
      .auth(user, { type: 'bearer' })
      .expect(204)
    await sessions.end({ accountId: 'acc-1' }, await idOf(three))
    for (const acting of [one, two, three]) await get(app, '/me', acting).expect(401)
    for (const own of [admin, user]) await get(app, '/me', own).expect(200)
  })
})

describe('the section on “remember me”', () => {
  it('short-sign-in: keeps only a user signed in who wants it, and ends the other session with its token', async () => {
    const { app, auth } = await run<{ auth: Auth<Account> }>('short-sign-in')
    const lengths = async (remember?: unknown) => {
      const now = Date.now()
      const { body, headers } = await request(app)
        .post(TOKEN_PATH)
        .send({ ...GOOD, remember })
        .expect(200)
      const { expiresAt, sessionId, id } = await auth.tokens.verify(body.authenticationToken)
      const session = (await auth.sessions?.list('acc-1'))?.find((one) => one.id === (sessionId ?? id))
      const minutes = [expiresAt, session?.expiresAt].map((end) => Math.round((Number(end) - now) / 60_000))
      return { minutes, cookie: [headers['set-cookie'] ?? []].flat() }
    }
    expect(await lengths(false)).toEqual({ minutes: [120, 120], cookie: [] })
    for (const remember of [true, undefined]) {
      const { minutes, cookie } = await lengths(remember)
      expect(minutes).toEqual([10, 14 * 24 * 60])
      const refreshed = await request(app)
        .post(`${TOKEN_PATH}/refresh`)
        .set('Cookie', String(cookie[0]).split(';')[0] ?? '')
        .expect(200)
      expect(Math.round((Date.parse(refreshed.body.expiration) - Date.now()) / 60_000)).toBe(10)
    }
  })
})

describe('the page on passkeys', () => {
  it('passkeys: adds one only for a user who signed in within ten minutes', async () => {
    const { app, auth } = await run<{ auth: Auth<Account> }>('passkeys')
    const options = (token: string) => request(app).post('/passkeys/options').auth(token, { type: 'bearer' })
    await options('x.y.z').expect(401)
    const { body } = await signIn(app).expect(200)
    const { body: added } = await options(body.authenticationToken).expect(200).expect('Cache-Control', 'no-store')
    expect(added).toMatchObject({ rp: { id: 'app.example.com' }, user: { name: GOOD.email } })
    const { sessionId = '' } = await auth.tokens.verify(body.authenticationToken)
    const signedInAt = new Date(Date.now() - 601_000)
    const { token } = await auth.tokens.issue({ accountId: 'acc-1', sessionId, signedInAt })
    expect((await options(token).expect(401)).body.code).toBe('insufficient_user_authentication')
  })

  it('passkeys: refuses malformed responses, and gives a client 100 challenges in five minutes', async () => {
    const { app, rows } = await run<{ rows: object[] }>('passkeys', 'limits')
    const post = (path: string, body: object) => request(app).post(path).send(body)
    const { body } = await signIn(app).expect(200)
    rows.push({ id: 'known', accountId: 'acc-1', publicKey: new Uint8Array(32), counter: 0 })
    for (const id of ['known', 'unknown', { $ne: 1 }, undefined])
      await post('/sign-in/passkey', { id, rawId: id, type: 'public-key', response: {} }).expect(403, '')
    await post('/passkeys', { id: 'x' }).auth(body.authenticationToken, { type: 'bearer' }).expect(403, '')
    expect(rows).toHaveLength(1)
    for (let i = 0; i < 100; i++) await post('/sign-in/passkey/options', {}).expect(200)
    expect((await post('/sign-in/passkey/options', {}).expect(429)).headers).toHaveProperty('retry-after')
  })
})

describe('the page on an app that you have', () => {
  it('refuse: sends refusals in the form of the host', async () => {
    const { app } = await run('refuse')
    const { status, body } = await request(app)
      .post(TOKEN_PATH)
      .send({ ...GOOD, password: 'x' })
    expect({ status, body }).toEqual({ status: 401, body: { errors: { invalid_credentials: expect.any(String) } } })
    expect((await request(app).get('/me')).body).toEqual({ errors: { missing_token: expect.any(String) } })
    await signIn(app).expect(200)
  })

  it('token-source: reads the scheme Token, and a cookie', async () => {
    const { app, tokens } = await run('token-source')
    const { token } = await tokens.issue({ accountId: 'acc-1' })
    await request(app).get('/articles').set('Authorization', `Token ${token}`).expect(200)
    await request(app).get('/articles').set('Authorization', `Bearer ${token}`).expect(401)
    await request(app).get('/page').set('Cookie', `a=1; token=${token}`).expect(200)
    await request(app).get('/page').expect(401)
  })

  it('own-model: gives the model to the response and to the handler', async () => {
    const { app } = await run('own-model')
    const { token, user } = (await signIn(app).expect(200)).body
    expect(user).toEqual({ email: GOOD.email })
    await get(app, '/me', token).expect(200, user)
    await get(app, '/me', 'x').expect(401)
  })

  it('allow: admits the owner only', async () => {
    const { app, tokens } = await run('allow')
    const { token } = await tokens.issue({ accountId: 'acc-1' })
    await get(app, '/users/acc-1', token).expect(200)
    await get(app, '/users/acc-2', token).expect(403)
  })

  it('tenants: finds the account of the tenant, and limits each apart', async () => {
    const { app, auth } = await run<{ auth: Auth<Account> }>('tenants')
    const send = (host: string, password = 'secret') =>
      request(app)
        .post(TOKEN_PATH)
        .set('Host', host)
        .send({ ...GOOD, password })
    for (const tenant of ['north', 'south']) {
      const { body } = await send(`${tenant}.example.com`).expect(200)
      expect(await auth.tokens.verify(body.authenticationToken)).toMatchObject({ accountId: tenant })
    }
    await send('east.example.com').expect(403)
    for (let times = 0; times < 10; times++) await send('north.example.com', 'x').expect(403)
    await send('north.example.com').expect(429)
    // No other spelling of the host adds points for the same account.
    for (const [host, status] of [
      ['north.example.com:81', 429],
      ['NORTH.example.com', 403],
      ['north.example.com.', 403],
    ] as const)
      await send(host).expect(status)
    await send('south.example.com').expect(200)
  })

  it('tickets: links one path', async () => {
    const { app } = await run('tickets')
    const token = (await signIn(app).expect(200)).body.authenticationToken
    const { body } = await request(app).post('/reports/7/link').auth(token, { type: 'bearer' }).expect(200)
    await request(app).get(body.url).expect(200, { name: '7.pdf' })
    await request(app).get(body.url.replace('/7', '/8')).expect(401)
  })
})
