// Serves token endpoints with and without a password hash. The bare routes read JSON, and return JSON of the same shape and length.
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { serve } from './serve.mjs'

const PASSWORD = 'correct horse'

const passwords = createPasswords()
const passwordHash = await passwords.hash(PASSWORD)
/** Accepts every password without hashing, because the hash would hide the cost of all other steps. */
const withoutHash = createPasswords({ hashers: [{ accepts: () => true, verify: () => true, hash: () => 'free' }] })
const emails = Array.from({ length: 64 }, (_, i) => `user${String(i).padStart(2, '0')}@example.com`)
const accounts = memoryAccounts(emails.map((email) => ({ id: email.slice(0, 6), email, passwordHash })))
const tokens = createTokenIssuer({
  issuer: 'https://api.example.com',
  keys: { alg: 'HS256', secret: 'secret s'.repeat(4) },
})
const { token, expiresAt } = await tokens.issue({ accountId: 'user00' })
const body = { authenticationToken: token, expiration: expiresAt.toISOString() }

const app = express().set('trust proxy', 1)
app.post('/bare', express.json(), (_req, res) => res.json(body))
app.post('/bare/hash', express.json(), async (req, res) => {
  await passwords.verify(req.body.password, passwordHash)
  res.json(body)
})
app.use(tokenRouter({ path: '/free', tokens, accounts, passwords: withoutHash }))
app.use(tokenRouter({ path: '/hash', tokens, accounts, passwords }))
serve(app, { emails, password: PASSWORD })
