// A process for shared-store.system.test.ts. It runs the compiled package with failed-login limits in the given Redis.
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import { createLimits, createPasswords, createTokenIssuer, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'

const PASSWORD = 'correct horse battery staple'
let hashes = 0
const events = []

const redis = new Redis(process.env.REDIS_URL)
redis.on('error', () => {}) // ioredis reconnects by itself

const app = express()
app.set('trust proxy', 1)
app.use(
  tokenRouter({
    tokens: createTokenIssuer({
      issuer: 'https://api.example.com',
      keys: { alg: 'HS256', secret: 'secret s'.repeat(4) },
    }),
    accounts: memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: `plain:${PASSWORD}` }]),
    passwords: createPasswords({
      hashers: [
        {
          accepts: (hash) => hash.startsWith('plain:'),
          async verify(password, hash) {
            hashes++
            await setTimeout(5) // so that simultaneous logins are in flight together
            return hash === `plain:${password}`
          },
          hash: (password) => `plain:${password}`,
        },
      ],
    }),
    limits: createLimits({ limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }) }),
    onEvent: ({ type, dependency, refused }) => events.push({ type, dependency, refused }),
  }),
)

const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => process.send({ hashes, events: events.splice(0) }))
process.on('disconnect', () => process.exit())
