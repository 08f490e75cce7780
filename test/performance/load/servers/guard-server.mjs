// Serves one guarded route without a store, to measure only the guard and Express.
import express from 'express'
import { authOf, createTokenIssuer, requireBearer } from 'express-token-endpoint'

const [secret] = process.argv.slice(2)
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret } })
const app = express()
app.get('/statements', requireBearer({ tokens }), (req, res) => {
  res.json({ account: authOf(req).accountId, statements: [] })
})

const { token } = tokens.issue({ accountId: 'acc-1' })
process.on('disconnect', () => process.exit())
const server = app.listen(0, '127.0.0.1', 1024, () => process.send({ port: server.address().port, token }))
