import 'express-token-endpoint/express'
import type { AddressInfo } from 'node:net'
import express, { Router } from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, requireBearer, tokenRouter } from 'express-token-endpoint'

const { EMAIL: email = '', PASSWORD = '', TOKEN_SECRET } = process.env
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: TOKEN_SECRET } })
const passwords = createPasswords()
const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: await passwords.hash(PASSWORD) }])

const guarded = Router().use(requireBearer({ tokens, accounts }))
guarded.get('/me', (req, res) => {
  const scopes: readonly string[] = req.user?.scopes ?? []
  res.json({ account: req.auth?.accountId, scopes })
})
const app = express().use(tokenRouter({ tokens, accounts, passwords })).use(guarded)
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
