// Measures the memory after failed logins of 1,000,000 e-mail addresses from 1,000,000 client addresses.
// npm run bench:memory (needs --expose-gc)
import { createThrottle } from 'express-token-endpoint'
import { fixed, say, sayWhere } from '../processes.mjs'

const COUNT = 1_000_000

async function retained() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  return { heap: (heapUsed + external + arrayBuffers) / 2 ** 20, rss: rss / 2 ** 20 }
}

sayWhere()
const nothing = await retained()
const throttle = createThrottle()
const before = await retained()
const started = performance.now()
for (let i = 0; i < COUNT; i++) {
  const address =
    i % 2
      ? `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
      : `2001:db8:${(i >> 16).toString(16)}:${(i & 65535).toString(16)}::1`
  await throttle.spend(`user${i}@example.com`, address, () => {})
}
const elapsed = performance.now() - started
const after = await retained()
say(`empty: ${fixed(before.heap - nothing.heap)} MB`)
say(
  `after ${COUNT} e-mails and addresses: ${fixed(after.heap - nothing.heap)} MB retained, rss ${fixed(after.rss - nothing.rss)} MB more; ${fixed((elapsed / COUNT) * 1000)} µs each`,
)
await throttle.spend('last@example.com', '192.0.2.1', () => {}) // still held
