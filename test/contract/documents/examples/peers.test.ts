import type express from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { listen } from '../../../support/http.js'
import { PEERS } from './contexts/migrations.js'
import { TOKENS } from './contexts/tokens.js'
import { get, type Host } from './sign-in.js'

const { run } = startExamples(import.meta.url, {
  ...PEERS,
  jwks: TOKENS['jwks'] as string,
  'from-express-oauth2-jwt-bearer': '',
})

type App = { app: express.Express }

describe('the code before a migration', () => {
  it('before-express-jwt: signs in, guards the other routes, refuses revoked tokens', async () => {
    const { app, revoked } = await run<App & { revoked: Set<string> }>('before-express-jwt')
    const login = (password: string) => request(app).post('/login').send({ email: 'alice@example.com', password })
    await login('Secret').expect(403)
    const { body } = await login('secret').expect(200)
    await get(app, '/me', body.token).expect(200, { account: 'acc-1', admin: true })
    await request(app).get('/me').expect(401)
    const [, payload = ''] = body.token.split('.')
    revoked.add(JSON.parse(Buffer.from(payload, 'base64url').toString()).jti)
    await get(app, '/me', body.token).expect(401)
  })

  it('before-passport-jwt: finds the account of a token', async () => {
    const { app, tokens } = await run<Host>('before-passport-jwt')
    const { body } = await get(app, '/me', tokens.issue({ accountId: 'acc-1' }).token).expect(200)
    expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
    await get(app, '/me', tokens.issue({ accountId: 'gone' }).token).expect(401)
  })

  it('before-express-oauth2-jwt-bearer: accepts and refuses the same tokens as the code after the migration', async () => {
    const { app: keys, tokens } = await run<Host>('jwks')
    process.env['JWKS_URL'] = `${(await listen(keys)).url}/.well-known/jwks.json`
    const { app: before } = await run<App>('before-express-oauth2-jwt-bearer')
    const { app: after } = await run<App>('from-express-oauth2-jwt-bearer')
    const token = (scopes: string[]) => tokens.issue({ accountId: 'acc-1', scopes }).token
    for (const app of [before, after]) {
      await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
      await get(app, '/reports', token([])).expect(403)
      await request(app).get('/reports').expect(401)
    }
  })

  it('before-express-oauth2-jwt-bearer: an unreachable key set is 401, and 503 after the migration', async () => {
    const { app: keys, tokens } = await run<Host>('jwks', 'unreachable')
    const server = await listen(keys)
    process.env['JWKS_URL'] = `${server.url}/no-keys`
    const { app: before } = await run<App>('before-express-oauth2-jwt-bearer', 'unreachable')
    const { app: after } = await run<App>('from-express-oauth2-jwt-bearer', 'unreachable')
    const { token } = tokens.issue({ accountId: 'acc-1', scopes: ['reports:read'] })
    await get(before, '/reports', token).expect(401)
    const refused = await get(after, '/reports', token).expect(503)
    expect(refused.headers).toHaveProperty('retry-after')
  })
})

describe('a strategy for Passport', () => {
  it('passport-bearer-strategy: req.user is the account, without its hash', async () => {
    const { app, tokens } = await run<Host>('passport-bearer-strategy')
    const { body } = await get(app, '/me', tokens.issue({ accountId: 'acc-1' }).token).expect(200)
    expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
    expect(body).not.toHaveProperty('passwordHash')
    await get(app, '/me', tokens.issue({ accountId: 'gone' }).token).expect(401)
    await request(app).get('/me').expect(401)
  })
})
