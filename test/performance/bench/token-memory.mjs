// Measures the memory of verified tokens. It runs in its own process with --expose-gc, so that nothing else uses the heap.
import { createEnvironment } from './environment.mjs'
import { ours } from './guards.mjs'
import { isAccepted } from './measure/synthetic.mjs'

const CACHED = 10_000
const DISTINCT = 100_000

async function retained() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

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
process.send({ length: tokens[0].length, cached: CACHED, distinct: DISTINCT, sizes })
process.disconnect()
