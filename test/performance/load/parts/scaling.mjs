import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { bearer, requestText } from '../../../support/plain-js/http-client.mjs'
import { inRounds } from '../../bench/measure/rounds.mjs'
import { withSpread } from '../../bench/report/report.mjs'
import { start } from '../../processes.mjs'
import { pairedRatio, summary } from '../../stats.mjs'
import { ownFork } from '../cleanup.mjs'
import { runOk, startOwnClient } from '../clients/generator.mjs'
import { cpuSince } from '../proc.mjs'
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
 * Compares one process and two processes with a guarded route and no store. On two cores the load generators slow only the
 * second process. The processor time per response has no such bias.
 */
export const scaling = {
  title: 'Guarded requests of two processes to those of one',
  async run({ rounds }) {
    const secret = randomBytes(32).toString('hex')
    const servers = await Promise.all([0, 1].map(() => startServer(secret)))
    const each = { one: [], two: [] }
    const got = { one: [], two: [] }
    const measure = async ({ name, size }) => {
      const asked = servers.slice(0, size)
      const cpu = cpuSince(() => asked.map(({ pid }) => pid))
      const found = await Promise.all(asked.map(({ load }) => runOk(load, SLICE)))
      const used = cpu()
      each[name].push(used / found.reduce((sum, { total }) => sum + total, 0))
      got[name].push(used / 1e6 / Math.max(...found.map(({ seconds }) => seconds)))
      return found.reduce((sum, { perSecond }) => sum + perSecond, 0)
    }
    // The first requests compile code, so they do not count.
    for (let i = 0; i < 4; i++) await measure(VARIANTS[1])
    for (const list of [each, got].flatMap(Object.values)) list.length = 0
    const values = await inRounds(rounds, VARIANTS, measure)
    const speedUp = pairedRatio(values.two, values.one)
    const byCpu = summary(each.two.map((micros, round) => (2 * each.one[round]) / micros))
    const cores = availableParallelism()
    const verdicts = [
      figure(
        `two processes to one, responses a second, ${cores} cores: at least ${DEMAND}`,
        withSpread(speedUp),
        summary(got.two).median < ENOUGH_CORES ? undefined : speedUp.median >= DEMAND,
      ),
      figure(`  by processor time per response: at least ${DEMAND}`, withSpread(byCpu), byCpu.median >= DEMAND),
      ...VARIANTS.flatMap(({ name }) => [
        figure(`${name}: responses a second`, withSpread(summary(values[name]))),
        figure('  processor time each', withSpread(summary(each[name]), ' µs')),
        figure('  cores that the servers got', withSpread(summary(got[name]))),
      ]),
    ]
    return { verdicts, figures: { speedUp, byCpu, perSecond: summary(values.one), each: summary(each.one) } }
  },
}

/** Starts a server with its own load generator, because a generator runs one load at a time. */
async function startServer(secret) {
  const { child, first } = await start(new URL('../servers/guard-server.mjs', import.meta.url), { args: [secret] })
  ownFork(child)
  const connections = await (await startOwnClient()).connect(first.port, CONNECTIONS)
  const load = await connections.load([requestText(bearer(first.token, '/statements'))], { depth: DEPTH })
  return { pid: child.pid, load }
}
