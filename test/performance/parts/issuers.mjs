import { bearer } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { startServer } from '../harness/processes.mjs'
import { atLeast, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

const PROGRAM = 'issuers-server.mjs'

/** The measurements in each process. */
const TIMES = 4

/** The least share of the speed with one verifier. A list adds one look-up to the path of a cached token. */
const TARGET = 0.95

export const title = 'A guard with one verifier and with five: over HTTP as in the part guard, and in the process'

async function open(node) {
  const { side, one, five, stop } = await startServer(PROGRAM, { node })
  const requests = (path, tokens) => tokens.map((token) => bearer(token, path))
  const sides = [side('one verifier', requests('/one', one)), side('five verifiers', requests('/five', five))]
  return { sides, close: stop }
}

export async function run({ node, rounds }) {
  const [, five] = await alternately(() => open(node), { rounds })
  const found = []
  while (found.length < rounds * TIMES) {
    const { ask, stop } = await startServer(PROGRAM, { node })
    found.push(...(await ask(TIMES)))
    stop()
  }
  const rows = rowsOf(found, { base: 'nothing' })
  return {
    tables: [[['500 tokens in the process', 'ns of processor time'], rows.map((row) => [row.name, spread(row)])]],
    verdicts: [atLeast('a cached token over HTTP with five verifiers, to one', five.ratio, TARGET)],
  }
}
