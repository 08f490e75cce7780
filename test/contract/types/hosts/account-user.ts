import 'passport'
import express from 'express'
import { type Account, type AccountStore, createTokenVerifier, requireBearer } from 'express-token-endpoint'

// A host with Passport's types whose users are what the guard puts there.
declare global {
  namespace Express {
    interface User extends Omit<Account, 'passwordHash'> {}
  }
}

declare const accounts: Required<AccountStore>
const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
express().get('/', requireBearer({ tokens, accounts }), (req, res) => {
  const scopes: readonly string[] = req.user?.scopes ?? []
  // @ts-expect-error -- the guard takes it out
  req.user?.passwordHash
  res.json({ id: req.user?.id, scopes })
})
