import { bearer, createClient, login } from '../../../support/plain-js/http-client.mjs'
import { fixed, seconds, start } from '../../processes.mjs'
import { median, quantile } from '../../stats.mjs'

const FLOODS = [
  ['many', 1000],
  ['many', 0],
  ['one', 0],
]
const EXPECTED = ['200', '403', '429', '503']
/** The number of clients that request the guarded route continuously, when it is in use. */
const USERS = 16
const MOST_TIMES = 3

/** Measures the effect of a login flood on the process and its guarded routes. Server, attacker and client are three processes. */
export const flood = {
  title: 'The login flood: 256 connections that guess without end',
  async run({ seconds: length }) {
    const server = await start(new URL('../servers/login-server.mjs', import.meta.url), { execArgv: ['--expose-gc'] })
    const { send } = createClient(server.first, { connections: 4 })
    const ownerSignsIn = () => send(login('known1@example.com', 'correct horse', '198.51.100.7'))
    const { authenticationToken } = JSON.parse((await ownerSignsIn()).body)
    const guarded = bearer(authenticationToken, '/guarded')
    const { send: users } = createClient(server.first, { connections: USERS })
    const alone = (forSeconds) => timesOf(() => send(guarded), forSeconds, EVERY)
    const inUse = (forSeconds) => timesOf(() => users(guarded), forSeconds, 0, USERS)

    await inUse(2) // warm
    await alone(1)
    await server.ask('reset')
    const rows = []
    for (const [addresses, pause] of FLOODS) {
      const before = { inUse: await inUse(length), alone: await alone(length) }
      const idle = await server.ask('stats')
      const flooder = await start(new URL('../servers/flooder.mjs', import.meta.url), {
        args: [`${server.first}`, addresses, `${pause}`],
      })
      await seconds(0.5)
      await server.ask('reset')
      const during = { alone: await alone(length), inUse: await inUse(length) }
      const flooded = await server.ask('stats')
      const owner = await ownerSignsIn()
      const counts = await flooder.ask('stop')
      flooder.child.disconnect()
      const stopped = performance.now()
      const back = await ownerSignsIn()
      const recovered = performance.now() - stopped
      await server.ask('reset')
      const after = await alone(length / 2)
      const calm = await server.ask('stats')
      rows.push({
        addresses,
        pause,
        perSecond: Object.values(counts).reduce((a, b) => a + b, 0) / (2 * length + 0.5),
        counts,
        idle,
        flooded,
        calm,
        guarded: { before, during, after },
        owner: { during: owner.status, after: back.status, recovered },
      })
    }
    server.child.disconnect()
    return { tables: [tableOf(rows)], demands: rows.flatMap(demandsOf), rows }
  },
}

/** Seconds between two requests of a single client. */
const EVERY = 0.005

/** Measures the times of a guarded route for several clients. Each sends again after its response, or after a pause. */
async function timesOf(ask, forSeconds, pause, askers = 1) {
  const times = []
  const end = performance.now() + forSeconds * 1000
  const askOnAndOn = async () => {
    while (performance.now() < end) {
      const { status, ms } = await ask()
      if (status !== 200) throw new Error(`the guarded route answered ${status}`)
      times.push(ms)
      if (pause > 0) await seconds(pause)
    }
  }
  await Promise.all(Array.from({ length: askers }, askOnAndOn))
  return { p50: median(times), p99: quantile(times, 0.99) }
}

/** Returns the ratio of a guarded route's time under the flood to its time without the flood. */
const growth = ({ guarded: { before, during } }, use) => during[use].p99 / before[use].p99

const nameOf = ({ addresses, pause }) =>
  `${addresses === 'one' ? 'one address' : 'many addresses'}, ${pause ? `${pause / 1000} s between guesses` : 'no pause'}`

const USES = [
  ['in use', 'inUse'],
  ['otherwise idle', 'alone'],
]

const demandsOf = (row) =>
  USES.map(([how, use]) => {
    const times = growth(row, use)
    return {
      demand: `login flood, ${nameOf(row)}: p99 of a guarded route ${how}, to without: at most ${MOST_TIMES}`,
      measured: `${fixed(times)} (one run)`,
      holds: times <= MOST_TIMES,
    }
  })

const change = (before, during) => `${fixed(before)} → ${fixed(during)}`
const unexpected = ({ counts }) => Object.keys(counts).filter((outcome) => !EXPECTED.includes(outcome)).length

const LINES = [
  ['answers per second', ({ perSecond }) => Math.round(perSecond)],
  ...EXPECTED.map((status) => [`  ${status}`, ({ counts }) => counts[status] ?? 0]),
  ['  others', unexpected],
  ['memory, MB', ({ idle, flooded }) => change(idle.rss, flooded.rss)],
  ['event loop p99, ms', ({ idle, flooded }) => change(idle.p99, flooded.p99)],
  ['event loop, the longest, ms', ({ flooded }) => fixed(flooded.max)],
  ...USES.flatMap(([how, use]) => [
    [`guarded route ${how}, p50, ms`, ({ guarded: { before, during } }) => change(before[use].p50, during[use].p50)],
    [`guarded route ${how}, p99, ms`, ({ guarded: { before, during } }) => change(before[use].p99, during[use].p99)],
    ['  times', (row) => fixed(growth(row, use))],
  ]),
  ["the owner's login meanwhile", ({ owner }) => owner.during],
  ['  afterwards', ({ owner }) => `${owner.after} after ${fixed(owner.recovered)} ms`],
  ['otherwise idle guarded route, p99 afterwards, ms', ({ guarded }) => fixed(guarded.after.p99)],
  ['event loop p99 afterwards, ms', ({ calm }) => fixed(calm.p99)],
]

const tableOf = (rows) => ({
  heads: ['from', ...rows.map(nameOf)],
  rows: LINES.map(([name, show]) => [name, ...rows.map(show)]),
})
