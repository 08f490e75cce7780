import express from 'express'
import {
  argon2id,
  authOf,
  bcrypt,
  createLimits,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  jwksRouter,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { BearerStrategy, LoginStrategy } from 'express-token-endpoint/passport'
import { accountStoreContract, createTestIssuer, fastPasswords } from 'express-token-endpoint/testing'
import passport from 'passport'

/** Builds an app with the API of 0.1, and moves it with "Migrate from 0.1" of docs/reference/compatibility.md only. */
export async function createApp({ issuer, privateKey, limiter }) {
  const tokens = createTokenIssuer({ issuer, keys: { alg: 'ES256', privateKey }, lifetime: '10m' })
  const passwords = createPasswords({ hashers: [argon2id({ memoryCost: 1024, timeCost: 1 }), bcrypt({ cost: 4 })] })
  const passwordHash = await passwords.hash('correct horse')
  const accounts = memoryAccounts([
    { id: 'acc-1', email: 'alice@example.com', passwordHash, scopes: ['reports:read'], claims: { till: 'till-7' } },
    { id: 'acc-2', email: 'bob@example.com', passwordHash },
  ])
  const limits = createLimits({ limits: { pair: { points: 2, duration: '15m' } }, limiter })
  const revoked = new Set()
  const events = []
  const onEvent = (event) => events.push(event.type + (event.dependency ? ` ${event.dependency}` : ''))

  const toErrorHandler = (error, _req, next) => (error.status === 503 ? next(error) : undefined)

  const app = express()
  app.use(tokenRouter({ tokens, accounts, passwords, limits, onEvent, refuse: toErrorHandler }))
  app.use(jwksRouter({ tokens }))
  app.get('/me', requireBearer({ tokens, accounts, onEvent }), (req, res) => {
    res.json({ id: authOf(req).accountId, till: authOf(req).claims.till, email: req.user.email })
  })
  app.get('/reports', requireBearer({ tokens, scope: 'reports:read' }), (_req, res) => void res.json([]))
  const isRevoked = ({ id }) => revoked.has(id)
  app.post('/sign-out', requireBearer({ tokens, isRevoked }), (req, res) => {
    revoked.add(authOf(req).id)
    res.sendStatus(204)
  })
  app.get('/till', requireBearer({ tokens, isRevoked, refuse: toErrorHandler }), (_req, res) => void res.json({}))
  app.get('/prices', requireBearer({ tokens, optional: true }), (req, res) => void res.json(req.auth ? 9 : 10))

  app.post('/exchange/:id', async (req, res) => {
    const { token, expiresAt } = await tokens.issue({ accountId: req.params.id, claims: { desk: 'desk-8' } })
    res.json({ token, expiresAt })
  })

  const login = new LoginStrategy({ accounts, passwords, limits: false })
  app.post('/passport', passport.authenticate(login, { session: false }), async (req, res) => {
    const { token } = await tokens.issue(req.authInfo.subject)
    res.json({ token })
  })
  const bearer = new BearerStrategy({ tokens, accounts })
  app.get('/passport', passport.authenticate(bearer, { session: false }), (req, res) => void res.json(req.user.email))

  app.post('/unlock', async (_req, res) => {
    const attempt = await limits.consume('bob@example.com', '192.0.2.1', () => {})
    await attempt.end('not_checked')
    res.json({})
  })

  app.get('/openapi.json', (_req, res) => {
    const operation = guardedOperation({ summary: 'Reports', responses: { 200: { description: 'Reports.' } } })
    res.json({ ...openApiDocument({ jwks: true }), paths: { '/reports': { get: operation } } })
  })
  app.use((error, _req, res, _next) => res.status(error.status ?? 500).json({ ours: error.code }))

  /** Runs the tests of the app. */
  async function selfTest() {
    for (const { run } of accountStoreContract({
      store: accounts,
      existing: { id: 'acc-1', email: 'alice@example.com' },
    }))
      await run({ skip() {} })
    const test = createTestIssuer({ issuer, keys: { alg: 'HS256', secret: 'a secret of the tests, 32 bytes long' } })
    const verified = await test.tokens.verify(test.issue('acc-1').token)
    const hash = await fastPasswords().hash('secret of a test')
    return { accountId: verified.accountId, isHashed: hash.length > 0 }
  }
  const verifier = createTokenVerifier({
    issuer,
    keys: tokens.jwks().keys.map((publicKey) => ({ alg: 'ES256', publicKey })),
  })
  return { app, events, selfTest, verifier }
}
