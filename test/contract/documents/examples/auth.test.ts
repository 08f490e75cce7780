import type { Account, Auth } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { get, signIn, startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }

describe('the page on createAuth', () => {
  it('create-auth: signs in with a cookie, and guards routes with the account', async () => {
    const { app, auth } = await run<{ auth: Auth<Account> }>('create-auth')
    app.get('/admin', auth.guard({ scope: 'admin' }), (_req, res) => void res.json([]))
    const { body, headers } = await signIn(app).expect(200)
    expect(String(headers['set-cookie'])).toContain('__Secure-refresh=')
    await get(app, '/me', body.authenticationToken).expect(200, { hello: GOOD.email })
    await get(app, '/admin', body.authenticationToken).expect(403)
    const sessionId = (await auth.tokens.verify(body.authenticationToken)).sessionId as string
    const { token } = await auth.tokens.issue({ accountId: 'acc-1', scopes: ['admin'], sessionId })
    // The account does not have the scope now.
    await get(app, '/admin', token).expect(403)
  })
})

describe('the page on steps after the password', () => {
  it('after-password: refuses until the address is verified and the terms are accepted, and then asks no more', async () => {
    const { app, alice, auth } = await run<{ alice: { verified: boolean } }>('after-password')
    const send = (body: object) =>
      request(app)
        .post(TOKEN_PATH)
        .send({ ...GOOD, ...body })
    const codeOf = async (body: object) => (await send(body).expect(403)).body.code
    await send({ password: 'wrong', acceptTerms: true }).expect(403, '')
    expect(await codeOf({ acceptTerms: true })).toBe('email_not_verified')
    alice.verified = true
    for (const no of [undefined, false, 'true', { $ne: 1 }])
      expect(await codeOf({ acceptTerms: no })).toBe('terms_not_accepted')
    await send({ acceptTerms: true }).expect(200)
    const { body } = await send({}).expect(200)
    expect(await auth.tokens.verify(body.authenticationToken)).toMatchObject({ accountId: 'acc-1' })
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

describe('the page on an app that you have', () => {
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
