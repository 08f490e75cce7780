// The guards of the guard part, in a process of the measured Node. Sends the microseconds of a call by name, round by round.
import { createSecretKey, randomBytes } from 'node:crypto'
import { createEnvironment } from './environment.mjs'
import { allGuards, floor, named, ours, peers } from './guards.mjs'
import { checkGuard } from './measure/check.mjs'
import { inRounds } from './measure/rounds.mjs'
import { isAccepted, requestsWith, SyntheticResponse } from './measure/synthetic.mjs'
import { EXPRESS_JWT, inTurn, MANY_KEYS, ONE_KEY, OURS } from './names.mjs'
import { measure } from './peers/mitata.mjs'

const OPTIONS = {
  // Nanoseconds of calls in a round.
  min_cpu_time: 30e6,
  min_samples: 1,
  // Mitata creates this number of requests before it measures their calls. They are still young then, as on a server.
  batch_samples: 500,
  batch_threshold: Number.MAX_VALUE,
  warmup_threshold: Number.MAX_VALUE,
  gc: false,
}

function rows() {
  const environment = createEnvironment('HS256')
  const long = createEnvironment('HS256', { filling: 'x'.repeat(2700) })
  const one = (guard, of, name) => ({ ...guard, name, tokens: of.tokens(1), environment: of })
  const many = (count, guardsOf) => {
    const tokens = environment.tokens(count)
    return guardsOf(tokens).map((guard) => ({ ...guard, name: inTurn(guard.name, count), tokens, environment }))
  }
  const token = environment.tokens(1)
  const otherKeys = Array.from({ length: 99 }, () => ({ alg: 'HS256', secret: createSecretKey(randomBytes(32)) }))
  return [
    ...allGuards(environment, token).map((guard) => ({ ...guard, tokens: token, environment })),
    // Each group has its own guards, so that the groups do not share a cache.
    ...many(1000, (tokens) => [floor(tokens), ours(environment)]),
    ...many(100_000, () => [ours(environment), named(EXPRESS_JWT, peers(environment))]),
    one(ours(environment, { cache: false }), environment, ONE_KEY),
    one(ours(environment, { cache: false, keys: [...otherKeys, environment.verifying] }), environment, MANY_KEYS),
    one(ours(long), long, `${OURS}; 4 kB token`),
    one(ours(long, { cache: false }), long, `${OURS}; no cache, 4 kB token`),
  ]
}

function next(error) {
  if (error) throw error
}
const response = new SyntheticResponse(() => {
  throw new Error('a guard refused a good token')
})

/** Returns whether a guard calls `next` for each token before it returns. Afterwards the cache holds the tokens that it can. */
async function isSynchronous(guard, tokens) {
  const request = requestsWith(tokens)
  let later = 0
  for (let i = 0; i < 2 * tokens.length; i++) {
    let called = false
    const over = new Promise((resolve) => {
      guard(request(), response, () => {
        called = true
        resolve()
      })
    })
    // The first call of each token fills the cache.
    if (!called && i >= tokens.length) later++
    await over
  }
  return later === 0
}

/** Creates the measured call of a guard. Only the guards that call `next` later pay for a promise. */
const callOf = async (guard, tokens) =>
  (await isSynchronous(guard, tokens))
    ? (req) => {
        guard(req, response, next)
      }
    : (req) => new Promise((resolve, reject) => guard(req, response, (error) => (error ? reject(error) : resolve())))

async function variantOf({ name, guard, tokens, environment }) {
  await checkGuard(name, (token) => isAccepted(guard, token), environment.samples(tokens[0]))
  const bench = await callOf(guard, tokens)
  const request = requestsWith(tokens)
  return {
    name,
    *source() {
      yield { 0: () => request(), bench }
    },
  }
}

const variants = await Promise.all(rows().map(variantOf))
const [rounds] = process.argv.slice(2)
// The first round only warms up.
const values = await inRounds(
  Number(rounds) + 1,
  variants,
  async ({ source }) => (await measure(source, { ...OPTIONS })).avg / 1000,
)
process.send(Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.slice(1)])))
process.disconnect()
