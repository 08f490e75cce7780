import { alternately } from '../harness/alternately.mjs'
import { inNewProcesses } from '../harness/fresh.mjs'
import { startServer } from '../harness/processes.mjs'
import { atLeast, atMost, spread } from '../harness/report.mjs'
import { medianWithInterval } from '../harness/statistics.mjs'
import { programOf } from './start.mjs'

/** The options of programs/auth-options.mjs. */
const APPS = ['nothing on', 'only `store`', 'everything on']
const [NOTHING, STORE, EVERYTHING] = APPS
const SLICES = { connections: 16, slice: 250, slices: 4, warmUp: 800 }

export const title =
  'Everything switched on in `createAuth`, compared with nothing: a guarded request, a login, and the start of a process'

/** Compares requests of the apps in one process. */
const compare = (node, sidesOf, options) =>
  alternately(async () => {
    const { side, stop, apps } = await startServer('auth-server.mjs', { node })
    return { sides: sidesOf(apps).map(({ base, name, requests }) => ({ ...side(name, requests), base })), close: stop }
  }, options)

const guardedOf = (apps) =>
  APPS.map((name) => {
    // A guard of an app with a store looks for the session of each token, also without other features.
    const base = name === EVERYTHING ? STORE : NOTHING
    return { name, base, requests: apps[name].guarded }
  })

const HASH = 'nothing on, with an argon2id hash'
const loginsOf = (apps) => [
  ...APPS.map((name) => ({ name, requests: apps[name].free })),
  { name: HASH, requests: apps[NOTHING].hash },
]

const startOf = (name) => ({
  name,
  code: `const { createAuth, memoryAccounts } = await import('express-token-endpoint')
    const { OPTIONS } = await import('../programs/auth-options.mjs')
    globalThis.auth = createAuth({ ...OPTIONS['${name}'](), accounts: memoryAccounts([]) })`,
})

export async function run({ node, rounds }) {
  const guarded = await compare(node, guardedOf, { rounds })
  const logins = await compare(node, loginsOf, { rounds, ...SLICES })
  const variants = APPS.map(startOf)
  const starts = await inNewProcesses({ node, rounds: 2 * rounds, variants, programOf })
  const whole = logins.find(({ name }) => name === HASH).cpu.api.median
  const shareOf = ({ more: { api } }) =>
    Object.fromEntries(Object.entries(api).map(([key, value]) => [key, value / whole]))
  const startedIn = (name, base) => medianWithInterval(starts.map((round) => round[name].cpu - (round[base]?.cpu ?? 0)))
  const [ofGuard, ofLogin] = [guarded, logins].map((rows) => rows.find(({ name }) => name === EVERYTHING))
  return {
    tables: [
      [
        ['a guarded request', 'µs', 'µs more', 'responses in the same time', 'to'],
        guarded.map(({ name, cpu, more, ratio }, i) => [
          name,
          ...[cpu.api, more.api, ratio].map(spread),
          i === 0 ? '–' : guarded[i - 1].name,
        ]),
      ],
      [
        ['a login without its hash', 'µs', 'µs more', 'as a share of a login with its hash'],
        logins.map((row) => [
          row.name,
          ...[row.cpu.api, row.more.api].map(spread),
          row.name === HASH ? '–' : spread(shareOf(row)),
        ]),
      ],
      [
        ['the start of a process', 'processor ms', 'ms more'],
        APPS.map((name) => [name, spread(startedIn(name)), spread(startedIn(name, NOTHING))]),
      ],
    ],
    verdicts: [
      atLeast(`a guarded request, ${EVERYTHING} to ${STORE}`, ofGuard.ratio, 0.98),
      atMost(`a login, ${EVERYTHING}, more than ${NOTHING}`, shareOf(ofLogin), 0.03),
      atMost(`the start, ${EVERYTHING}, ms more than ${NOTHING}`, startedIn(EVERYTHING, NOTHING), 20),
    ],
  }
}
