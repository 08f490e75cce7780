import { createEnvironment } from '../environment.mjs'
import { EXPRESS_JWT, EXPRESS_JWT_DOCUMENTED, FAST_JWT, FLOOR, floor, named, OURS, ours, peers } from '../guards.mjs'
import { measureInProcess } from '../in-process.mjs'
import { atLeast, atMost, rowsOf, times, withSpread } from '../report.mjs'
import { pairedRatio } from '../stats.mjs'

const CROWDS = [1000, 100_000]
const inTurn = (name, count) => `${name}; ${count.toLocaleString('en')} tokens in turn`

/** What the guard itself takes, without a server around it: HS256. */
export const guard = {
  title: 'The guard in process, µs per call',
  async run({ rounds }) {
    const environment = createEnvironment('HS256')
    const one = environment.tokens(1)
    const rows = [floor(one), ours(environment), ...peers(environment)].map((row) => ({ ...row, tokens: one }))
    const names = rows.map(({ name }) => name)
    for (const count of CROWDS) {
      const tokens = environment.tokens(count)
      // Guards of their own, so that what one crowd leaves in a cache does not meet the other.
      const others = peers(environment)
      const crowd = [floor(tokens), ours(environment), named(FAST_JWT, others), named(EXPRESS_JWT, others)]
      rows.push(...crowd.map((row) => ({ ...row, name: inTurn(row.name, count), tokens })))
    }
    const values = await measureInProcess(
      rounds,
      rows.map((row) => ({ ...row, environment })),
    )
    const ratio = (name, base) => pairedRatio(values[name], values[base])
    const [thousand, many] = CROWDS.map((count) => inTurn(OURS, count))
    const mapOfThousand = inTurn(FLOOR, CROWDS[0])
    const toMap = (name, map) => values[name].map((value, round) => value / values[map][round])
    return {
      tables: [oneToken(rowsOf(values, names)), inCrowds(rowsOf(values))],
      demands: [
        atMost(`one token, ${OURS} to ${FLOOR}`, ratio(OURS, FLOOR), 2.5),
        atLeast(`one token, ${FAST_JWT} to ${OURS}`, ratio(FAST_JWT, OURS), 2),
        atLeast(`one token, ${EXPRESS_JWT} to ${OURS}`, ratio(EXPRESS_JWT, OURS), 12),
        atLeast(`one token, ${EXPRESS_JWT_DOCUMENTED} to ${OURS}`, ratio(EXPRESS_JWT_DOCUMENTED, OURS), 250),
        atMost(
          '1,000 tokens in turn to one token, each as a share of the look-up',
          pairedRatio(toMap(thousand, mapOfThousand), toMap(OURS, FLOOR)),
          1.1,
        ),
        {
          demand: `(1,000 tokens in turn to one token, and ${FLOOR} likewise)`,
          measured: [ratio(thousand, OURS), ratio(mapOfThousand, FLOOR)].map((both) => withSpread(both)).join(', '),
        },
        atLeast(`100,000 tokens in turn, ${EXPRESS_JWT} to ${OURS}`, ratio(inTurn(EXPRESS_JWT, CROWDS[1]), many), 1),
      ],
      rows: rowsOf(values),
    }
  },
}

const oneToken = (rows) => ({
  heads: ['HS256, one token', 'µs', 'to the look-up', 'to ours'],
  rows: rows.map((row) => [
    row.name,
    withSpread(row),
    times(row.ratio),
    `× ${(row.median / rows.find(({ name }) => name === OURS).median).toFixed(2)}`,
  ]),
})

const inCrowds = (rows) => ({
  heads: ['HS256, many tokens', 'µs'],
  rows: rows.filter(({ name }) => name.includes('in turn')).map((row) => [row.name, withSpread(row)]),
})
