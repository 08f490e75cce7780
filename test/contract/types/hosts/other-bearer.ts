import express from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { authOf, createTokenVerifier, requireBearer, type VerifiedToken } from 'express-token-endpoint'

// A host that also uses a package that declares another type of `req.auth`.
const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
const app = express()
app.get('/theirs', auth({ issuerBaseURL: 'https://login.example.com', audience: 'x' }), (req, res) => {
  res.json(req.auth?.payload.sub)
})
app.get('/ours', requireBearer({ tokens }), (req, res) => {
  const verified: VerifiedToken = authOf(req)
  res.json(verified.accountId)
})
