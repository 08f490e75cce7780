import { bearer, requestText } from '../../../support/plain-js/http-client.mjs'
import { medianWithInterval } from '../../stats.mjs'
import { checkRoute } from '../measure/check.mjs'
import { inPairs, startServer } from '../measure/pairs.mjs'
import { OURS } from '../names.mjs'
import { times, withSpread } from '../report/report.mjs'

const GOALS = { 20: 3, 22: 2.5, 24: 1, 26: 1 }
const GOALS_TEXT = '3 on Node 20, 2.5 on 22, 1 on 24 and 26'
const PAIRS = 30

/** Compares a guarded route on a server with Express's prototypes with an unguarded route with `app.listen()`. */
export const server = {
  title: 'A guarded route on a fast server, to an unguarded route with app.listen()',
  async run({ rounds, node, line }) {
    const pairs = []
    for (let round = 0; round < rounds; round++) pairs.push(...(await onNewServers(node)))
    const ratio = medianWithInterval(pairs.map(({ base, held }) => held.perSecond / base.perSecond))
    const kinds = [
      ['app.listen(), no guard', 'base'],
      [`fast server, ${OURS}`, 'held'],
    ]
    const rows = kinds.map(([name, side]) => ({
      name,
      ...medianWithInterval(pairs.map((pair) => pair[side].perSecond)),
    }))
    return {
      tables: [
        { heads: ['HS256', 'per second'], rows: rows.map((row) => [row.name, withSpread(row)]) },
        { heads: ['throughput', 'times'], rows: [['the second to the first', times(ratio)]] },
      ],
      demands: [
        {
          demand: `fast server, ${OURS} to no guard with app.listen(): at least ${GOALS_TEXT}`,
          measured: withSpread(ratio),
          holds: ratio.median >= GOALS[line],
        },
      ],
      rows,
      ratio,
    }
  },
}

async function onNewServers(node) {
  const [plain, fast] = await Promise.all(
    ['plain', 'fast'].map((kind) => startServer('../servers/route-server.mjs', { args: [kind], node })),
  )
  const { port, path, samples } = fast.first
  await checkRoute(`${OURS} on a fast server`, port, path, samples)
  const texts = [requestText(bearer(samples.good, path))]
  const pairs = await inPairs(PAIRS, [
    { server: plain, texts },
    { server: fast, texts },
  ])
  for (const { child } of [plain, fast]) child.disconnect()
  return pairs
}
