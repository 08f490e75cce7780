import { login, requestText } from '../../../support/plain-js/http-client.mjs'
import { startClient } from '../../client/start-client.mjs'
import { inRounds } from '../measure/rounds.mjs'
import { rowsOf, times, withSpread } from '../report/report.mjs'
import { startAttacked } from '../servers/attacked.mjs'

const PAIRS = 200
const WARM_UP = 300
const MOST_APART = 0.05

/** Measures whether the time of a refusal shows that an account exists. */
export const unknown = {
  title: 'A refused login: the address of an account, and an unknown address',
  async run({ node }) {
    const server = await startAttacked('package', {}, node)
    const client = await startClient()
    const connection = await client.connect(server.port, 1)
    const guesses = (name, network) =>
      connection.load(
        Array.from({ length: PAIRS }, (_, i) =>
          requestText(login(`${name}${i}@example.com`, 'a wrong guess', `10.${network}.0.${i}`)),
        ),
      )
    const variants = [
      { name: 'known', load: await guesses('known', 0) },
      { name: 'unknown', load: await guesses('unknown', 1) },
    ]
    for (const { load } of variants) await load.run(WARM_UP)
    const values = await inRounds(PAIRS, variants, async ({ load }) => {
      // A run of 1 ms is one request.
      const { statuses, times } = await load.run(1)
      if (statuses[403] !== 1) throw new Error(`a wrong guess: ${JSON.stringify(statuses)}`)
      return times[0]
    })
    client.stop()
    await server.stop()
    const rows = rowsOf(values)
    const { ratio } = rows[1]
    return {
      tables: [
        {
          heads: ['refused login', 'ms', 'to known'],
          rows: rows.map((row) => [row.name, withSpread(row), times(row.ratio)]),
        },
      ],
      demands: [
        {
          demand: `a refused login, unknown address to known address: at most ${MOST_APART} from 1`,
          measured: withSpread(ratio),
          holds: Math.abs(ratio.median - 1) <= MOST_APART,
        },
      ],
      rows,
    }
  },
}
