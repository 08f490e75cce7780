import { start } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

const OURS = 'this package'
const ALGORITHMS = ['HS256', 'RS256', 'PS256', 'ES256', 'Ed25519']
const LIMITS = {
  verify: () => 1.1,
  issue: () => 1.1,
}

export const title =
  'New tokens in one process: verified without a cached result, and issued. Processor time, compared with other packages'

/** Compares this package with the fastest other package. */
function verdictOf(what, alg, rounds) {
  const others = rowsOf(rounds, { base: OURS }).filter(({ name }) => name !== OURS)
  const [fastest] = others.sort((a, b) => a.ratio.median - b.ratio.median)
  const [{ ratio }] = rowsOf(rounds, { base: fastest.name, names: [OURS] })
  return atMost(`${what} ${alg}, ${OURS} to ${fastest.name}`, ratio, LIMITS[what](alg))
}

export async function run({ node, rounds }) {
  const found = []
  for (const alg of ALGORITHMS) {
    found.push({ alg, ...(await start('token-times.mjs', { args: [rounds, alg], node, core: 0 })).first })
  }
  const rows = (what) =>
    found.flatMap(({ alg, ...rounds }) =>
      rowsOf(rounds[what], { base: OURS }).map(({ name, ratio, ...µs }) => [
        `${alg}, ${name}`,
        spread(µs),
        spread(ratio),
      ]),
    )
  return {
    tables: ['verify', 'issue'].map((what) => [
      [`${what} a new token`, 'processor µs', `times that of ${OURS}`],
      rows(what),
    ]),
    verdicts: ['verify', 'issue'].flatMap((what) =>
      found.map(({ alg, ...rounds }) => verdictOf(what, alg, rounds[what])),
    ),
  }
}
