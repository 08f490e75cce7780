import express from 'express'
import { authOf, createTokenVerifier, requireBearer, type VerifiedToken } from 'express-token-endpoint'
import passport from 'passport'

// A host with Passport whose users are its own.
declare global {
  namespace Express {
    interface User {
      email: string
    }
  }
}

const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
const app = express()
app.use(passport.initialize(), requireBearer({ tokens }))
app.get('/', (req, res) => {
  const email: string | undefined = req.user?.email
  const auth: VerifiedToken = authOf(req)
  // @ts-expect-error -- this host's users have none
  req.user?.scopes
  res.json({ email, auth, account: authOf(req).accountId, session: req.isAuthenticated() })
})
