import { bearer, requestText } from '../../../support/plain-js/http-client.mjs'
import { differenceOf, median, medianWithInterval, quotientOf } from '../../stats.mjs'
import { createEnvironment } from '../environment.mjs'
import { allGuards } from '../guards.mjs'
import { checkRoute } from '../measure/check.mjs'
import { inPairs, startServer } from '../measure/pairs.mjs'
import { EXPRESS_JWT, FAST_JWT_KEYED, FLOOR, inTurn, isAtBest, OURS } from '../names.mjs'
import { atLeast, fastestPeer, times } from '../report/report.mjs'

const ALGORITHMS = ['HS256', 'RS256', 'ES256']
/** The algorithm for which peers are also measured as documented. */
const ALL_BY = 'HS256'

/** The pairs of each server process. Guards near the unguarded route have a new process in each round, and the others have one. */
const PAIRS = 20
const NEAR = [OURS, FLOOR, FAST_JWT_KEYED]

/**
 * The cache holds fewer tokens, so each request has a new one. The warm-up sends more tokens than a cache holds, and one process takes
 * all pairs.
 */
const NEW_TOKENS = { count: 100_000, pairs: 60, warmUp: 1200 }

/**
 * Measures the throughput of a route with a guard as a share of the route without a guard, in the same process. Each guard has its
 * own server processes, because guards in one process would pay for each other's garbage. The table also shows the processor time of
 * the server for each response.
 */
export const http = {
  title: 'A guarded route over HTTP, as a share of the route without a guard (median and its 95 % interval)',
  async run({ rounds, node }) {
    const names = allGuards(createEnvironment(ALL_BY), []).map(({ name }) => name)
    const rows = {}
    for (const alg of ALGORITHMS) {
      const measured = names.filter((name) => alg === ALL_BY || isAtBest(name))
      rows[alg] = await measure(measured, { alg, node, rounds })
    }
    const newTokens = await measure([OURS, EXPRESS_JWT], { ...NEW_TOKENS, alg: ALL_BY, node, rounds: 1 })
    return {
      tables: [
        ...ALGORITHMS.map((alg) => tableOf(alg, rows[alg])),
        tableOf(inTurn(ALL_BY, NEW_TOKENS.count), newTokens),
      ],
      demands: [...ALGORITHMS.flatMap((alg) => demandsOf(alg, rows[alg])), demandOfNew(newTokens)],
      rows,
      newTokens,
    }
  },
}

/** Measures guards in turn, and returns a row for each. */
async function measure(names, { rounds, ...options }) {
  const pairs = new Map(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, list] of pairs) {
      if (round === 0 || NEAR.includes(name)) list.push(...(await onNewServer(name, options)))
    }
  }
  return [...pairs].map(([name, list]) => rowOf(name, list))
}

async function onNewServer(name, { alg, node, count = 1, pairs = PAIRS, warmUp }) {
  const server = await startServer('../servers/guard-server.mjs', {
    args: [alg, name, `${count}`],
    execArgv: ['--disable-warning=FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK'],
    node,
  })
  const { port, guarded, open, tokens, samples } = server.first
  await checkRoute(`${name}, ${alg}`, port, guarded, samples)
  const side = (path) => ({ server, texts: tokens.map((token) => requestText(bearer(token, path))) })
  const measured = await inPairs(pairs, [side(open), side(guarded)], warmUp)
  server.child.disconnect()
  return measured
}

const rowOf = (name, pairs) => ({
  name,
  ratio: medianWithInterval(pairs.map(({ base, held }) => held.perSecond / base.perSecond)),
  perSecond: median(pairs.map(({ held }) => held.perSecond)),
  unguarded: median(pairs.map(({ base }) => base.perSecond)),
  processor: median(pairs.map(({ held }) => held.processor)),
  processorRatio: medianWithInterval(pairs.map(({ base, held }) => base.processor / held.processor)),
})

const tableOf = (heading, rows) => ({
  heads: [heading, 'per second', 'share', 'CPU µs each', 'share by CPU'],
  rows: rows.map(({ name, perSecond, ratio, processor, processorRatio }) => [
    name,
    perSecond.toFixed(0),
    times(ratio),
    processor.toFixed(1),
    times(processorRatio),
  ]),
})

const shareOf = (name, rows) => rows.find((row) => row.name === name).ratio

function demandsOf(alg, rows) {
  const ours = shareOf(OURS, rows)
  return [
    atLeast(`over HTTP, ${alg}, ${OURS} to no guard`, ours, 0.95),
    atLeast(`over HTTP, ${alg}, ${OURS} less ${FLOOR}`, differenceOf(ours, shareOf(FLOOR, rows)), -0.03),
    atLeast(`over HTTP, ${alg}, ${OURS} to the fastest peer`, quotientOf(ours, fastestPeer(rows).ratio), 1),
    atLeast(`over HTTP, ${alg}, ${OURS} to ${FAST_JWT_KEYED}`, quotientOf(ours, shareOf(FAST_JWT_KEYED, rows)), 1),
  ]
}

const demandOfNew = (rows) =>
  atLeast(
    `over HTTP, ${NEW_TOKENS.count.toLocaleString('en')} tokens in turn, ${OURS} to ${EXPRESS_JWT}`,
    quotientOf(shareOf(OURS, rows), shareOf(EXPRESS_JWT, rows)),
    1,
  )
