import { generateKeyPairSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import {
  type AccountStore,
  authOf,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const { EMAIL, PASSWORD = '', TOKEN_SECRET } = process.env
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: TOKEN_SECRET } })
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
createTokenVerifier({ issuer: tokens.issuer, keys: { alg: 'ES256', publicKey: { ...jwk, kid: 'key-1' } } })
const alice = { id: 'acc-1', passwordHash: await createPasswords().hash(PASSWORD) }
const accounts = {
  findByEmail: (email) => (email === EMAIL ? alice : undefined),
  findById: (id) => (id === alice.id ? alice : undefined),
} satisfies AccountStore

const app = express()
app.use(tokenRouter({ tokens, accounts }))
app.get('/me', requireBearer({ tokens, accounts }), (req: Request, res: Response, _next: NextFunction) => {
  const account: string = authOf(req).accountId
  const nickname: string = req.user?.nickname ?? 'none'
  res.json({ account, nickname })
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
