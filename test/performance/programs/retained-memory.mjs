// Sends the memory of cached tokens, in bytes. It runs with --expose-gc.
import { createEnvironment, OURS } from '../guards.mjs'

/** The default of `cache`. The cache holds at most twice as many tokens. */
const CACHED = 10_000
const TOKENS = 10 * CACHED

async function retained() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const pass = (guard, token) =>
  new Promise((resolve, reject) => {
    const req = { headers: { authorization: `Bearer ${token}` }, rawHeaders: ['Authorization', `Bearer ${token}`] }
    guard(req, { setHeader() {}, end: reject }, (error) => (error ? reject(error) : resolve()))
  })

const claims = { filling: 'x'.repeat(80) }
// These tokens pass first, so that one-time allocations such as compiled code are not measured.
const warm = await createEnvironment('HS256', { claims, count: CACHED })
for (const token of warm.tokens) await pass(warm.guards[OURS], token)

const { tokens, guards } = await createEnvironment('HS256', { claims, count: TOKENS })
const before = await retained()
/** The memory after each `CACHED` tokens. */
const sizes = []
for (const [i, token] of tokens.entries()) {
  // Twice, because a full cache adds a token at its second time.
  await pass(guards[OURS], token)
  await pass(guards[OURS], token)
  if ((i + 1) % CACHED === 0) sizes.push((await retained()) - before)
}
process.send({ length: tokens[0].length, cached: CACHED, count: TOKENS, sizes })
process.disconnect()
