// The program that the bundlers bundle. It prints its port.
import express from 'express'
import {
  argon2id,
  authOf,
  createPasswords,
  createTokenIssuer,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const { issuer, secret, email, password, scope } = JSON.parse(process.env.HOST)

async function main() {
  const tokens = createTokenIssuer({ issuer, keys: { alg: 'HS256', secret, kid: 'k1' } })
  const passwords = createPasswords({ hashers: [argon2id({ memoryCost: 19456, timeCost: 1 })] })
  const accounts = memoryAccounts([
    { id: 'acc-1', email, passwordHash: await passwords.hash(password), scopes: [scope] },
    { id: 'acc-2', email: 'bob@example.com', passwordHash: null },
  ])
  const app = express().use(tokenRouter({ tokens, accounts, passwords }))
  app.get('/reports', requireBearer({ tokens, accounts, scope }), (req, res) =>
    res.json({ account: authOf(req).accountId }),
  )
  const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}
void main()
