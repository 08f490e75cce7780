// Measures the memory of verified tokens. It runs in its own process with --expose-gc, so that nothing else uses the heap.
import { createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { createEnvironment } from './environment.mjs'
import { retained } from './measure/retained.mjs'
import { sized } from './measure/sized.mjs'
import { microsecondsPerCall, requestsWith } from './measure/synthetic.mjs'

const LENGTH = 512
const CACHED = 10_000
const DISTINCT = 100_000

const environment = sized(LENGTH, (claims) => createEnvironment('HS256', claims))
const { issuer, verifying } = environment
const requests = requestsWith(environment.tokens(DISTINCT))

const guardWith = (cache) => requireBearer({ tokens: createTokenVerifier({ issuer, keys: verifying, cache }) })

// A guard without a cache runs first, so that one-time allocations such as compiled code are not measured.
await microsecondsPerCall(guardWith(false), requests, DISTINCT)

const guard = guardWith()
const before = await retained()
const sizes = []
for (let sent = 0; sent < DISTINCT; sent += CACHED) {
  await microsecondsPerCall(guard, requests, CACHED)
  sizes.push((await retained()) - before)
}
process.send({ length: LENGTH, cached: CACHED, distinct: DISTINCT, sizes })
process.disconnect()
