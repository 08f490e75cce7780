// The app under attack. `package` is this package. `plain` is an Express app built the usual way.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createRequire } from 'node:module'
import * as argon2 from '@node-rs/argon2'
import express from 'express'
import { TOKEN_PATH } from '../../support/plain-js/http-client.mjs'
import { respond, serve } from './serve.mjs'

const PASSWORD = 'correct horse'
const { kind = 'package', concurrency, refresh = false } = JSON.parse(process.argv[2])
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
// The default costs of this package.
const passwordHash = await argon2.hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
const emails = Array.from({ length: 1000 }, (_, i) => `known${i}@example.com`)
const accounts = emails.map((email, i) => ({ id: `acc-${i}`, email, passwordHash }))

const KINDS = {
  async package(app) {
    const { createAuth, createPasswords, memoryAccounts, memoryStore, requireBearer } = await import(
      'express-token-endpoint'
    )
    const passwords = createPasswords({ concurrency })
    const secret = 'a secret of the refresh tokens of a bench'
    const auth = createAuth({
      issuer: 'https://api.example.com',
      keys: { alg: 'ES256', privateKey },
      accounts: memoryAccounts(accounts),
      passwords,
      ...(refresh && { store: memoryStore(), secret, refresh: 'body' }),
    })
    app.use(auth.router)
    app.get('/guarded', requireBearer({ tokens: auth.tokens }), respond)
  },
  async plain(app) {
    const require = createRequire(new URL('../peers/package.json', import.meta.url))
    const { expressjwt } = require('express-jwt')
    const { rateLimit } = require('express-rate-limit')
    const jwt = require('jsonwebtoken')
    const passport = require('passport')
    const { Strategy } = await import('passport-local')
    const byEmail = new Map(accounts.map((account) => [account.email, account]))
    const verify = async (email, password, done) => {
      const account = byEmail.get(email)
      done(null, (await argon2.verify(account?.passwordHash ?? passwordHash, password)) && account)
    }
    passport.use(new Strategy({ usernameField: 'email', session: false }, verify))
    const issue = (account) => jwt.sign({}, privateKey, { subject: account.id, algorithm: 'ES256', expiresIn: 3600 })
    const logIn = (req, res, next) =>
      passport.authenticate('local', { session: false }, (error, account) => {
        if (error) return next(error)
        if (!account) return res.sendStatus(403)
        const expiration = new Date(Date.now() + 3_600_000).toISOString()
        res.json({ authenticationToken: issue(account), expiration })
      })(req, res, next)
    const limit = rateLimit({ windowMs: 3_600_000, limit: 100, skipSuccessfulRequests: true })
    app.post(TOKEN_PATH, express.json(), limit, logIn)
    app.get('/guarded', expressjwt({ secret: createPublicKey(privateKey), algorithms: ['ES256'] }), respond)
    app.use((_error, _req, res, _next) => res.sendStatus(401))
  },
}

const app = express().set('trust proxy', 1)
await KINDS[kind](app)
serve(app, { password: PASSWORD })
