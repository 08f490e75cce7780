import { pairedRatio } from '../../stats.mjs'
import { createEnvironment } from '../environment.mjs'
import { floor, named, ours, peers } from '../guards.mjs'
import { measureInProcess } from '../measure/in-process.mjs'
import { EXPRESS_JWT, EXPRESS_JWT_DOCUMENTED, FAST_JWT, FLOOR, inTurn, OURS } from '../names.mjs'
import { atLeast, atMost, rowsOf, times, withSpread } from '../report/report.mjs'

const CROWDS = [1000, 100_000]

const OTHER_ALGORITHMS = ['RS256', 'ES256']

/** Measures the guard without a server. */
export const guard = {
  title: 'The guard in process, µs per call',
  async run({ rounds }) {
    const environment = createEnvironment('HS256')
    const one = environment.tokens(1)
    const rows = [floor(one), ours(environment), ...peers(environment)].map((row) => ({ ...row, tokens: one }))
    const names = rows.map(({ name }) => name)
    for (const count of CROWDS) {
      const tokens = environment.tokens(count)
      // Each group has its own guards, so that the groups do not share a cache.
      const others = peers(environment)
      const crowd = [floor(tokens), ours(environment), named(FAST_JWT, others), named(EXPRESS_JWT, others)]
      rows.push(...crowd.map((row) => ({ ...row, name: inTurn(row.name, count), tokens })))
    }
    const variants = rows.map((row) => ({ ...row, environment }))
    for (const alg of OTHER_ALGORITHMS) variants.push(...best(alg))
    const values = await measureInProcess(rounds, variants)
    const ratio = (name, base) => pairedRatio(values[name], values[base])
    const [thousand, many] = CROWDS.map((count) => inTurn(OURS, count))
    return {
      tables: [oneToken(rowsOf(values, names), values), others(rowsOf(values), names)],
      demands: [
        atMost(`one token, ${OURS} to ${FLOOR}`, ratio(OURS, FLOOR), 2.5),
        atLeast(`one token, ${FAST_JWT} to ${OURS}`, ratio(FAST_JWT, OURS), 2),
        atLeast(`one token, ${EXPRESS_JWT} to ${OURS}`, ratio(EXPRESS_JWT, OURS), 12),
        atLeast(`one token, ${EXPRESS_JWT_DOCUMENTED} to ${OURS}`, ratio(EXPRESS_JWT_DOCUMENTED, OURS), 250),
        atMost('1,000 tokens in turn to one token', ratio(thousand, OURS), 1.1),
        {
          demand: `(1,000 tokens in turn to one token, ${FLOOR})`,
          measured: withSpread(ratio(inTurn(FLOOR, CROWDS[0]), FLOOR)),
        },
        atLeast(`100,000 tokens in turn, ${EXPRESS_JWT} to ${OURS}`, ratio(inTurn(EXPRESS_JWT, CROWDS[1]), many), 1),
      ],
      rows: rowsOf(values),
    }
  },
}

/** The quickest of each kind, by another algorithm. */
function best(alg) {
  const environment = createEnvironment(alg)
  const tokens = environment.tokens(1)
  const guards = [floor(tokens), ours(environment), ...peers(environment)]
  return [FLOOR, OURS, FAST_JWT, EXPRESS_JWT].map((name) => ({
    ...named(name, guards),
    name: `${name}; ${alg}`,
    tokens,
    environment,
  }))
}

const oneToken = (rows, values) => ({
  heads: ['HS256, one token', 'µs', 'to the look-up', 'to ours'],
  rows: rows.map((row) => [
    row.name,
    withSpread(row),
    times(row.ratio),
    times(pairedRatio(values[row.name], values[OURS])),
  ]),
})

const others = (rows, names) => ({
  heads: ['many tokens of HS256, and other algorithms', 'µs'],
  rows: rows.filter(({ name }) => !names.includes(name)).map((row) => [row.name, withSpread(row)]),
})
