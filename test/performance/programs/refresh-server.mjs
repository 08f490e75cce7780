// Serves a guarded route with sessions, and a token endpoint with refresh that accepts every password without hashing.
import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import { createAuth, createPasswords, memoryAccounts, memoryStore, requireBearer } from 'express-token-endpoint'
import { createClient, login } from '../../support/plain-js/http-client.mjs'
import { respond, serve } from './serve.mjs'

const count = Number(process.argv[2])
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const emails = Array.from({ length: count }, (_, i) => `person${i}@example.com`)
const accounts = memoryAccounts(emails.map((email, i) => ({ id: `acc-${i}`, email, passwordHash: 'any' })))
const store = memoryStore()
const free = { accepts: () => true, verify: () => true, hash: () => '', external: true }
const passwords = createPasswords({ hashers: [free] })

const app = express().set('trust proxy', 1)
const { router, tokens } = createAuth({
  issuer: 'https://api.example.com',
  keys: { alg: 'ES256', privateKey },
  accounts,
  passwords,
  store,
  secret: 'a secret of the refresh tokens of a bench',
  refresh: 'body',
  limits: false,
  paths: { token: '/token' },
})
app.use(router)
app.get('/guarded', requireBearer({ tokens, store }), respond)

/** Signs every account in. Each refresh token is used once, because a replaced one costs less. */
async function signAllIn() {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { send, close } = createClient(server.address().port, { connections: 16 })
  const started = await Promise.all(
    emails.map((email, i) => send(login(email, 'any', `10.0.${i >> 8}.${i & 255}`, '/token'))),
  )
  close()
  server.close()
  return started.map(({ body }) => JSON.parse(body))
}

const started = await signAllIn()
serve(app, {
  emails,
  tokens: started.slice(0, 1000).map(({ authenticationToken }) => authenticationToken),
  refreshTokens: started.map(({ refreshToken }) => refreshToken),
})
