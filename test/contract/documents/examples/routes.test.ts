import { Validator } from '@seriousme/openapi-schema-validator'
import express from 'express'
import type { Auth } from 'express-token-endpoint'
import type { OpenApiDocument } from 'express-token-endpoint/openapi'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { until } from '../../../support/concurrency.js'
import { get, startExamples, tokenFrom } from '../../../support/documents/examples.js'
import { issueNow } from '../../../support/fixtures.js'
import { listen, TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

/** The account of the README. */
const ALICE = { email: 'alice@example.com', password: 'correct horse' }

describe('the README', () => {
  it.each([
    ['readme-point', TOKEN_PATH],
    ['quick-start', '/login'],
  ])('%s: issues a token and admits it', async (name, path) => {
    const { app } = await run(name)
    const login = await request(app).post(path).type('form').send(ALICE)
    expect(login.status).toBe(200)
    await get(app, '/me', login.body.authenticationToken).expect(200, { hello: ALICE.email })
    await request(app).get('/me').expect(401)
  })

  it('readme-guards: responds as the text below the block says', async () => {
    const { app, tokens } = await run('readme-guards')
    const token = issueNow(tokens, { accountId: 'acc-1', scopes: ['reports:read'] }).token
    const { body } = await get(app, '/reports', token).expect(200)
    expect(body).toMatchObject({ accountId: 'acc-1', scopes: ['reports:read'] })
    await request(app).get('/prices').expect(200, { discount: 0 })
    await get(app, '/prices', token).expect(200, { discount: 10 })
    const challenge = async (status: number, authorization: Record<string, string>) =>
      (await request(app).get('/reports').set(authorization).expect(status)).headers['www-authenticate']
    const poor = issueNow(tokens, { accountId: 'acc-1' }).token
    expect(await challenge(401, {})).toMatch(/^Bearer realm="[^"]+", scope="reports:read"$/)
    expect(await challenge(401, { Authorization: 'Bearer a.b.c' })).toContain('error="invalid_token"')
    expect(await challenge(403, { Authorization: `Bearer ${poor}` })).toContain('error="insufficient_scope"')
    expect(await challenge(400, { Authorization: 'Bearer a b' })).toContain('error="invalid_request"')
  })

  it('readme-lookup: finds the account of the database by its address and by its id', async () => {
    const { auth } = await run<{ auth: Auth }>('readme-lookup')
    const app = express().use(auth.router)
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req)))
    const { body } = await request(app).post('/login').send(ALICE).expect(200)
    const me = await get(app, '/me', body.authenticationToken).expect(200)
    expect(me.body).toMatchObject({ id: 'acc-1', scopes: ['reports:read'] })
  })

  it('readme-account: mails a link to reset the password, and signs in with a refresh cookie', async () => {
    const { auth, links } = await run<{ auth: Auth; links: string[] }>('readme-account')
    const app = express().use(auth.router)
    const login = await request(app).post('/login').send(ALICE).expect(200)
    expect(login.headers['set-cookie']?.[0]).toContain('HttpOnly')
    await request(app).post('/auth/account/password/forgotten').send({ email: ALICE.email }).expect(202)
    await until(() => expect(links).toHaveLength(1))
    expect(links[0]).toMatch(/^https:\/\/app\.example\.com\/password-reset#.{20,}$/)
  })
})

describe('the pages on routes', () => {
  it('mount: has the endpoint at its own path, and a guard that needs a scope', async () => {
    const { app, auth } = await run<{ auth: Auth }>('mount')
    await request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'x' }).expect(403)
    const { token } = issueNow(auth.tokens, { accountId: 'acc-1', scopes: ['reports:read'] })
    const { body } = await get(app, '/reports/daily', token).expect(200)
    expect(body).toMatchObject({ accountId: 'acc-1', scopes: ['reports:read'] })
    const poor = issueNow(auth.tokens, { accountId: 'acc-1' }).token
    await get(app, '/reports/daily', poor).expect(403)
  })

  it('guard-mount: opens the public routes, and lets nothing else by, however its path is written', async () => {
    const { app, tokens } = await run('guard-mount')
    const { url } = await listen(app)
    for (const path of ['/api/reports/1', '//api/reports/1', '/%61pi/reports/1', '/api/x', '/x']) {
      expect((await fetch(url + path)).status).toBe(401)
    }
    expect((await fetch(`${url}/health`)).status).toBe(200)
    await get(app, '/api/reports/1', await tokenFrom(app)).expect(200, { report: '1' })
    await get(app, '/x', issueNow(tokens, { accountId: 'acc-1' }).token).expect(404)
  })

  it('roles: opens the routes of the role, and needs each of `scope` and one of `anyScope`', async () => {
    const { app, auth, user } = await run<{ user: { role: string } }>('roles')
    const statuses = async (token: string) => {
      const refund = request(app).post('/refunds').auth(token, { type: 'bearer' })
      return [(await refund).status, (await get(app, '/totals', token)).status]
    }
    const statusesOf = (role: string) => {
      user.role = role
      return tokenFrom(app).then(statuses)
    }
    expect(await statusesOf('manager')).toEqual([201, 200])
    expect(await statusesOf('clerk')).toEqual([403, 403])
    expect(await statusesOf('constructor')).toEqual([403, 403])
    const scopes = ['orders:refund']
    expect(await statuses(issueNow(auth.tokens, { accountId: 'acc-1', scopes }).token)).toEqual([403, 200])
  })

  it('step-up: needs a sign-in of the last five minutes', async () => {
    const { app, tokens } = await run('step-up')
    const token = (ago: number) =>
      issueNow(tokens, { accountId: 'acc-1', scopes: ['payments:write'], issuedAt: new Date(Date.now() - ago) }).token
    const pay = (text: string) => request(app).post('/payments').auth(text, { type: 'bearer' })
    await pay(token(0)).expect(201, { by: 'acc-1' })
    const refused = await pay(token(600_000)).expect(401)
    expect(refused.headers['www-authenticate']).toContain('max_age="300"')
  })

  it('typed-claims: refuses claims of another type', async () => {
    const { app, tokens } = await run('typed-claims')
    const send = (claims: Record<string, unknown>) =>
      get(app, '/tenant', issueNow(tokens, { accountId: 'acc-1', claims }).token)
    await send({ tenant: 'north' }).expect(200, { tenant: 'north' })
    const refused = await send({ tenant: 7 }).expect(401)
    expect(refused.headers['www-authenticate']).toContain('error="invalid_token"')
  })

  it('own-errors: sends each refusal as JSON, with the headers of the response', async () => {
    const { app } = await run('own-errors')
    const refused = await request(app)
      .get('/me')
      .expect(401)
      .expect('Content-Type', /^application\/json/)
    expect(refused.body).toEqual({ ok: false, error: { code: 'missing_token', text: expect.any(String) } })
    expect(refused.headers['www-authenticate']).toContain('Bearer realm=')
    const login = (password: string) => request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password })
    expect((await login('wrong').expect(403)).body.error.code).toBe('invalid_credentials')
    const token = await tokenFrom(app)
    await get(app, '/me', token).expect(200, { ok: true })
    for (let i = 0; i < 9; i++) await login('wrong').expect(403)
    expect((await login('wrong').expect(429).expect('Retry-After', /^\d+$/)).body.error.code).toBe('too_many_attempts')
  })

  it('environments: each takes its own tokens, and refuses the other one’s', async () => {
    const { app } = await run('environments')
    for (const [own, other] of [['live', 'sandbox'] as const, ['sandbox', 'live'] as const]) {
      const token = await tokenFrom(app, `/${own}${TOKEN_PATH}`)
      await get(app, `/${own}/me`, token).expect(200)
      const refused = await get(app, `/${other}/me`, token).expect(401)
      expect(refused.headers['www-authenticate']).toContain('error="invalid_token"')
    }
  })

  it('cors: a preflight passes without a token, and a script sees why it was refused', async () => {
    const { app } = await run('cors')
    const origin = { Origin: 'https://app.example.com' }
    const asked = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' }
    for (const path of ['/statements', TOKEN_PATH]) {
      const preflight = await request(app)
        .options(path)
        .set({ ...origin, ...asked })
        .expect(204)
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': origin.Origin,
        'access-control-allow-headers': 'Authorization,Content-Type',
      })
    }
    const refused = await request(app).get('/statements').set(origin).expect(401)
    expect(refused.headers['access-control-expose-headers']).toBe('Date,Retry-After,WWW-Authenticate')
    const foreign = await request(app).options('/statements').set({ Origin: 'https://evil.example' })
    expect(foreign.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('proxy: counts by the address that the one proxy saw, whatever the client wrote before it', async () => {
    const { app, lines } = await run<{ lines: string[] }>('proxy')
    const guess = (forwarded: string) =>
      request(app).post(TOKEN_PATH).set('X-Forwarded-For', forwarded).send({ email: 'a@b.c', password: 'x' })
    for (let i = 0; i < 10; i++) await guess(`198.51.100.${i}, 203.0.113.1`).expect(403)
    await guess('203.0.113.1').expect(429)
    await guess('203.0.113.2').expect(403)
    expect(new Set(lines.slice(0, 10))).toEqual(new Set(['token.refused from 203.0.113.1']))
  })

  it('openapi: serves a valid document, with the operation added to it', async () => {
    const { app } = await run('openapi')
    const document = (await request(app).get('/openapi.json').expect(200)).body as OpenApiDocument
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    expect(Object.keys(document.paths)).toEqual([TOKEN_PATH, '/statements'])
    expect(document.paths['/statements']?.get?.security).toEqual([{ bearer: ['statements:read'] }])
  })
})
