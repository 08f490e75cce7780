import type { Account, Auth, Codes } from 'express-token-endpoint'
import { Secret, TOTP } from 'otpauth'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { until } from '../../../support/concurrency.js'
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
  it('after-password: asks for a code, takes each code once, and counts a wrong one', async () => {
    const { app, alice, secret } = await run<{ alice: { verified: boolean }; secret: string }>('after-password')
    const totp = new TOTP({ secret: Secret.fromBase32(secret) })
    const code = totp.generate()
    const send = (more: object) =>
      request(app)
        .post(TOKEN_PATH)
        .send({ ...GOOD, ...more })
    expect((await send({}).expect(403)).body.code).toBe('code_required')
    const { body } = await send({ code }).expect(200)
    await get(app, '/me', body.authenticationToken).expect(200, { id: 'acc-1' })
    expect((await send({ code }).expect(403)).body.code).toBe('wrong_code')
    for (const wrong of [Number(code), { $ne: 1 }])
      expect((await send({ code: wrong }).expect(403)).body.code).toBe('wrong_code')
    alice.verified = false
    expect((await send({ code }).expect(403)).body.code).toBe('email_not_verified')
    alice.verified = true
    for (let times = 0; times < 7; times++) await send({ code })
    await send({ code: totp.generate({ timestamp: Date.now() + 30_000 }) }).expect(429)
  })
})

describe('the page on codes', () => {
  it('codes: verifies an address once, and resets a password by a mailed link', async () => {
    const { app, codes, mailed, verified } = await run<{ codes: Codes; mailed: string[]; verified: string[] }>('codes')
    const post = (path: string, body: object) => request(app).post(path).send(body)
    const code = await codes.create({ purpose: 'verify', accountId: 'acc-1' })
    await post('/verify', { code }).expect(204)
    await post('/verify', { code }).expect(403)
    expect(verified).toEqual(['acc-1'])
    for (const email of [GOOD.email, 'nobody@example.com']) await post('/reset', { email }).expect(204)
    await until(() => expect(mailed).toHaveLength(1))
    const reset = mailed[0]?.split('#')[1]
    const password = 'a new password of 15'
    await post('/reset/password', { code: reset, password: 'short' }).expect(403)
    await post('/reset/password', { code: reset, password }).expect(204)
    await post('/reset/password', { code: reset, password }).expect(403)
    await post(TOKEN_PATH, GOOD).expect(403)
    await post(TOKEN_PATH, { ...GOOD, password }).expect(200)
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
