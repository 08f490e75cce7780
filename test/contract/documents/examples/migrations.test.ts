import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { listen } from '../../../support/http.js'
import { MIGRATIONS } from './contexts/migrations.js'
import { TOKENS } from './contexts/tokens.js'
import { get, type Host, tokenFrom } from './sign-in.js'

const { run } = startExamples(import.meta.url, { ...MIGRATIONS, jwks: TOKENS['jwks'] as string })

describe('the pages on migration', () => {
  it('from-express-jwt: signs in, guards what comes behind, refuses what is revoked', async () => {
    const { app, revoked, tokens } = await run<Host & { revoked: Set<string> }>('from-express-jwt')
    const token = await tokenFrom(app, '/login')
    await get(app, '/me', token).expect(200, { account: 'acc-1', admin: true })
    await request(app).get('/me').expect(401)
    revoked.add((await tokens.verify(token)).id)
    await get(app, '/me', token).expect(401)
  })

  it('from-passport-jwt: req.user is the account, without its hash', async () => {
    const { app, tokens } = await run<Host>('from-passport-jwt')
    const { body } = await get(app, '/me', await tokenFrom(app)).expect(200)
    expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
    expect(body).not.toHaveProperty('passwordHash')
    await get(app, '/me', tokens.issue({ accountId: 'gone' }).token).expect(401)
  })

  it('from-express-oauth2-jwt-bearer: follows the key set, and asks for the scope', async () => {
    const { app: keys, tokens } = await run<Host>('jwks')
    process.env['JWKS_URL'] = `${(await listen(keys)).url}/.well-known/jwks.json`
    const { app } = await run<Host>('from-express-oauth2-jwt-bearer')
    const token = (scopes: string[]) => tokens.issue({ accountId: 'acc-1', scopes }).token
    await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
    await get(app, '/reports', token([])).expect(403)
  })
})
