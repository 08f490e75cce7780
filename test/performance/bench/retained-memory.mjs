// Measures the memory of verified tokens and of failed logins. It runs in its own process with --expose-gc, so that nothing else uses the heap.
import { createThrottle } from 'express-token-endpoint'
import { createEnvironment } from './environment.mjs'
import { ours } from './guards.mjs'
import { isAccepted } from './measure/synthetic.mjs'

const CACHED = 10_000
const DISTINCT = 100_000
const FAILED_LOGINS = 1_000_000

async function retained() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const addressOf = (i) =>
  i % 2
    ? `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
    : `2001:db8:${(i >> 16).toString(16)}:${(i & 65535).toString(16)}::1`

async function measureFailedLogins() {
  const before = await retained()
  const throttle = createThrottle()
  for (let i = 0; i < FAILED_LOGINS; i++) await throttle.spend(`user${i}@example.com`, addressOf(i), () => {})
  const size = (await retained()) - before
  // The throttle is still in use.
  await throttle.spend('last@example.com', '192.0.2.1', () => {})
  return { count: FAILED_LOGINS, size }
}

async function measureTokens() {
  const environment = createEnvironment('HS256', { filling: 'x'.repeat(80) })
  const tokens = environment.tokens(DISTINCT)
  let next = 0
  async function send({ guard }, count) {
    for (let i = 0; i < count; i++) {
      if (!(await isAccepted(guard, tokens[next++ % DISTINCT]))) throw new Error('the guard refused a good token')
    }
  }

  // A guard without a cache runs first, so that one-time allocations such as compiled code are not measured.
  await send(ours(environment, { cache: false }), DISTINCT)

  const guard = ours(environment)
  const before = await retained()
  const sizes = []
  for (let sent = 0; sent < DISTINCT; sent += CACHED) {
    await send(guard, CACHED)
    sizes.push((await retained()) - before)
  }
  return { length: tokens[0].length, cached: CACHED, distinct: DISTINCT, sizes }
}

process.send({ failedLogins: await measureFailedLogins(), tokens: await measureTokens() })
process.disconnect()
