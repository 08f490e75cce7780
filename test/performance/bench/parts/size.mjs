import { createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { createEnvironment } from '../environment.mjs'
import { measureInProcess } from '../measure/in-process.mjs'
import { sized } from '../measure/sized.mjs'
import { rowsOf, times, withSpread } from '../report/report.mjs'

const SIZES = [512, 4096]

/** Measures the cost of a longer token. */
export const size = {
  title: 'Size of the token, µs per call',
  async run({ rounds }) {
    const rows = SIZES.flatMap((length) => {
      const environment = sized(length, (claims) => createEnvironment('HS256', claims))
      const { issuer, verifying } = environment
      const tokens = environment.tokens(1)
      const row = (name, cache) => ({
        name: `${length / 1024} kB, ${name}`,
        guard: requireBearer({ tokens: createTokenVerifier({ issuer, keys: verifying, cache }) }),
        tokens,
        environment,
      })
      return [row('hit'), row('miss', false)]
    })
    const measured = rowsOf(await measureInProcess(rounds, rows))
    return {
      tables: [
        {
          heads: ['HS256', 'µs', `to ${measured[0].name}`],
          rows: measured.map((row) => [row.name, withSpread(row), times(row.ratio)]),
        },
      ],
      rows: measured,
    }
  },
}
