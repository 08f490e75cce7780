import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { get, startExamples, tokenFrom } from '../../../support/documents/examples.js'
import { issueNow } from '../../../support/fixtures.js'
import { listen } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

describe('the page on migration', () => {
  it('from-express-jwt: signs in, guards the other routes, refuses revoked tokens', async () => {
    const { app, revoked } = await run('from-express-jwt')
    const login = (password: string) => request(app).post('/login').send({ email: 'alice@example.com', password })
    await login('Secret').expect(403)
    const { body } = await login('secret').expect(200)
    const token = body.authenticationToken
    await get(app, '/me', token).expect(200, { account: 'acc-1', admin: true })
    await request(app).get('/me').expect(401)
    revoked.add(JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).jti)
    await get(app, '/me', token).expect(401)
  })

  it('from-passport-jwt: signs in, and req.user is the account of the token', async () => {
    const { app, tokens } = await run('from-passport-jwt')
    const { body } = await get(app, '/me', await tokenFrom(app)).expect(200)
    expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
    expect(body).not.toHaveProperty('passwordHash')
    await get(app, '/me', issueNow(tokens, { accountId: 'gone' }).token).expect(401)
    await request(app).get('/me').expect(401)
  })

  it('from-express-oauth2-jwt-bearer: asks for the scope, and responds with 503 without a key set', async () => {
    const { app: keys, tokens } = await run('jwks')
    const { url } = await listen(keys)
    const token = (scopes: string[]) => issueNow(tokens, { accountId: 'acc-1', scopes }).token
    process.env['JWKS_URL'] = `${url}/.well-known/jwks.json`
    const { app } = await run('from-express-oauth2-jwt-bearer')
    await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
    await get(app, '/reports', token([])).expect(403)
    await request(app).get('/reports').expect(401)
    process.env['JWKS_URL'] = `${url}/no-keys`
    const { app: without } = await run('from-express-oauth2-jwt-bearer', 'unreachable')
    await get(without, '/reports', token(['reports:read'])).expect(503)
  })
})
