// The app under attack, in its own process: `package` is this package with its defaults, `plain` is an Express app built the usual way.
// PACKAGE=/path/to/dist/index.js attacks another build of this package.
import { createRequire } from 'node:module'
import * as argon2 from '@node-rs/argon2'
import express from 'express'
import { PASSWORD, PEOPLE, TOKEN_PATH } from './names.mjs'

const [kind] = process.argv.slice(2)
const app = express()
app.set('trust proxy', 1)
const answer = (_req, res) => res.json({ statements: [] })
const hash = await argon2.hash(PASSWORD, { memoryCost: 19456, timeCost: 2, parallelism: 1 })
const people = Array.from({ length: PEOPLE }, (_, i) => ({
  id: `acc-${i}`,
  email: `known${i}@example.com`,
  passwordHash: hash,
}))

const KINDS = {
  async package() {
    const { generateKeyPairSync } = await import('node:crypto')
    const { createTokenIssuer, memoryAccounts, requireBearer, tokenRouter } = await import(
      process.env.PACKAGE ?? 'express-token-endpoint'
    )
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'ES256', privateKey } })
    app.use(tokenRouter({ tokens, accounts: memoryAccounts(people) }))
    app.get('/guarded', requireBearer({ tokens }), answer)
  },
  async plain() {
    const { createPublicKey, generateKeyPairSync } = await import('node:crypto')
    const require = createRequire(new URL('../peers/package.json', import.meta.url))
    const { expressjwt } = require('express-jwt')
    const { rateLimit } = require('express-rate-limit')
    const { default: passport } = await import('passport')
    const { Strategy } = await import('passport-local')
    const { default: jwt } = await import('jsonwebtoken')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const byEmail = new Map(people.map((account) => [account.email, account]))
    passport.use(
      new Strategy({ usernameField: 'email', session: false }, async (email, password, done) => {
        const account = byEmail.get(email)
        const matches = await argon2.verify(account?.passwordHash ?? hash, password)
        done(null, matches && account)
      }),
    )
    const options = { windowMs: 3_600_000, limit: 100, skipSuccessfulRequests: true, validate: false }
    const login = (req, res, next) =>
      passport.authenticate('local', { session: false }, (error, account) => {
        if (error) return next(error)
        if (!account) return res.sendStatus(403)
        const authenticationToken = jwt.sign({}, privateKey, {
          subject: account.id,
          algorithm: 'ES256',
          expiresIn: 3600,
        })
        res.json({ authenticationToken, expiration: new Date(Date.now() + 3_600_000).toISOString() })
      })(req, res, next)
    app.post(TOKEN_PATH, express.json(), rateLimit(options), login)
    app.get('/guarded', expressjwt({ secret: createPublicKey(privateKey), algorithms: ['ES256'] }), answer)
    app.use((_error, _req, res, _next) => res.sendStatus(401))
  },
}
await KINDS[kind]()

let most = 0
const sample = () => {
  most = Math.max(most, process.memoryUsage.rss())
}
setInterval(sample, 20).unref()
const server = app.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port))
process.on('message', () => {
  sample()
  process.send({ rss: process.memoryUsage.rss() / 2 ** 20, most: most / 2 ** 20 })
  most = 0
})
process.on('disconnect', () => process.exit())
