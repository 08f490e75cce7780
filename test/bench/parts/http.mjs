import { checkGuard } from '../check.mjs'
import { createEnvironment } from '../environment.mjs'
import { allGuards } from '../guards.mjs'
import { EXPRESS_JWT, FAST_JWT, FAST_JWT_KEYED, FLOOR, inTurn, OURS } from '../names.mjs'
import { inPairs, ofPairs } from '../pairs.mjs'
import { atLeast, times, withSpread } from '../report.mjs'
import { median, pairedRatio } from '../stats.mjs'
import { client, start } from '../support.mjs'

const ALGORITHMS = ['HS256', 'RS256', 'ES256']
const NO_GUARD = 'no guard'

/** How many server processes a guard has, and how many pairs of slices each of them in a round. */
const ONCE = { copies: 1, pairs: 2 }
/** Those that the demands are about, or that are close to them. */
const EFFORT = {
  [OURS]: { copies: 4, pairs: 8 },
  [FLOOR]: { copies: 2, pairs: 3 },
  [FAST_JWT]: { copies: 2, pairs: 3 },
  [FAST_JWT_KEYED]: { copies: 2, pairs: 3 },
}

/** The two questions of a variant: on which route, and with how many tokens in turn. */
const WITHOUT_AND_WITH = [
  { route: 'open', count: 1 },
  { route: 'guarded', count: 1 },
]
const CROWD = [
  {
    name: inTurn(OURS, 1000),
    guard: OURS,
    questions: [
      { route: 'guarded', count: 1 },
      { route: 'guarded', count: 1000 },
    ],
    copies: 2,
    pairs: 4,
  },
  ...[OURS, EXPRESS_JWT].map((guard) => ({
    name: inTurn(guard, 100_000),
    guard,
    questions: [
      { route: 'open', count: 100_000 },
      { route: 'guarded', count: 100_000 },
    ],
    copies: 2,
    pairs: 4,
  })),
]

/**
 * What is left of a route's throughput behind a guard. Each guard has server processes of its own, as an app has one guard: in one
 * process each would pay for what the others have left to be collected. The route without a guard is measured in the same process.
 * Beside throughput stands the processor time of the server's process for each answer, which other work on the machine disturbs less.
 */
export const http = {
  title: 'The guarded route over HTTP, answers per second and share of the route without a guard',
  async run({ rounds }) {
    const guards = allGuards(createEnvironment('HS256'), [])
    const warned = guards.filter((guard) => guard.warned).map(({ name }) => name)
    const measured = {}
    for (const alg of ALGORITHMS) {
      const asked = guards.map(({ name }) => ({
        name,
        guard: name,
        questions: WITHOUT_AND_WITH,
        ...(EFFORT[name] ?? ONCE),
      }))
      measured[alg] = rowsOf(await measure(rounds, alg, asked))
    }
    // By themselves: a load generator that holds so many tokens is a slower one.
    const crowds = rowsOf(await measure(rounds, 'HS256', CROWD))
    return {
      tables: [...ALGORITHMS.map((alg) => tableOf(alg, measured[alg])), crowdTable(crowds)],
      demands: [...ALGORITHMS.flatMap((alg) => demandsOf(alg, measured[alg], warned)), ...crowdDemands(crowds)],
      rows: Object.fromEntries(ALGORITHMS.map((alg) => [alg, measured[alg].map(shown)])),
      crowds: crowds.map(shown),
    }
  },
}

async function measure(rounds, alg, asked) {
  const variants = await Promise.all(
    asked.map(async (variant) => ({
      ...variant,
      servers: await Promise.all(Array.from({ length: variant.copies }, (_, copy) => serverOf(alg, variant, copy))),
    })),
  )
  return inPairs(rounds, variants)
}

/** A server that was seen to do as it should, and the questions that are to be put to it. */
async function serverOf(alg, { name, guard, questions }, copy) {
  const server = await start('guard-server.mjs', {
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
  const send = client(port, 1)
  const accepts = async (token) => (await send({ path, headers: { Authorization: `Bearer ${token}` } })).status === 200
  await checkGuard(name, accepts, samples)
}

/** A row for each variant: what it answers, its share of the base in throughput and in processor time, and how far ours is ahead of it. */
function rowsOf(measured) {
  const rows = Object.entries(measured).map(([name, rounds]) => ({
    name,
    answered: ofPairs(rounds, ({ held }) => held.perSecond),
    share: ofPairs(rounds, ({ base, held }) => held.perSecond / base.perSecond),
    processor: median(rounds.flat().map(({ held }) => held.processor)),
    processorRatio: ofPairs(rounds, ({ base, held }) => base.processor / held.processor).median,
  }))
  const ours = rows.find(({ name }) => name === OURS)
  return rows.map((row) => ({ ...row, ours: ours && pairedRatio(ours.share.byRound, row.share.byRound) }))
}

/** What of a row goes into the results’ file. */
const shown = ({ name, answered, share, ours, processor, processorRatio }) => {
  const { byRound: _, ...perSecond } = answered
  const { byRound: __, ...ratio } = share
  return { name, ...perSecond, ratio, ...(ours && { ours }), processor, processorRatio }
}

const tableOf = (alg, rows) => ({
  heads: [alg, 'per second', `to ${NO_GUARD}`, 'ours to it', 'CPU µs each', 'by CPU'],
  rows: rows.map((row) => [
    row.name,
    withSpread(row.answered),
    times(row.share),
    times(row.ours),
    row.processor.toFixed(1),
    `× ${row.processorRatio.toFixed(2)}`,
  ]),
})

const crowdTable = (rows) => ({
  heads: ['HS256, many tokens', 'per second', 'to one token, or to no guard', 'CPU µs each'],
  rows: rows.map((row) => [row.name, withSpread(row.answered), times(row.share), row.processor.toFixed(1)]),
})

function demandsOf(alg, rows, warned) {
  const named = (name) => rows.find((row) => row.name === name)
  const peers = rows.filter(({ name }) => name !== OURS && name !== FLOOR && !warned.includes(name))
  const next = peers.map(({ ours }) => ours).sort((a, b) => a.median - b.median)[0]
  return [
    atLeast(`over HTTP, ${alg}, ${OURS} to ${NO_GUARD}`, named(OURS).share, 0.95),
    atLeast(`over HTTP, ${alg}, ${OURS} to the fastest peer`, next, 1),
    { demand: `(over HTTP, ${alg}, ${OURS} to ${FLOOR})`, measured: withSpread(named(FLOOR).ours) },
    ...warned.map((name) => ({
      demand: `(over HTTP, ${alg}, ${OURS} to ${name}, which warns of itself)`,
      measured: withSpread(named(name).ours),
    })),
  ]
}

function crowdDemands([thousand, ours, theirs]) {
  return [
    atLeast('over HTTP, 1,000 tokens in turn to one token', thousand.share, 0.9),
    atLeast(
      `over HTTP, 100,000 tokens in turn, ${OURS} to ${EXPRESS_JWT}`,
      pairedRatio(ours.answered.byRound, theirs.answered.byRound),
      1,
    ),
  ]
}
