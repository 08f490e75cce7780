const express = require('express')
const { createPasswords, createTokenIssuer, requireBearer, tokenRouter } = require('express-token-endpoint')

const tokens = createTokenIssuer({
  issuer: 'https://api.example.com',
  keys: { alg: 'HS256', secret: process.env.TOKEN_SECRET },
})
const passwordHash = createPasswords().hash(process.env.PASSWORD)

async function findAccount(email) {
  return email === process.env.EMAIL ? { id: 'acc-1', passwordHash: await passwordHash } : null
}

const app = express()
app.use(express.json())
app.use(tokenRouter({ tokens, accounts: findAccount }))
app.use(requireBearer({ tokens }))
app.get('/me', (req, res) => {
  res.json({ account: req.auth.accountId })
})
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
