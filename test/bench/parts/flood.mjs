import { median, quantile } from '../stats.mjs'
import { client, fixed, login, seconds, start } from '../support.mjs'

const FLOODS = [
  ['many', 1000],
  ['many', 100],
  ['many', 0],
  ['one', 1000],
  ['one', 100],
  ['one', 0],
]
const EXPECTED = ['200', '403', '429', '503']

/** A login flood, and what it does to the process and to its guarded routes. Server, attacker and measuring client are three processes. */
export const flood = {
  title: 'The login flood: 256 connections that guess without end',
  async run({ seconds: length }) {
    const server = await start('login-server.mjs', { execArgv: ['--expose-gc'] })
    const send = client(server.first, 4)
    const ownerSignsIn = () => send(login('known1@example.com', 'correct horse', '198.51.100.7'))
    const { authenticationToken } = JSON.parse((await ownerSignsIn()).body)
    const guarded = { path: '/guarded', headers: { Authorization: `Bearer ${authenticationToken}` } }
    const guard = (forSeconds) => timesOf(() => send(guarded), forSeconds)

    await guard(2) // warm
    await server.ask('reset')
    const rows = []
    for (const [addresses, pause] of FLOODS) {
      const before = await guard(length)
      const idle = await server.ask('stats')
      const flooder = await start('flooder.mjs', { args: [`${server.first}`, addresses, `${pause}`] })
      await seconds(0.5)
      await server.ask('reset')
      const during = await guard(length)
      const flooded = await server.ask('stats')
      const owner = await ownerSignsIn()
      const counts = await flooder.ask('stop')
      flooder.child.disconnect()
      const stopped = performance.now()
      const back = await ownerSignsIn()
      const recovered = performance.now() - stopped
      await server.ask('reset')
      const after = await guard(length / 2)
      const calm = await server.ask('stats')
      rows.push({
        addresses,
        pause,
        perSecond: Object.values(counts).reduce((a, b) => a + b, 0) / (length + 0.5),
        counts,
        idle,
        flooded,
        calm,
        guarded: { before, during, after },
        owner: { during: owner.status, after: back.status, recovered },
      })
    }
    server.child.disconnect()
    return { tables: [tableOf(rows)], rows }
  },
}

/** What a guarded route takes, asked every five milliseconds. */
async function timesOf(ask, forSeconds) {
  const times = []
  const end = performance.now() + forSeconds * 1000
  while (performance.now() < end) {
    const { status, ms } = await ask()
    if (status !== 200) throw new Error(`the guarded route answered ${status}`)
    times.push(ms)
    await seconds(0.005)
  }
  return { p50: median(times), p99: quantile(times, 0.99) }
}

const change = (before, during) => `${fixed(before)} → ${fixed(during)}`
const unexpected = ({ counts }) => Object.keys(counts).filter((outcome) => !EXPECTED.includes(outcome)).length

const LINES = [
  ['answers per second', ({ perSecond }) => Math.round(perSecond)],
  ...EXPECTED.map((status) => [`  ${status}`, ({ counts }) => counts[status] ?? 0]),
  ['  others', unexpected],
  ['memory, MB', ({ idle, flooded }) => change(idle.rss, flooded.rss)],
  ['event loop p99, ms', ({ idle, flooded }) => change(idle.p99, flooded.p99)],
  ['event loop, the longest, ms', ({ flooded }) => fixed(flooded.max)],
  ['guarded route p50, ms', ({ guarded: { before, during } }) => change(before.p50, during.p50)],
  ['guarded route p99, ms', ({ guarded: { before, during } }) => change(before.p99, during.p99)],
  ['  times', ({ guarded: { before, during } }) => fixed(during.p99 / before.p99)],
  ["the owner's login meanwhile", ({ owner }) => owner.during],
  ['  afterwards', ({ owner }) => `${owner.after} after ${fixed(owner.recovered)} ms`],
  ['guarded route p99 afterwards, ms', ({ guarded }) => fixed(guarded.after.p99)],
  ['event loop p99 afterwards, ms', ({ calm }) => fixed(calm.p99)],
]

const tableOf = (rows) => ({
  heads: [
    'addresses, pause after a refusal',
    ...rows.map(({ addresses, pause }) => `${addresses}, ${pause ? `${pause} ms` : 'none'}`),
  ],
  rows: LINES.map(([name, show]) => [name, ...rows.map(show)]),
})
