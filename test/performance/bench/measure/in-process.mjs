import { checkGuard } from './check.mjs'
import { inRounds } from './rounds.mjs'
import { isAccepted, microsecondsPerCall, requestsWith } from './synthetic.mjs'

const WARM_UP = 250
const SLICE = 25
const MOST_CALLS = 20_000

/**
 * Measures guards in this process, all in the same rounds.
 * @param rows each with a name, a guard, its tokens, and the environment that they are of
 * @returns microseconds per call by name, round by round
 */
export async function measureInProcess(rounds, rows) {
  const variants = []
  for (const { name, guard, tokens, environment } of rows) {
    const samples = { good: tokens[0], forged: environment.forged(), expired: environment.expired() }
    await checkGuard(name, (token) => isAccepted(guard, token), samples)
    variants.push({ name, guard, requests: requestsWith(tokens) })
  }
  // Everything is warm before the first measurement, because later code changes how V8 compiles earlier code.
  for (const variant of variants) variant.calls = callsIn(SLICE, await warmUp(variant))
  return inRounds(rounds, variants, ({ guard, requests, calls }) => microsecondsPerCall(guard, requests, calls))
}

/** Runs a guard until it has run long enough. Returns the microseconds of one call in its fastest slice. */
async function warmUp({ guard, requests }) {
  const end = performance.now() + WARM_UP
  let least = await microsecondsPerCall(guard, requests, 10)
  while (performance.now() < end) {
    least = Math.min(least, await microsecondsPerCall(guard, requests, callsIn(SLICE / 5, least)))
  }
  return least
}

const callsIn = (milliseconds, microseconds) =>
  Math.min(MOST_CALLS, Math.max(20, Math.round((milliseconds * 1000) / microseconds)))
