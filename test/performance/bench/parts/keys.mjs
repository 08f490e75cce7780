import { createSecretKey, randomBytes } from 'node:crypto'
import { createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { createEnvironment } from '../environment.mjs'
import { measureInProcess } from '../measure/in-process.mjs'
import { atMost, rowsOf, times, withSpread } from '../report/report.mjs'

const COUNTS = [1, 10, 100]
/** A tenth more is soon come to by chance, and a round takes no time. */
const MORE_ROUNDS = 5

const otherKeys = (count) =>
  Array.from({ length: count }, () => ({ alg: 'HS256', secret: createSecretKey(randomBytes(32)) }))

/** Measures a cache miss when the token belongs to the last of many keys. HS256, because its check is the cheapest. */
export const keys = {
  title: 'Growth in keys: a miss, µs per call',
  async run({ rounds }) {
    const environment = createEnvironment('HS256')
    const { issuer, verifying } = environment
    const rows = COUNTS.map((count) => {
      const tokens = createTokenVerifier({ issuer, keys: [...otherKeys(count - 1), verifying], cache: false })
      return {
        name: `${count} key${count > 1 ? 's' : ''}`,
        guard: requireBearer({ tokens }),
        tokens: environment.tokens(1),
        environment,
      }
    })
    const measured = rowsOf(await measureInProcess(MORE_ROUNDS * rounds, rows))
    return {
      tables: [
        {
          heads: ['HS256, no cache, signed by the last', 'µs', 'to 1 key'],
          rows: measured.map((row) => [row.name, withSpread(row), times(row.ratio)]),
        },
      ],
      demands: [atMost('100 keys to 1 key', measured.at(-1).ratio, 1.1)],
      rows: measured,
    }
  },
}
