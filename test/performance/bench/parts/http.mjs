import { bearer, createClient } from '../../../support/plain-js/http-client.mjs'
import { start } from '../../processes.mjs'
import { createEnvironment } from '../environment.mjs'
import { allGuards } from '../guards.mjs'
import { checkGuard } from '../measure/check.mjs'
import { inPairs, medianOf, ofPairs, quotientOf } from '../measure/pairs.mjs'
import { EXPRESS_JWT, FAST_JWT, FAST_JWT_KEYED, FLOOR, inTurn, isAtBest, OURS } from '../names.mjs'
import { atLeast, times, withSpread } from '../report/report.mjs'

const ALGORITHMS = ['HS256', 'RS256', 'ES256']
/** The algorithm for which peers are also measured as documented. */
const ALL_BY = 'HS256'
const NO_GUARD = 'no guard'
const TOGETHER = 'all three together'

/** The number of server processes of a guard, each used once in a round. Guards with similar results have more. */
const COPIES = { [OURS]: 2, [FAST_JWT]: 2, [FAST_JWT_KEYED]: 2 }
/** The number of pairs for each server and round: for all guards, and for measurements of only this package. */
const PAIRS = 4
const CLOSER_PAIRS = 10

/** The two request kinds of a variant: the route, and the number of tokens in turn. */
const OPEN = { route: 'open', count: 1 }
const GUARDED = { route: 'guarded', count: 1 }

const CLOSER = [
  // The open route compared with itself. A difference from 1 is an error of the measurement.
  { name: NO_GUARD, alg: 'HS256', guard: OURS, questions: [OPEN, OPEN], copies: 1 },
  ...ALGORITHMS.map((alg) => ({ name: alg, alg, guard: OURS, questions: [OPEN, GUARDED], copies: 2 })),
]

const CROWD = [
  { name: inTurn(OURS, 1000), alg: 'HS256', guard: OURS, questions: [GUARDED, { ...GUARDED, count: 1000 }], copies: 2 },
  ...[OURS, EXPRESS_JWT].map((guard) => ({
    name: inTurn(guard, 100_000),
    alg: 'HS256',
    guard,
    questions: [
      { ...OPEN, count: 100_000 },
      { ...GUARDED, count: 100_000 },
    ],
    copies: 1,
    // The requests need more tokens than the cache holds.
    warmUp: 1200,
  })),
]

/**
 * Measures the throughput of a route with a guard as a share of the route without a guard, in the same process. Each guard has its
 * own server processes, because guards in one process would pay for each other's garbage. The table also shows the processor time of
 * the server for each response. Other work on the machine disturbs that time less.
 */
export const http = {
  title:
    'The guarded route over HTTP, answers per second and share of the route without a guard (where medians lie at 95 %)',
  async run({ rounds }) {
    const guards = allGuards(createEnvironment('HS256'), [])
    const warned = guards.filter((guard) => guard.warned).map(({ name }) => name)
    const pairs = await measure(rounds, CLOSER_PAIRS, CLOSER)
    const closer = rowsOf({ ...pairs, [TOGETHER]: ALGORITHMS.flatMap((alg) => pairs[alg]) })
    const measured = {}
    for (const alg of ALGORITHMS) {
      const asked = guards
        .filter(({ name }) => alg === ALL_BY || isAtBest(name))
        .map(({ name }) => ({ name, alg, guard: name, questions: [OPEN, GUARDED], copies: COPIES[name] ?? 1 }))
      measured[alg] = rowsOf(await measure(rounds, PAIRS, asked))
    }
    // These run separately, because a load generator with 100,000 tokens is slower.
    const crowds = rowsOf(await measure(rounds, PAIRS, CROWD))
    return {
      tables: [
        tableOf(`${OURS}, a closer look`, closer, [PER_SECOND, SHARE, PROCESSOR, BY_PROCESSOR]),
        ...ALGORITHMS.map((alg) =>
          tableOf(alg, measured[alg], [PER_SECOND, SHARE, OURS_TO_IT, PROCESSOR, BY_PROCESSOR]),
        ),
        tableOf('HS256, many tokens', crowds, [PER_SECOND, CROWD_SHARE, PROCESSOR]),
      ],
      demands: [
        ...closerDemands(closer),
        ...ALGORITHMS.flatMap((alg) => demandsOf(alg, measured[alg], warned)),
        ...crowdDemands(crowds),
      ],
      closer,
      rows: measured,
      crowds,
    }
  },
}

async function measure(rounds, pairs, asked) {
  const variants = await Promise.all(
    asked.map(async (variant) => ({
      ...variant,
      servers: await Promise.all(Array.from({ length: variant.copies }, (_, copy) => serverOf(variant, copy))),
    })),
  )
  return inPairs(rounds, pairs, variants)
}

/** Starts a server, checks its responses, and returns it with its request kinds. */
async function serverOf({ name, alg, guard, questions }, copy) {
  const server = await start(new URL('../servers/guard-server.mjs', import.meta.url), {
    args: [alg, guard],
    execArgv: ['--disable-warning=FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK'],
  })
  const { port, ...routes } = server.first
  const listOf = (count) => `${name}, ${copy}, ${count}`
  const lists = new Map()
  for (const { count } of questions) {
    const { tokens, ...bad } = await server.ask({ count })
    await check(`${name}, ${alg}`, port, routes.guarded, { good: tokens[0], ...bad })
    lists.set(listOf(count), tokens)
  }
  const asked = questions.map(({ route, count }) => ({
    port,
    before: `GET ${routes[route]} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: Bearer `,
    list: listOf(count),
    after: '\r\n\r\n',
  }))
  return { server, port, lists, questions: asked }
}

async function check(name, port, path, samples) {
  const { send } = createClient(port, { connections: 1 })
  const accepts = async (token) => (await send(bearer(token, path))).status === 200
  await checkGuard(name, accepts, samples)
}

const shareOf = ({ base, held }) => held.perSecond / base.perSecond

/** Returns a row for each variant: its responses, its share of the base in throughput and processor time, and this package's lead. */
function rowsOf(measured) {
  const rows = Object.entries(measured).map(([name, pairs]) => ({
    name,
    ...ofPairs(pairs, ({ held }) => held.perSecond),
    ratio: ofPairs(pairs, shareOf),
    processor: medianOf(pairs, ({ held }) => held.processor),
    processorRatio: medianOf(pairs, ({ base, held }) => base.processor / held.processor),
  }))
  const ours = rows.find(({ name }) => name === OURS)
  return ours ? rows.map((row) => ({ ...row, ours: quotientOf(ours.ratio, row.ratio) })) : rows
}

/** Creates a column from its head and the value of a row. */
const PER_SECOND = ['per second', withSpread]
const SHARE = [`to ${NO_GUARD}`, ({ ratio }) => times(ratio)]
const CROWD_SHARE = ['to one token, or to no guard', ({ ratio }) => times(ratio)]
const OURS_TO_IT = ['ours to it', ({ ours }) => times(ours)]
const PROCESSOR = ['CPU µs each', ({ processor }) => processor.toFixed(1)]
const BY_PROCESSOR = ['by CPU', ({ processorRatio }) => `× ${processorRatio.toFixed(2)}`]

const tableOf = (heading, rows, columns) => ({
  heads: [heading, ...columns.map(([head]) => head)],
  rows: rows.map((row) => [row.name, ...columns.map(([, show]) => show(row))]),
})

function closerDemands(rows) {
  const shareBy = (name) => rows.find((row) => row.name === name).ratio
  return [
    ...ALGORITHMS.map((alg) => atLeast(`over HTTP, ${alg}, ${OURS} to ${NO_GUARD}`, shareBy(alg), 0.95)),
    { demand: `(over HTTP, ${TOGETHER}, ${OURS} to ${NO_GUARD})`, measured: withSpread(shareBy(TOGETHER)) },
    { demand: `(over HTTP, ${NO_GUARD} to itself)`, measured: withSpread(shareBy(NO_GUARD)) },
  ]
}

function demandsOf(alg, rows, warned) {
  const named = (name) => rows.find((row) => row.name === name)
  const peers = rows.filter(({ name }) => ![OURS, FLOOR, ...warned].includes(name))
  const next = peers.map(({ ours }) => ours).sort((a, b) => a.median - b.median)[0]
  return [
    atLeast(`over HTTP, ${alg}, ${OURS} to the fastest peer that does not warn of itself`, next, 1),
    { demand: `(over HTTP, ${alg}, ${OURS} to ${FLOOR})`, measured: withSpread(named(FLOOR).ours) },
    ...warned.map((name) => ({
      demand: `(over HTTP, ${alg}, ${OURS} to ${name}, which warns of itself)`,
      measured: withSpread(named(name).ours),
    })),
  ]
}

function crowdDemands([thousand, ours, theirs]) {
  return [
    atLeast('over HTTP, 1,000 tokens in turn to one token', thousand.ratio, 0.9),
    atLeast(
      `over HTTP, 100,000 tokens in turn, share of ${OURS} to that of ${EXPRESS_JWT}`,
      quotientOf(ours.ratio, theirs.ratio),
      1,
    ),
  ]
}
