import { bearer } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { SERVER_CORE, start } from '../harness/processes.mjs'
import { atLeast, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

const PROGRAM = 'issuers-server.mjs'

/** The measurements in each process. */
const TIMES = 4

/** The least share of the speed with one verifier. A list adds one look-up to the path of a cached token. */
const TARGET = 0.95

export const title = 'A guard with one verifier and with five: over HTTP as in the part guard, and in the process'

async function open(node) {
  const { pid, first, stop } = await start(PROGRAM, { node, core: SERVER_CORE })
  const side = (name, path, tokens) => ({
    name,
    port: first.port,
    requests: tokens.map((token) => bearer(token, path)),
    programs: { api: () => [pid] },
  })
  const sides = [side('one verifier', '/one', first.one), side('five verifiers', '/five', first.five)]
  return { sides, close: stop }
}

export async function run({ node, rounds }) {
  const overHttp = await alternately(() => open(node), { rounds })
  const found = []
  while (found.length < rounds * TIMES) {
    const { ask, stop } = await start(PROGRAM, { node, core: SERVER_CORE })
    found.push(...(await ask(TIMES)))
    stop()
  }
  const rows = rowsOf(found, { base: 'nothing' })
  const [, five] = overHttp
  return {
    tables: [[['500 tokens in the process', 'ns of processor time'], rows.map((row) => [row.name, spread(row)])]],
    verdicts: [atLeast('a cached token over HTTP with five verifiers, to one', five.ratio, TARGET)],
  }
}
