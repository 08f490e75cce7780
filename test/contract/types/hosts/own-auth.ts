import express from 'express'
import { authOf, createTokenVerifier, requireBearer } from 'express-token-endpoint'

// A host that declares its own `req.auth`.
declare global {
  namespace Express {
    interface Request {
      auth?: { sub: string }
    }
  }
}

const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
express().get('/', requireBearer({ tokens }), (req, res) => {
  const sub: string | undefined = req.auth?.sub
  res.json({ sub, account: authOf(req).accountId })
})
