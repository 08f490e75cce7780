import { checkGuard } from '../check.mjs'
import { createEnvironment } from '../environment.mjs'
import { allGuards, BARE, EXPRESS_JWT, FAST_JWT_KEYED, FLOOR, OURS } from '../guards.mjs'
import { startLoad } from '../load.mjs'
import { atLeast, rowsOf, times, withSpread } from '../report.mjs'
import { inRounds } from '../rounds.mjs'
import { median, pairedRatio } from '../stats.mjs'
import { client, start } from '../support.mjs'

const ALGORITHMS = ['HS256', 'RS256', 'ES256']
/** Until V8 has compiled what it is going to: the first tenths of a second are not a guard’s usual ones. */
const WARM_UP = 800
const SLICE = 160
/** How many processes, one after the other in each round, those have that are measured often; they count with their mean. */
const COPIES = 3
const OWN = [BARE, FLOOR, OURS]
/** What the demands are about: two processes of the same program differ by as much as the guard takes. */
const OFTEN = [BARE, FLOOR, OURS, FAST_JWT_KEYED]

const inTurn = (name, count) => `${name}; ${count.toLocaleString('en')} tokens in turn`
/** What is asked with many tokens, and beside it with one. */
const CROWD = [
  { name: OURS, guard: OURS, count: 1, copies: COPIES },
  { name: inTurn(OURS, 1000), guard: OURS, count: 1000, copies: COPIES },
  ...[OURS, EXPRESS_JWT].map((guard) => ({ name: inTurn(guard, 100_000), guard, count: 100_000, copies: 1 })),
]
const bearer = (token) => ({ Authorization: `Bearer ${token}` })

/**
 * What is left of a route's throughput behind a guard. Each guard has a server process of its own, as an app has one guard: in
 * one process each would pay for what the others have left to be collected. Beside it stands the processor time of the server's
 * process for each answer, which other work on the machine disturbs less.
 */
export const http = {
  title: 'The guarded route over HTTP, answers per second and share of the route without a guard',
  async run({ rounds }) {
    const guards = allGuards(createEnvironment('HS256'), [])
    const warned = new Set(guards.filter((guard) => guard.warned).map(({ name }) => name))
    const measured = {}
    for (const alg of ALGORITHMS) {
      const asked = guards.map(({ name }) => ({
        name,
        guard: name,
        count: 1,
        copies: OFTEN.includes(name) ? COPIES : 1,
      }))
      measured[alg] = await measure(rounds, alg, asked)
    }
    // By themselves: a load generator that holds so many tokens is a slower one.
    const crowds = await measure(rounds, 'HS256', CROWD)
    return {
      tables: [...ALGORITHMS.map((alg) => tableOf(alg, rowsWith(measured[alg]))), crowdTable(rowsWith(crowds))],
      demands: [
        ...ALGORITHMS.flatMap((alg) => demandsOf(alg, measured[alg].throughput, warned)),
        ...crowdDemands(crowds.throughput),
      ],
      rows: Object.fromEntries(ALGORITHMS.map((alg) => [alg, rowsWith(measured[alg])])),
      crowds: rowsWith(crowds),
    }
  },
}

async function measure(rounds, alg, asked) {
  const variants = await Promise.all(asked.map((variant) => serverOf(alg, variant)))
  const copies = variants.flatMap((variant) => variant.copies)
  const load = await startLoad(...copies.map(({ port }) => port))
  for (const copy of copies) {
    await load.remember(copy.list, copy.tokens)
    await load.run(copy, WARM_UP)
  }

  const processor = Object.fromEntries(variants.map(({ name }) => [name, []]))
  const throughput = await inRounds(rounds, variants, async ({ name, copies }) => {
    const copy = copies[processor[name].length % copies.length]
    const before = await copy.server.ask({})
    const { perSecond, total } = await load.run(copy, SLICE)
    const after = await copy.server.ask({})
    processor[name].push((after.user + after.system - before.user - before.system) / total)
    return perSecond
  })
  load.stop()
  for (const { server } of copies) server.child.disconnect()
  return { throughput, processor }
}

/** A variant with the servers that it is measured on, each of which does as it should. */
async function serverOf(alg, { name, guard, count, copies: length }) {
  const copies = await Promise.all(
    Array.from({ length }, async (_, copy) => {
      const server = await start('guard-server.mjs', {
        args: [alg, guard],
        execArgv: ['--disable-warning=FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK'],
      })
      const { port, path } = server.first
      const { tokens, ...bad } = await server.ask({ count })
      if (guard !== BARE) await check(`${name}, ${alg}`, port, path, { good: tokens[0], ...bad })
      const before = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: Bearer `
      return { server, port, before, list: `${name} ${copy}`, tokens, after: '\r\n\r\n' }
    }),
  )
  return { name, slices: count > 1 ? COPIES : length, copies }
}

async function check(name, port, path, samples) {
  const send = client(port, 1)
  const accepts = async (token) => (await send({ path, headers: bearer(token) })).status === 200
  await checkGuard(name, accepts, samples)
}

const rowsWith = ({ throughput, processor }) =>
  rowsOf(throughput).map((row) => ({
    ...row,
    ours: pairedRatio(throughput[OURS], throughput[row.name]),
    processor: median(processor[row.name]),
    processorRatio: median(Object.values(processor)[0]) / median(processor[row.name]),
  }))

const tableOf = (alg, rows) => ({
  heads: [alg, 'per second', 'to no guard', 'ours to it', 'CPU µs each', 'by CPU'],
  rows: rows.map((row) => [
    row.name,
    withSpread(row),
    times(row.ratio),
    times(row.ours),
    row.processor.toFixed(1),
    `× ${row.processorRatio.toFixed(2)}`,
  ]),
})

const crowdTable = (rows) => ({
  heads: ['HS256, many tokens', 'per second', 'to one token', 'CPU µs each'],
  rows: rows.map((row) => [row.name, withSpread(row), times(row.ratio), row.processor.toFixed(1)]),
})

function demandsOf(alg, values, warned) {
  const peers = Object.keys(values).filter((name) => !OWN.includes(name))
  const ahead = (names) =>
    names.map((name) => pairedRatio(values[OURS], values[name])).sort((a, b) => a.median - b.median)[0]
  return [
    atLeast(`over HTTP, ${alg}, ${OURS} to ${BARE}`, pairedRatio(values[OURS], values[BARE]), 0.95),
    atLeast(`over HTTP, ${alg}, ${OURS} to the fastest peer`, ahead(peers.filter((name) => !warned.has(name))), 1),
    {
      demand: `(over HTTP, ${alg}, ${OURS} to ${FLOOR})`,
      measured: withSpread(pairedRatio(values[OURS], values[FLOOR])),
    },
    ...[...warned].map((name) => ({
      demand: `(over HTTP, ${alg}, ${OURS} to ${name}, which warns of itself)`,
      measured: withSpread(pairedRatio(values[OURS], values[name])),
    })),
  ]
}

function crowdDemands(values) {
  const ratio = (name, base) => pairedRatio(values[name], values[base])
  return [
    atLeast('over HTTP, 1,000 tokens in turn to one token', ratio(inTurn(OURS, 1000), OURS), 0.9),
    atLeast(
      `over HTTP, 100,000 tokens in turn, ${OURS} to ${EXPRESS_JWT}`,
      ratio(inTurn(OURS, 100_000), inTurn(EXPRESS_JWT, 100_000)),
      1,
    ),
  ]
}
