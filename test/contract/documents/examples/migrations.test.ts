import type express from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { get, type Host, startExamples, tokenFrom } from '../../../support/documents/examples.js'
import { listen } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

type App = { app: express.Express }
type Revoking = Host & { revoked: Set<string> }

describe('the pages on migration', () => {
  it('before-express-jwt, from-express-jwt: sign in, guard the other routes, refuse revoked tokens', async () => {
    for (const name of ['before-express-jwt', 'from-express-jwt']) {
      const { app, revoked } = await run<Revoking>(name)
      const login = (password: string) => request(app).post('/login').send({ email: 'alice@example.com', password })
      await login('Secret').expect(403)
      const { body } = await login('secret').expect(200)
      const token = body.token ?? body.authenticationToken
      await get(app, '/me', token).expect(200, { account: 'acc-1', admin: true })
      await request(app).get('/me').expect(401)
      revoked.add(JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).jti)
      await get(app, '/me', token).expect(401)
    }
  })

  it.each(['before-passport-jwt', 'from-passport-jwt', 'passport-bearer-strategy'])(
    '%s: req.user is the account of the token',
    async (name) => {
      const { app, tokens } = await run<Host>(name)
      const { body } = await get(app, '/me', tokens.issue({ accountId: 'acc-1' }).token).expect(200)
      expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
      if (name !== 'before-passport-jwt') expect(body).not.toHaveProperty('passwordHash')
      await get(app, '/me', tokens.issue({ accountId: 'gone' }).token).expect(401)
      await request(app).get('/me').expect(401)
    },
  )

  it('from-passport-jwt: signs in', async () => {
    const { app } = await run<Host>('from-passport-jwt')
    await get(app, '/me', await tokenFrom(app)).expect(200)
  })

  const OAUTH2 = [
    ['before-express-oauth2-jwt-bearer', 401],
    ['from-express-oauth2-jwt-bearer', 503],
  ] as const
  it.each(OAUTH2)('%s: asks for the scope, and responds with %i without a key set', async (name, status) => {
    const { app: keys, tokens } = await run<Host>('jwks', name)
    const { url } = await listen(keys)
    const token = (scopes: string[]) => tokens.issue({ accountId: 'acc-1', scopes }).token
    process.env['JWKS_URL'] = `${url}/.well-known/jwks.json`
    const { app } = await run<App>(name)
    await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
    await get(app, '/reports', token([])).expect(403)
    await request(app).get('/reports').expect(401)
    process.env['JWKS_URL'] = `${url}/no-keys`
    const { app: without } = await run<App>(name, 'unreachable')
    await get(without, '/reports', token(['reports:read'])).expect(status)
  })
})
