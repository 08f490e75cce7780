// Tests of an app that uses `require`, for Jest and for Mocha.
const assert = require('node:assert')
const { once } = require('node:events')
const express = require('express')
const {
  AuthError,
  argon2id,
  bcrypt,
  createAuth,
  createPasswords,
  createTokenIssuer,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} = require('express-token-endpoint')
const { createTokenClient, TokenClientError } = require('express-token-endpoint/client')
const { createTestIssuer } = require('express-token-endpoint/testing')
require('express-token-endpoint/kysely')
require('express-token-endpoint/openapi')
require('express-token-endpoint/passport')
require('express-token-endpoint/redis')

const email = 'alice@example.com'

for (const hasher of [argon2id(), bcrypt({ cost: 4 })]) {
  it('lets a user in with a real hash, and no other', async () => {
    const tokens = createTokenIssuer({
      issuer: 'https://api.example.com',
      keys: { alg: 'HS256', secret: 'secret k'.repeat(4) },
    })
    const passwords = createPasswords({ hashers: [hasher] })
    const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: await passwords.hash('secret') }])
    const app = express().use(tokenRouter({ tokens, accounts, passwords }))
    app.get('/me', requireBearer({ tokens, accounts }), (req, res) => res.json(req.auth.accountId))
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = (password) =>
      createTokenClient({
        url: `http://127.0.0.1:${server.address().port}`,
        credentials: () => ({ email, password }),
      })
    try {
      assert.equal(await (await client('secret').fetch('/me')).json(), 'acc-1')
      await assert.rejects(client('Secret').fetch('/me'), TokenClientError)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
}

it('has the authentication of an app in one object', () => {
  const keys = { alg: 'HS256', secret: 'secret k'.repeat(4) }
  const auth = createAuth({ issuer: 'https://api.example.com', keys, accounts: () => null })
  assert.equal(typeof auth.guard(), 'function')
})

it('refuses a token with an error of the class that the package exports', async () => {
  const { tokens } = createTestIssuer()
  await assert.rejects(tokens.verify('no token'), AuthError)
})
