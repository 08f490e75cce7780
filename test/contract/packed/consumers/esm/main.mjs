import express from 'express'
import {
  authOf,
  createAuth,
  createPasswords,
  createTokenIssuer,
  memoryAccounts,
  memoryStore,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const { EMAIL: email, PASSWORD, TOKEN_SECRET } = process.env
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: TOKEN_SECRET } })
const passwords = createPasswords()
const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: await passwords.hash(PASSWORD) }])

const app = express()
app.use(tokenRouter({ tokens, accounts, passwords }))
const ofRefresh = { store: memoryStore(), secret: TOKEN_SECRET, refresh: 'body' }
const keys = { alg: 'HS256', secret: TOKEN_SECRET }
const paths = { token: '/signed-in' }
app.use(createAuth({ issuer: tokens.issuer, keys, accounts, passwords, ...ofRefresh, paths }).router)
app.get('/me', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
