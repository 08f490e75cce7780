import { start } from '../../processes.mjs'
import { pairedRatio } from '../../stats.mjs'
import { EXPRESS_JWT, FAST_JWT, FLOOR, inTurn, MANY_KEYS, ONE_KEY, OURS } from '../names.mjs'
import { atLeast, atMost, rowsOf, times, withSpread } from '../report/report.mjs'

/** Measures the guards without a server: one token, many tokens in turn, many keys, and a long token. */
export const guard = {
  title: 'The guard in process, µs per call of HS256 (median and middle half of the rounds)',
  async run({ rounds, node }) {
    const { first: values } = await start(new URL('../in-process.mjs', import.meta.url), {
      args: [`${rounds}`],
      execArgv: ['--disable-warning=FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK'],
      node,
    })
    const ratio = (name, base) => pairedRatio(values[name], values[base])
    const rows = rowsOf(values, Object.keys(values), OURS)
    return {
      tables: [
        {
          heads: ['HS256, one token unless the name tells more', 'µs', 'to ours'],
          rows: rows.map((row) => [row.name, withSpread(row), times(row.ratio)]),
        },
      ],
      demands: [
        atMost(`in process, ${OURS} to ${FLOOR}`, ratio(OURS, FLOOR), 2.5),
        atLeast(`in process, ${FAST_JWT} to ${OURS}`, ratio(FAST_JWT, OURS), 2),
        atLeast(`in process, ${EXPRESS_JWT} to ${OURS}`, ratio(EXPRESS_JWT, OURS), 12),
        atMost('in process, 1,000 tokens in turn to one token', ratio(inTurn(OURS, 1000), OURS), 1.1),
        atLeast(
          `in process, 100,000 tokens in turn, ${EXPRESS_JWT} to ${OURS}`,
          ratio(inTurn(EXPRESS_JWT, 100_000), inTurn(OURS, 100_000)),
          1,
        ),
        atMost('in process, no cache, the last of 100 keys to 1 key', ratio(MANY_KEYS, ONE_KEY), 1.1),
      ],
      rows,
    }
  },
}
