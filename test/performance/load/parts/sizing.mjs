import { bearer, login, requestText } from '../../../support/plain-js/http-client.mjs'
import { inRounds } from '../../bench/measure/rounds.mjs'
import { withSpread } from '../../bench/report/report.mjs'
import { start } from '../../processes.mjs'
import { summary } from '../../stats.mjs'
import { ownFork } from '../cleanup.mjs'
import { runOk, startOwnClient } from '../clients/generator.mjs'
import { statements } from '../clients/requests.mjs'
import { tokensFor } from '../clients/tokens.mjs'
import { FEATURES } from '../features.mjs'
import { cpuSince, memoryOf } from '../proc.mjs'
import { startFleet } from '../servers/fleet-of.mjs'
import { check, figure } from '../verdicts.mjs'

const SLICE = 700
/** Number of connections, each with one request at a time. */
const CONNECTIONS = 16
const PEOPLE = 20

/** Measures the figures that docs/explanation/sizing.md calculates with. */
export const sizing = {
  title: 'Processor time of each feature, and memory',
  async run({ scale, rounds }) {
    const slice = Math.max(50, Math.round(SLICE * Math.min(1, scale)))
    const fleet = await startFleet({ size: 1, people: PEOPLE })
    const [api] = fleet.apis
    const idle = memoryOf(api.pid).now
    const tokens = await tokensFor(fleet.ports.clearingHouse, fleet.people)
    const variants = [...(await featureVariants(fleet, tokens)), await exampleVariant(fleet, tokens)]
    for (const { load } of variants) await runOk(load, slice)
    const values = await inRounds(rounds, variants, (variant) => measure(fleet, variant, slice))
    const used = memoryOf(api.pid).now
    await runOk(await exampleLogins(fleet), 3 * slice)
    const memory = { idle, used, most: memoryOf(api.pid).most }

    const costs = Object.fromEntries(FEATURES.map((feature) => [feature.name, costOf(feature, values)]))
    const example = ofEach(values.example, Object.keys(values.example[0]))
    const reached = FEATURES.every(({ name, uses }) =>
      uses.every((part) => part === 'api' || costs[name][part].low > 1),
    )
    return {
      figures: { costs, example, memory },
      verdicts: [
        check('every feature reached its stores', reached ? 'yes' : 'no', reached),
        ...FEATURES.map(({ name, base, uses }) =>
          figure(base ? `${name}: more than ${base}` : name, uses.map((part) => shown(part, costs[name])).join(', ')),
        ),
        figure('example behind nginx, one process: guarded requests a second', withSpread(example.perSecond)),
        ...['api', 'nginx', 'postgres', 'redis'].map((part) => figure('  each', shown(part, example))),
        figure(
          'memory of one process: idle, after guarded requests, the most while it hashes',
          Object.values(memory)
            .map((value) => `${Math.round(value)} MB`)
            .join(', '),
        ),
      ],
    }
  },
}

const shown = (part, costs) => `${part} ${withSpread(costs[part], ' µs')}`

/** Starts a server with a route for each feature, and prepares the load of each route. */
async function featureVariants({ env, people }, tokens) {
  const { child, first } = await start(new URL('../servers/feature-server.mjs', import.meta.url), {
    env: { PATH: process.env.PATH, ...env },
  })
  ownFork(child)
  const connections = await (await startOwnClient()).connect(first.port, CONNECTIONS)
  const requests = {
    guard: (name) => [...tokens.values()].map((token) => bearer(token, `/${name}`)),
    login: (name) => people.map(({ email, password }) => login(email, password, undefined, `/${name}`)),
  }
  const variants = []
  for (const { name, base = name } of FEATURES) {
    const load = await connections.load(requests[base](name).map(requestText))
    variants.push({ name, load, pid: child.pid })
  }
  return variants
}

/** Prepares the load of the example's own route, which reaches the API through nginx. */
async function exampleVariant({ apis, people, ports }, tokens) {
  const readers = people.filter(({ scopes }) => scopes.length > 0)
  const texts = readers.map((person) => requestText(statements(person, 'north', tokens.get(person)).request))
  const connections = await (await startOwnClient()).connect(ports.clearingHouse, CONNECTIONS)
  return { name: 'example', load: await connections.load(texts), pid: apis[0].pid }
}

async function exampleLogins({ people, ports }) {
  const connections = await (await startOwnClient()).connect(ports.clearingHouse, CONNECTIONS)
  return connections.load(people.map(({ email, password }) => requestText(login(email, password))))
}

/** Returns the responses per second, and the microseconds of each program for one response. */
async function measure({ nginx, postgres, redis }, { load, pid }, slice) {
  const programs = { api: () => [pid], nginx: nginx.pids, postgres: postgres.pids, redis: () => [redis.process().pid] }
  const started = Object.entries(programs).map(([part, pids]) => [part, cpuSince(pids)])
  const { total, perSecond } = await runOk(load, slice)
  return { perSecond, ...Object.fromEntries(started.map(([part, used]) => [part, used() / total])) }
}

/** Returns the cost of a feature: its own time, minus the time of its base in the same round. */
function costOf({ name, base, uses }, values) {
  const rows = values[name].map((row, round) =>
    Object.fromEntries(uses.map((part) => [part, row[part] - (base ? values[base][round][part] : 0)])),
  )
  return ofEach(rows, uses)
}

const ofEach = (rows, names) => Object.fromEntries(names.map((name) => [name, summary(rows.map((row) => row[name]))]))
