import type { AddressInfo } from 'node:net'
import { authOf, createPasswords, createTokenIssuer, requireBearer, tokenRouter } from 'express-token-endpoint'

import express = require('express')

const { EMAIL, PASSWORD = '', TOKEN_SECRET } = process.env
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: TOKEN_SECRET } })
const passwordHash = createPasswords().hash(PASSWORD)

const app = express()
app.use(
  tokenRouter({
    tokens,
    accounts: async (email) => (email === EMAIL ? { id: 'acc-1', passwordHash: await passwordHash } : null),
  }),
)
app.get('/me', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
