// A process for old-refresh-tokens.system.test.ts. It runs the compiled package with sessions and the old refresh tokens in the given Redis.
import express from 'express'
import { createAuth, memoryAccounts } from 'express-token-endpoint'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'

const redis = new Redis(process.env.REDIS_URL)
const { sessions } = redisStore({ sendCommand: (...command) => redis.call(...command) })
const accounts = Array.from({ length: Number(process.env.ACCOUNTS) }, (_, i) => ({
  id: `acc-${i}`,
  email: `${i}@example.com`,
  passwordHash: null,
}))
let started = 0

const auth = createAuth({
  issuer: 'https://api.example.com',
  secret: 'secret s'.repeat(4),
  accounts: memoryAccounts(accounts),
  store: { sessions },
  refresh: 'body',
  timeout: '20s',
  oldRefreshTokens: {
    async find(token) {
      const accountId = await redis.get(`old:${token}`)
      return accountId === null ? undefined : { accountId }
    },
    remove: (token) => redis.del(`old:${token}`),
    until: new Date(Date.now() + 3_600_000),
  },
  onEvent({ type }) {
    if (type === 'session.started') started++
  },
})

const server = express()
  .use(auth.router)
  .listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', async (accountId) => {
  process.send({ started, sessions: (await sessions.list(accountId)).length })
})
process.on('disconnect', () => process.exit())
