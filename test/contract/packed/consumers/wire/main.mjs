import { createServer } from 'node:http'
import express from 'express'
import {
  authOf,
  createAuth,
  createLimits,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  jwksRouter,
  memoryAccounts,
  memoryStore,
  remoteKeys,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

// A host with a route for each feature that `wireTests` uses. `KEYS` has a key of each algorithm.

const { EMAIL: email, PASSWORD, KEYS } = process.env
const issuer = 'https://api.example.com'
const keys = JSON.parse(KEYS)
const tokens = createTokenIssuer({ issuer, keys: keys.filter(({ alg }) => /^[ERP]S256$/.test(alg)) })
const passwords = createPasswords()
const passwordHash = await passwords.hash(PASSWORD)
const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash, scopes: ['reports:read'] }])

const events = []
const onEvent = ({ type, code }) => events.push(code ?? type)
const whoIsThere = (req, res) => {
  res.json({ account: req.auth?.accountId ?? null })
}

const limits = createLimits({ limits: { pair: { points: 1000, duration: '1m' } } })

const app = express()
app.use(tokenRouter({ tokens, accounts, passwords, onEvent, limits }))
const store = memoryStore()
const refresh = (req) => req.get('x-mode')
const signedIn = {
  issuer,
  keys: keys.filter(({ alg }) => /^[ERP]S256$/.test(alg)),
  accounts,
  passwords,
  limits,
  store,
  secret: 'secret r'.repeat(4),
  refresh,
  paths: { token: '/signed-in', keys: '/signed-in/keys' },
}
app.use(createAuth(signedIn).router)
app.use(jwksRouter({ tokens }))
app.get('/me', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
app.post('/me', requireBearer({ tokens }), whoIsThere)
app.get('/account', requireBearer({ tokens, accounts, isRevoked: async () => false }), whoIsThere)
app.get('/reports', requireBearer({ tokens, scope: 'reports:read' }), whoIsThere)
app.get('/admin', requireBearer({ tokens, scope: 'admin' }), whoIsThere)
app.get('/optional', requireBearer({ tokens, optional: true }), whoIsThere)
app.get('/session', requireBearer({ tokens, store }), whoIsThere)
app.get('/events', (_req, res) => res.json(events))
app.get('/versions', (_req, res) => res.json(process.versions))
for (const key of keys) {
  const own = createTokenIssuer({ issuer, keys: key })
  app.get(`/token/${key.alg}`, async (_req, res) => res.json(await own.issue({ accountId: 'acc-1' })))
  app.get(`/me/${key.alg}`, requireBearer({ tokens: own }), whoIsThere)
}

const server = createServer(app).listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  const remote = remoteKeys(`http://127.0.0.1:${port}/.well-known/jwks.json`)
  app.get('/remote', requireBearer({ tokens: createTokenVerifier({ issuer, keys: remote }) }), whoIsThere)
  process.stdout.write(`${port}\n`)
})
