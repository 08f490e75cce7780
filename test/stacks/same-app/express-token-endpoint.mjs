import express from 'express'
import { authOf, createTokenIssuer, requireBearer, tokenRouter } from '../../../dist/index.js'
import { findByEmail, findById } from './accounts.mjs'

const accounts = { findByEmail, findById }
const tokens = createTokenIssuer({
  issuer: process.env.BASE_URL,
  keys: { alg: 'HS256', secret: process.env.SECRET },
})

export const app = express()
app.use(tokenRouter({ tokens, accounts, path: '/login' }))
app.get('/me', requireBearer({ tokens, accounts }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
app.get('/reports', requireBearer({ tokens, accounts, scope: 'reports:read' }), (_req, res) => {
  res.json([])
})
