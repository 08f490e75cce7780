// The measured server: the compiled package with its defaults, in its own process.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import express from 'express'
import {
  authOf,
  createPasswords,
  createTokenIssuer,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const passwords = createPasswords()
const passwordHash = await passwords.hash('correct horse')
const accounts = memoryAccounts(
  Array.from({ length: 1000 }, (_, i) => ({ id: `acc-${i}`, email: `known${i}@example.com`, passwordHash })),
)
const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 's'.repeat(32) } })

const app = express()
app.set('trust proxy', 1)
app.use(tokenRouter({ tokens, accounts, passwords }))
app.get('/guarded', requireBearer({ tokens }), (req, res) => {
  res.json({ id: authOf(req).accountId })
})

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let rss = 0
const sample = () => {
  rss = Math.max(rss, process.memoryUsage.rss())
}
setInterval(sample, 20).unref()

const server = app.listen(0, '127.0.0.1', 1024, () => process.send(server.address().port))
// The numbers since the last message.
process.on('message', () => {
  sample()
  process.send({ rss: rss / 2 ** 20, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, load: passwords.load() })
  delay.reset()
  rss = 0
})
process.on('disconnect', () => process.exit())
