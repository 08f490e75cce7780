import { checkGuard } from '../check.mjs'
import { EXPRESS_JWT, FLOOR, OURS } from '../guards.mjs'
import { startLoad } from '../load.mjs'
import { atLeast, rowsOf, times, withSpread } from '../report.mjs'
import { inRounds } from '../rounds.mjs'
import { median, pairedRatio } from '../stats.mjs'
import { client, start } from '../support.mjs'

const BARE = 'no guard'
const ALGORITHMS = ['HS256', 'RS256', 'ES256']
const CROWDS = [1000, 100_000]
const WARM_UP = 400
const SLICE = 200
/** What the demands are about is measured more often than the rest. */
const SLICES = 3
const OFTEN = [BARE, FLOOR, OURS]

const inTurn = (count) => `${count.toLocaleString('en')} tokens in turn`
const bearer = (token) => ({ Authorization: `Bearer ${token}` })

/**
 * What is left of a route's throughput behind a guard. Server and client are processes of their own. Beside it stands the
 * processor time of the server's process for each answer, which other work on the machine disturbs less.
 */
export const http = {
  title: 'The guarded route over HTTP, answers per second and share of the route without a guard',
  async run({ rounds }) {
    const server = await start('guard-server.mjs', {
      execArgv: ['--disable-warning=FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK'],
    })
    const { port, variants } = server.first
    const load = await startLoad(port)
    const measured = {}
    for (const alg of ALGORITHMS) {
      const samples = await server.ask({ alg, count: 1 })
      const group = variants.filter((variant) => variant.alg === alg)
      await check(port, group, samples)
      await load.remember(alg, samples.tokens)
      const routes = group.map((variant) => ({ ...variant, list: alg }))
      if (alg === 'HS256') routes.push(...(await crowds(group, server, load)))
      measured[alg] = await measure(rounds, routes, server, load)
    }
    load.stop()
    server.child.disconnect()
    return {
      tables: ALGORITHMS.map((alg) => tableOf(alg, rowsWith(measured[alg]))),
      demands: [
        ...ALGORITHMS.flatMap((alg) => demandsOf(alg, measured[alg].throughput, warnedOf(variants))),
        ...crowdDemands(measured.HS256.throughput),
      ],
      rows: Object.fromEntries(ALGORITHMS.map((alg) => [alg, rowsWith(measured[alg])])),
    }
  },
}

async function check(port, group, { tokens, forged, expired }) {
  const send = client(port, 1)
  for (const { alg, name, path } of group) {
    const accepts = async (token) => (await send({ path, headers: bearer(token) })).status === 200
    if (name === BARE) continue
    await checkGuard(`${name}, ${alg}`, accepts, { good: tokens[0], forged, expired })
  }
}

/** The same routes, asked with many tokens. */
async function crowds(group, server, load) {
  const routes = []
  for (const count of CROWDS) {
    const list = inTurn(count)
    const { tokens } = await server.ask({ alg: 'HS256', count })
    await load.remember(list, tokens)
    const asked = group.filter(({ name }) => name === OURS || name === EXPRESS_JWT)
    routes.push(...asked.map((route) => ({ ...route, name: `${route.name}; ${list}`, list })))
  }
  return routes
}

async function measure(rounds, routes, server, load) {
  const variants = routes.map(({ name, path, list }) => ({
    name,
    before: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: Bearer `,
    list,
    after: '\r\n\r\n',
    slices: OFTEN.includes(name) ? SLICES : 1,
  }))
  for (const variant of variants) await load.run(variant, WARM_UP)

  const processor = Object.fromEntries(variants.map(({ name }) => [name, []]))
  const throughput = await inRounds(rounds, variants, async (variant) => {
    const before = await server.ask({})
    const { perSecond, total } = await load.run(variant, SLICE)
    const after = await server.ask({})
    processor[variant.name].push((after.user + after.system - before.user - before.system) / total)
    return perSecond
  })
  return { throughput, processor }
}

const rowsWith = ({ throughput, processor }) =>
  rowsOf(throughput).map((row) => ({
    ...row,
    processor: median(processor[row.name]),
    processorRatio: median(processor[BARE]) / median(processor[row.name]),
  }))

const warnedOf = (variants) => new Set(variants.filter(({ warned }) => warned).map(({ name }) => name))

const tableOf = (alg, rows) => ({
  heads: [alg, 'per second', 'to no guard', 'CPU µs each', 'by CPU'],
  rows: rows.map((row) => [
    row.name,
    withSpread(row),
    times(row.ratio),
    row.processor.toFixed(1),
    `× ${row.processorRatio.toFixed(2)}`,
  ]),
})

function demandsOf(alg, values, warned) {
  const peers = Object.keys(values).filter((name) => !OFTEN.includes(name) && !name.includes('in turn'))
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
  const [thousand, many] = CROWDS.map(inTurn)
  return [
    atLeast(`over HTTP, ${thousand} to one token`, pairedRatio(values[`${OURS}; ${thousand}`], values[OURS]), 0.9),
    atLeast(
      `over HTTP, ${many}, ${OURS} to ${EXPRESS_JWT}`,
      pairedRatio(values[`${OURS}; ${many}`], values[`${EXPRESS_JWT}; ${many}`]),
      1,
    ),
  ]
}
