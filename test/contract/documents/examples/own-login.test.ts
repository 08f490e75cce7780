import express, { type Router } from 'express'
import type { TokenIssuer } from 'express-token-endpoint'
import type { OpenApiDocument } from 'express-token-endpoint/openapi'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { type Host, signIn, startExamples } from '../../../support/documents/examples.js'
import { issueNow, makeIssuer, signingKey } from '../../../support/fixtures.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }

describe('the page on own routes', () => {
  it('own-response: reads the user name, and returns the names of OAuth', async () => {
    const { app, tokens } = await run<Host>('own-response')
    const { document } = await run<{ document: OpenApiDocument }>('openapi-own-response')
    const { body } = await request(app)
      .post('/login')
      .send({ username: GOOD.email, password: GOOD.password })
      .expect(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) })
    const { TokenCredentials, TokenResult } = document.components.schemas
    expect([TokenCredentials?.['required'], TokenResult?.['required']]).toEqual([
      ['username', 'password'],
      Object.keys(body),
    ])
    expect(await tokens.verify(body.access_token)).toMatchObject({ accountId: 'acc-1' })
    await signIn(app, '/login').expect(400)
  })

  it('own-route: returns the account and a short token, and sends each refusal', async () => {
    const { app, tokens } = await run<Host>('own-route')
    const send = (body: object) => request(app).post('/kiosk/sign-in').send(body)
    const { body } = await send(GOOD).expect(200).expect('Cache-Control', 'no-store')
    const { expiresAt, issuedAt } = await tokens.verify(body.token)
    expect(expiresAt.getTime() - issuedAt.getTime()).toBe(300_000)
    expect(body.accountId).toBe('acc-1')
    expect(JSON.stringify(body)).not.toContain('passwordHash')
    await send({ ...GOOD, password: 'wrong' }).expect(403, '')
    const { body: problem } = await send({ email: { $ne: 1 }, password: { $ne: 1 } }).expect(400)
    expect(problem).toMatchObject({ code: 'invalid_body' })
    await signIn(app).expect(200)
  })

  it('own-scopes: puts the permissions of the account into its token', async () => {
    const { router, tokens } = await run<{ router: Router; tokens: TokenIssuer }>('own-scopes')
    const { body } = await signIn(express().use(router)).expect(200)
    expect(await tokens.verify(body.authenticationToken)).toMatchObject({ scopes: ['orders:acc-1'] })
  })
})

describe('the page on keys', () => {
  it('replace-keys: refuses the tokens of the previous key', async () => {
    const { tokens, replaceKey } = await run<{ tokens: TokenIssuer; replaceKey: (pem: string) => void }>('replace-keys')
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    const { privateKey = '' } = signingKey('ES256', 'other')
    const next = makeIssuer({ keys: { alg: 'ES256', privateKey } })
    replaceKey(privateKey as string)
    await expect(tokens.verify(token)).rejects.toMatchObject({ reason: 'unknown_key' })
    expect(await tokens.verify(issueNow(next, { accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
  })
})
