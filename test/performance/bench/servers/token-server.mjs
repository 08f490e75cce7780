// The server of the token part: a token endpoint for each algorithm, with a password check without cost. A bare route reads JSON and
// returns JSON of the same shape and length.
import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { appOf, serve } from './app-server.mjs'

const ACCOUNTS = 64
const BARE = '/token/bare0'

const passwords = createPasswords({
  hashers: [{ accepts: () => true, verify: () => true, hash: () => 'free' }],
})
const emails = Array.from({ length: ACCOUNTS }, (_, i) => `user${String(i).padStart(2, '0')}@example.com`)
const accounts = memoryAccounts(emails.map((email) => ({ id: email.slice(0, 6), email, passwordHash: 'free' })))

const keys = {
  HS256: { alg: 'HS256', secret: 's'.repeat(32) },
  RS256: { alg: 'RS256', privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
  ES256: { alg: 'ES256', privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
}

const apps = new Map()
for (const [alg, key] of Object.entries(keys)) {
  const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: key })
  const path = `/token/${alg}`
  apps.set(
    path,
    appOf((app) => app.use(tokenRouter({ tokens, accounts, passwords, path }))),
  )
}
const { token, expiresAt } = createTokenIssuer({ issuer: 'https://api.example.com', keys: keys.HS256 }).issue({
  accountId: 'user00',
})
const answer = { authenticationToken: token, expiration: expiresAt.toISOString() }
apps.set(
  BARE,
  appOf((app) => app.post(BARE, express.json(), (_req, res) => res.json(answer))),
)

process.on('disconnect', () => process.exit())
process.send({ port: await serve(apps), bare: BARE, paths: [...apps.keys()], emails })
