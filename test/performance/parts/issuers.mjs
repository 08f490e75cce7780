import { bearer } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { SERVER_CORE, start } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { medianWithInterval, rowsOf } from '../harness/statistics.mjs'

const PROGRAM = 'issuers-server.mjs'

/** Rounds in the process are short. */
const TIMES = 5

/** The look-ups that a cached token may cost more with five verifiers. The rest is the uncertainty of the measurement. */
const MOST_LOOKUPS = 1.5

export const title =
  'A guard with one verifier and with five: over HTTP as in the part guard, and nanoseconds in the process'

async function open(node) {
  const { pid, first, stop } = await start(PROGRAM, { node, core: SERVER_CORE })
  const side = (name, path, tokens) => ({
    name,
    port: first.port,
    requests: tokens.map((token) => bearer(token, path)),
    programs: { api: () => [pid] },
  })
  const sides = [
    side('no guard', '/open', first.one),
    side('one verifier', '/one', first.one),
    side('five verifiers', '/five', first.five),
  ]
  return { sides, close: stop }
}

export async function run({ node, rounds }) {
  const overHttp = await alternately(() => open(node), { rounds })
  const { ask, stop } = await start(PROGRAM, { node, core: SERVER_CORE })
  const found = await ask(rounds * TIMES)
  stop()
  const rows = rowsOf(found, { base: 'nothing' })
  const lookups = medianWithInterval(
    found.map((round) => (round['cached, five'] - round['cached, one']) / (round['a look-up'] - round['nothing'])),
  )
  return {
    tables: [
      [
        ['500 cached tokens over HTTP', 'responses in the same processor time, to no guard'],
        overHttp.map(({ name, ratio }) => [name, spread(ratio)]),
      ],
      [['500 tokens in the process', 'ns'], rows.map((row) => [row.name, spread(row)])],
    ],
    verdicts: [atMost('a cached token with five verifiers, in look-ups more than with one', lookups, MOST_LOOKUPS)],
  }
}
