import { createPasswords } from 'express-token-endpoint'
import { withSpread } from '../../bench/report/report.mjs'
import { summary } from '../../stats.mjs'
import { client } from '../clients/client.mjs'
import { createTally, crowd, inTurn, times } from '../clients/crowd.mjs'
import { startPipeline } from '../clients/pipelined.mjs'
import { login, statementsPath } from '../clients/requests.mjs'
import { tokenFor } from '../clients/tokens.mjs'
import { cpuSeconds, memoryOf } from '../proc.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { figure } from '../verdicts.mjs'

const HASHING_SECONDS = 2
const SLICE = 2000
const LOGINS = 200
/** Number of connections, each with one request at a time. */
const CONNECTIONS = 16

/** Measures the figures that docs/explanation/sizing.md calculates with. */
export const sizing = {
  title: 'Figures for sizing',
  async run({ scale, rounds }) {
    const hashes = await hashesASecond(Math.min(rounds, 5))
    const fleet = await startFleet({ size: 1, people: 20 })
    const [api] = fleet.apis
    const idle = memoryOf(api.pid).now
    const { send } = client(fleet.balancer.port, { address: '127.0.6.1' })
    const token = await tokenFor(fleet.balancer.port, fleet.people[0])
    const request = { path: statementsPath('north'), token }
    const guarded = await guardedRequests(fleet, request, Math.max(3, Math.round(rounds * Math.min(1, scale))))
    const afterGuarded = memoryOf(api.pid).now
    await signIn(fleet, send, Math.max(20, Math.round(LOGINS * scale)))
    const { now: afterLogins, most } = memoryOf(api.pid)
    const megabytes = (value) => `${Math.round(value)} MB`
    return [
      figure('hashes a second and core (argon2id, default)', withSpread(summary(hashes.perCore))),
      figure('  one', withSpread(summary(hashes.milliseconds), ' ms')),
      figure('example, one process: guarded requests a second', withSpread(summary(guarded.perSecond))),
      figure('  processor time each, API', withSpread(summary(guarded.api), ' µs')),
      figure('  processor time each, PostgreSQL', withSpread(summary(guarded.postgres), ' µs')),
      figure('  processor time each, Redis', withSpread(summary(guarded.redis), ' µs')),
      figure('memory of one process: idle', megabytes(idle)),
      figure('  after guarded requests', megabytes(afterGuarded)),
      figure('  after logins; the most at any time', `${megabytes(afterLogins)}; ${megabytes(most)}`),
      ...arithmetic(hashes, guarded),
    ]
  },
}

/** Measures single hashes by wall clock and by processor time, which a busy machine changes less. */
async function hashesASecond(rounds) {
  const passwords = createPasswords({ concurrency: 1 })
  const hash = await passwords.hash('a password')
  const perCore = []
  const milliseconds = []
  for (let round = 0; round < rounds; round++) {
    const used = process.cpuUsage()
    const started = performance.now()
    let count = 0
    while (performance.now() - started < HASHING_SECONDS * 1000) {
      await passwords.verify('a guess', hash)
      count++
    }
    const { user, system } = process.cpuUsage(used)
    perCore.push(count / ((user + system) / 1e6))
    milliseconds.push((performance.now() - started) / count)
  }
  return { perCore, milliseconds }
}

async function guardedRequests({ apis, postgres, redis }, request, rounds) {
  const send = await startPipeline()
  const [{ pid, port }] = apis
  const groups = { api: () => [pid], postgres: () => postgres.pids(), redis: () => [redis.process().pid] }
  const found = { perSecond: [], api: [], postgres: [], redis: [] }
  const order = { ...request, ports: [port], connections: CONNECTIONS, depth: 1, milliseconds: SLICE }
  await send(order)
  for (let round = 0; round < rounds; round++) {
    const before = Object.entries(groups).map(([name, pids]) => [name, pids(), cpuSeconds(pids())])
    const { answers, perSecond } = await send(order)
    found.perSecond.push(perSecond)
    for (const [name, pids, used] of before) found[name].push(((cpuSeconds(pids) - used) / answers) * 1e6)
  }
  return found
}

async function signIn({ people }, send, count) {
  const tally = createTally()
  const next = inTurn(people)
  await crowd({ size: 16, send, next: times(count, () => login(next())), tally })
  if (tally.wrong() > 0) throw new Error(`logins: ${tally.examples().join('; ')}`)
}

/** Calculates the cores for a million accounts and 10,000 guarded requests a second at 60 % load. */
function arithmetic(hashes, guarded) {
  const WANTED = 10_000
  const BUSY = 0.6
  const LOGINS_A_SECOND = 100_000 / 3600
  const cores = (micros) => (WANTED * summary(micros).median) / 1e6 / BUSY
  const show = (value) => value.toFixed(1)
  return [
    figure(
      `cores at ${BUSY * 100} % for ${WANTED.toLocaleString('en')} guarded requests a second: API`,
      show(cores(guarded.api)),
    ),
    figure('  PostgreSQL', show(cores(guarded.postgres))),
    figure('  Redis', show(cores(guarded.redis))),
    figure(
      `  ${Math.round(LOGINS_A_SECOND)} logins a second (every tenth of a million accounts in one hour)`,
      show(LOGINS_A_SECOND / summary(hashes.perCore).median / BUSY),
    ),
  ]
}
