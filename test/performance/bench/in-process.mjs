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
  const rowOf = (guard, name, of = environment, tokens = of.tokens(1)) => ({ ...guard, name, tokens, environment: of })
  const uncached = (name, options, of = environment) =>
    rowOf({ ...ours(of, { cache: false, ...options }), misses: true }, name, of)
  const many = environment.tokens(100_000)
  const thousand = many.slice(0, 1000)
  const token = environment.tokens(1)
  const otherKeys = Array.from({ length: 99 }, () => ({ alg: 'HS256', secret: createSecretKey(randomBytes(32)) }))
  // Each group has its own guards, so that the groups do not share a cache.
  return [
    ...allGuards(environment, token).map((guard) => rowOf(guard, guard.name, environment, token)),
    ...[floor(thousand), ours(environment)].map((guard) =>
      rowOf(guard, inTurn(guard.name, 1000), environment, thousand),
    ),
    ...[ours(environment), named(EXPRESS_JWT, peers(environment))].map((guard) =>
      rowOf({ ...guard, misses: true }, inTurn(guard.name, many.length), environment, many),
    ),
    uncached(ONE_KEY),
    uncached(MANY_KEYS, { keys: [...otherKeys, environment.verifying] }),
    rowOf(ours(long), `${OURS}; 4 kB token`, long),
    uncached(`${OURS}; no cache, 4 kB token`, {}, long),
  ]
}

function next(error) {
  if (error) throw error
}
const response = new SyntheticResponse(() => {
  throw new Error('a guard refused a good token')
})

/** Returns whether a guard calls `next` before it returns. */
function isSynchronous(guard, request) {
  let called = false
  guard(request, response, () => {
    called = true
  })
  return called
}

async function variantOf({ name, guard, tokens, environment, misses }) {
  await checkGuard(name, (token) => isAccepted(guard, token), environment.samples(tokens[0]))
  const request = requestsWith(tokens)
  // The cache then has the tokens, unless each token misses it.
  if (!misses) for (const token of tokens) await isAccepted(guard, token)
  // Only the guards that call `next` later pay for a promise. This package's guard does so after many cache misses in a row.
  const bench =
    !misses && isSynchronous(guard, request())
      ? (req) => {
          guard(req, response, next)
        }
      : (req) => new Promise((resolve, reject) => guard(req, response, (error) => (error ? reject(error) : resolve())))
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
