// The test of a TypeScript app that is older than `exports`, for ts-jest.
import { strict as assert } from 'node:assert'
import 'express-token-endpoint/express'
import * as express from 'express'
import { AuthError, createPasswords, requireBearer, type TokenVerifier } from 'express-token-endpoint'
import { createTokenClient, type TokenClient } from 'express-token-endpoint/client'
import { kyselyStore } from 'express-token-endpoint/kysely'
import { openApiDocument } from 'express-token-endpoint/openapi'
import { BearerStrategy } from 'express-token-endpoint/passport'
import { redisStore } from 'express-token-endpoint/redis'
import { createTestIssuer } from 'express-token-endpoint/testing'

const { tokens } = createTestIssuer()
const verifier: TokenVerifier = tokens
const app = express()
app.get('/me', requireBearer({ tokens: verifier }), (req, res) => {
  const id: string | undefined = req.auth?.accountId
  // @ts-expect-error -- the types are not `any`
  const no: number = req.auth?.accountId
  res.json({ id, no })
})

it('sees types, and the code that belongs to them', async () => {
  const client: TokenClient = createTokenClient({
    url: 'https://api.example.com',
    credentials: () => ({ email: '', password: '' }),
  })
  assert.deepEqual(
    [client.fetch, kyselyStore, openApiDocument, BearerStrategy, redisStore].map((value) => typeof value),
    Array(5).fill('function'),
  )
  const passwords = createPasswords()
  assert.equal(await passwords.verify('secret', await passwords.hash('secret')), true)
  await assert.rejects(tokens.verify('no token'), AuthError)
})
