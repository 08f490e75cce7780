import express from 'express'
import { authOf, createTokenVerifier, requireBearer } from 'express-token-endpoint'

// A host that only verifies tokens, and loads no native module.

const tokens = createTokenVerifier({
  issuer: 'https://api.example.com',
  keys: { alg: 'HS256', secret: process.env.TOKEN_SECRET },
})
const app = express()
app.get('/me', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
