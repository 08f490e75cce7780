import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { inRounds } from '../../bench/measure/rounds.mjs'
import { withSpread } from '../../bench/report/report.mjs'
import { start } from '../../processes.mjs'
import { pairedRatio, summary } from '../../stats.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'
import { startPipeline } from '../clients/pipelined.mjs'
import { figure } from '../verdicts.mjs'

const DEMAND = 1.6
/** The least number of cores. With fewer, other work had the cores, and the throughput says nothing. */
const ENOUGH_CORES = 1.6
const CONNECTIONS = 16
const DEPTH = 32
const SLICE = 500
const VARIANTS = [
  { name: 'one', size: 1 },
  { name: 'two', size: 2 },
]

/**
 * Compares one process and two processes with a guarded route and no store. On two cores the load generator slows only the
 * second process. The processor time per response has no such bias.
 */
export const scaling = {
  title: 'Guarded requests of two processes to those of one',
  async run({ rounds }) {
    const secret = randomBytes(32).toString('hex')
    const servers = await Promise.all([0, 1].map(() => startServer(secret)))
    const send = await startPipeline()
    const { token } = servers[0].first
    const own = { one: [], two: [] }
    const each = { one: [], two: [] }
    const got = { one: [], two: [] }
    const measure = async ({ name, size }) => {
      const asked = servers.slice(0, size)
      const before = await cpuOf(asked)
      const ports = asked.map(({ first }) => first.port)
      const order = { path: '/statements', token, ports, connections: CONNECTIONS, depth: DEPTH, milliseconds: SLICE }
      const { answers, seconds, perSecond, cpu } = await send(order)
      own[name].push(cpu / seconds)
      const used = (await cpuOf(asked)) - before
      each[name].push((used / answers) * 1e6)
      got[name].push(used / seconds)
      return perSecond
    }
    // The first requests compile code, so they do not count.
    for (let i = 0; i < 4; i++) await measure(VARIANTS[1])
    for (const list of [own, each, got].flatMap(Object.values)) list.length = 0
    const values = await inRounds(rounds, VARIANTS, measure)
    const speedUp = pairedRatio(values.two, values.one)
    const byCpu = summary(each.two.map((micros, round) => (2 * each.one[round]) / micros))
    const cores = availableParallelism()
    return [
      figure(
        `two processes to one, responses a second, ${cores} cores: at least ${DEMAND}`,
        withSpread(speedUp),
        summary(got.two).median < ENOUGH_CORES ? undefined : speedUp.median >= DEMAND,
      ),
      figure(`  by processor time per response: at least ${DEMAND}`, withSpread(byCpu), byCpu.median >= DEMAND),
      ...VARIANTS.flatMap(({ name }) => [
        figure(`${name}: responses a second`, withSpread(summary(values[name]))),
        figure('  processor time each', withSpread(summary(each[name]), ' µs')),
        figure(
          '  cores that the servers got, and the generator took',
          `${withSpread(summary(got[name]))}, ${withSpread(summary(own[name]))}`,
        ),
      ]),
    ]
  },
}

async function startServer(secret) {
  const server = await start(new URL('../servers/guard-server.mjs', import.meta.url), { args: [secret] })
  ownChild(server.child)
  atEnd(() => server.child.disconnect())
  return server
}

/** Returns the processor time of servers in seconds. */
async function cpuOf(servers) {
  const used = await Promise.all(servers.map(({ ask }) => ask('cpu')))
  return used.reduce((sum, { user, system }) => sum + user + system, 0) / 1e6
}
