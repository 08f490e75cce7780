import { trace as otel } from '@opentelemetry/api'
import express from 'express'
import {
  AuthError,
  type AuthObserver,
  authOf,
  type BearerGuard,
  createAuth,
  jwksRouter,
  tokenRouter,
} from 'express-token-endpoint'
import { register } from 'prom-client'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { get, oldKeys, signIn, startExamples } from '../../../support/documents/examples.js'
import { fastPasswords, forge, issueNow, makeIssuer, makeStore, SECRET, signingKey } from '../../../support/fixtures.js'
import { listen, TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

describe('the pages on tokens', () => {
  it('remote-keys: a service verifies what the app issues, and checks the scope', async () => {
    const tokens = makeIssuer({ keys: signingKey('ES256') })
    process.env['JWKS_URL'] = `${(await listen(express().use(jwksRouter({ tokens })))).url}/.well-known/jwks.json`
    const { app } = await run('remote-keys')
    const read = (scopes: string[]) => get(app, '/reports', issueNow(tokens, { accountId: 'acc-1', scopes }).token)
    await read(['reports:read']).expect(200, { account: 'acc-1' })
    await read([]).expect(403)
  })

  it('issuers: keeps the tokens and the refresh tokens of the former issuer', async () => {
    process.env['OLD_TOKEN_SECRET'] = SECRET
    process.env['AUTH_SECRET'] = 'a secret of at least 32 bytes, of the app'
    process.env['TOKEN_KEY'] = signingKey('ES256').privateKey as string
    // biome-ignore lint/suspicious/noExplicitAny: the names of the context
    const { auth, accounts, store } = (await run('issuers')) as any
    const options = { accounts, store, secret: process.env['AUTH_SECRET'], refresh: 'body' } as const
    const keys = { alg: 'HS256', secret: SECRET } as const
    const former = express().use(createAuth({ issuer: 'https://old.example.com', keys, ...options }).router)
    const { body } = await signIn(former).expect(200)
    const app = express().use(auth.router)
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))
    await get(app, '/me', body.authenticationToken).expect(200, '"acc-1"')
    const refresh = await request(app).post(`${TOKEN_PATH}/refresh`).send({ refreshToken: body.refreshToken })
    expect(refresh.status).toBe(200)
    await get(app, '/me', refresh.body.authenticationToken).expect(200, '"acc-1"')
    const stranger = makeIssuer({ issuer: 'https://other.example.com', keys })
    await get(app, '/me', issueNow(stranger, { accountId: 'acc-1' }).token).expect(401)
  })

  it('provider: a guard accepts a provider', async () => {
    const authenticate = ({ authenticate }: BearerGuard, token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return authenticate({ headers, rawHeaders: Object.entries(headers).flat(), url: '/' } as never)
    }
    const subject = { accountId: 'acc-1', scopes: ['reports:read'] }
    const keys = signingKey('ES256')
    const documents = new Map<string, unknown>()
    const { url } = await listen(express().use((req, res) => void res.json(documents.get(req.path))))
    process.env['PROVIDER'] = url
    const provider = makeIssuer({ issuer: url, audience: 'https://api.example.com', clientId: 'page', keys })
    documents.set('/.well-known/openid-configuration', { issuer: url, jwks_uri: `${url}/keys` })
    documents.set('/keys', provider.jwks())
    const { guard: both, tokens } = await run('provider')
    expect(await authenticate(both, issueNow(provider, subject).token)).toMatchObject({ accountId: 'partner|acc-1' })
    expect(await authenticate(both, issueNow(tokens, subject).token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('service-tokens: exchanges a secret for a token', async () => {
    const { app, auth } = await run('service-tokens')
    app.get('/me', auth.guard(), (req, res) => void res.json(authOf(req).accountId))
    const exchange = (body: object) => request(app).post('/service-token').send(body)
    const { body } = await exchange({ id: 'acc-1', secret: 'a secret' }).expect(200)
    await get(app, '/me', body.authenticationToken).expect(200, '"acc-1"')
    for (const refused of [{ id: 'acc-1', secret: 'other' }, { id: 'acc-2', secret: 'a secret' }, {}])
      await exchange(refused).expect(403)
  })

  it('side-by-side: keeps the users of the old code signed in, and admits no refresh token of it', async () => {
    process.env['OLD_SECRET'] = 'short'
    process.env['TOKEN_SECRET'] = SECRET
    process.env['OLD_TOKENS_UNTIL'] = new Date(Date.now() + 86_400_000).toISOString()
    const { auth } = await run('side-by-side')
    const app = express().use(auth.router)
    app.get('/me', auth.guard(), (req, res) => void res.json({ id: authOf(req).accountId }))
    const write = (claims: object) => forge({ alg: 'HS256', typ: 'JWT' }, { id: 'acc-1', iat: 1, ...claims }, 'short')
    await get(app, '/me', write({ type: 'access' })).expect(200, { id: 'acc-1' })
    await get(app, '/me', write({ type: 'refresh' })).expect(401)
    await get(app, '/me', write({ type: 'access', id: 'acc-9' })).expect(401)
    const { body } = await signIn(app, '/login').expect(200)
    await get(app, '/me', body.token).expect(200, { id: 'acc-1' })
  })

  it('rotation: signs with the new key, and takes the tokens of the old one', async () => {
    const { tokens } = (await run('rotation')).auth
    const old = makeIssuer({ keys: { alg: 'ES256', privateKey: oldKeys.privateKey } })
    expect(await tokens.verify(issueNow(old, { accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
    await expect(old.verify(issueNow(tokens, { accountId: 'acc-1' }).token)).rejects.toThrow(AuthError)
  })

  it('tracing: makes a span of each login and of each verification', async () => {
    const spans: { name: string; ended?: true; message?: string | undefined }[] = []
    const startSpan = (name: string) => {
      const span = { name } as (typeof spans)[number]
      spans.push(span)
      return {
        setStatus: ({ message }: { message?: string }) => void Object.assign(span, { message }),
        end: () => void Object.assign(span, { ended: true }),
      }
    }
    otel.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as never)
    onTestFinished(() => otel.disable())
    await run('tracing')
    const tokens = makeIssuer()
    const app = express().use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords() }))
    await request(app).post(TOKEN_PATH).send({ email: 'nobody@example.com', password: 'x' }).expect(403)
    await tokens.verify(issueNow(tokens, { accountId: 'acc-1' }).token)
    await expect(tokens.verify('a.b.c')).rejects.toThrow(AuthError)
    expect(spans).toEqual([
      { name: 'auth.login', ended: true, message: 'invalid_credentials' },
      { name: 'auth.verify', ended: true },
      { name: 'auth.verify', ended: true, message: 'invalid_token' },
    ])
  })

  it('events: logs and counts', async () => {
    const { onEvent, log } = await run<{ onEvent: AuthObserver; log: { error: unknown; info: unknown } }>('events')
    const lines: [fields: object, text: string][] = []
    const note = (...line: (typeof lines)[number]) => lines.push(line)
    Object.assign(log, { error: note, info: note })
    const about = { time: new Date(), address: '192.0.2.1' }
    const error = new Error('down')
    onEvent({ type: 'dependency.failed', dependency: 'accounts', refused: true, error, ...about })
    onEvent({ type: 'token.refused', code: 'invalid_credentials', reason: 'wrong_password', ...about })
    expect(lines).toEqual([
      [expect.objectContaining({ dependency: 'accounts', err: error }), 'dependency.failed'],
      [expect.objectContaining({ reason: 'wrong_password' }), 'token.refused'],
    ])
    // A second time would be a second member of the line, which JSON readers treat differently.
    expect(lines.map(([fields]) => JSON.parse(JSON.stringify(fields)))).not.toContainEqual(
      expect.objectContaining({ time: expect.anything() }),
    )
    const metrics = await register.metrics()
    expect(metrics).toContain(
      'auth_events_total{type="token.refused",code="invalid_credentials",reason="wrong_password"} 1',
    )
    expect(metrics).toContain('auth_logins_waiting 0')
  })
})
