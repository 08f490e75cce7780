import type { TokenVerifier } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { get, startExamples, tokenFrom } from '../../../support/documents/examples.js'
import { issueNow } from '../../../support/fixtures.js'

const { run } = startExamples(import.meta.url)

describe('the README', () => {
  it.each(['readme-point', 'quick-start'])('%s: issues a token and admits it', async (name) => {
    const { app } = await run(name)
    const login = await request(app)
      .post('/login')
      .type('form')
      .send({ email: 'alice@example.com', password: 'correct horse' })
    expect(login.status).toBe(200)
    await get(app, '/me', login.body.authenticationToken).expect(200, { account: 'acc-1' })
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
    expect(await challenge(401, {})).toMatch(/^Bearer realm="[^"]+"$/)
    expect(await challenge(401, { Authorization: 'Bearer a.b.c' })).toContain('error="invalid_token"')
    expect(await challenge(403, { Authorization: `Bearer ${poor}` })).toContain('error="insufficient_scope"')
    expect(await challenge(400, { Authorization: 'Bearer a b' })).toContain('error="invalid_request"')
  })

  it('readme-lookup: finds the account of the database', async () => {
    const { app, tokens } = await run('readme-lookup')
    expect(await tokens.verify(await tokenFrom(app))).toMatchObject({ accountId: 'acc-1', scopes: ['a'] })
  })

  it('readme-test: makes headers with a valid and with an expired token', async () => {
    type Headers = { Authorization: string }
    const { testTokens, headers, expired } = await run<
      Record<'headers' | 'expired', Headers> & { testTokens: TokenVerifier }
    >('readme-test')
    const verify = ({ Authorization }: Headers) => testTokens.verify(Authorization.slice('Bearer '.length))
    expect(await verify(headers)).toMatchObject({ accountId: 'acc-1', scopes: ['reports:read'] })
    await expect(verify(expired)).rejects.toMatchObject({ reason: 'expired' })
  })
})
