import express from 'express'
import {
  authOf,
  createPasswords,
  createTokenIssuer,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const { EMAIL: email, PASSWORD, TOKEN_SECRET } = process.env
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: TOKEN_SECRET } })
const passwords = createPasswords()
const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: await passwords.hash(PASSWORD) }])

const app = express()
app.use(tokenRouter({ tokens, accounts, passwords }))
app.get('/me', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
