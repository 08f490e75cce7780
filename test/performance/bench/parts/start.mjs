import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inRounds } from '../measure/rounds.mjs'
import { atMost, rowsOf, times, withSpread } from '../report/report.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The first imports of a process also start the loader, so each process imports an empty module before it measures. */
const EMPTY = "await import('data:text/javascript,')"

const SETTINGS = "{ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'k'.repeat(32) } }"
const NAMES = '{ createTokenIssuer, createTokenVerifier, requireBearer, tokenRouter }'
const PACKAGE = `const ${NAMES} = await import('express-token-endpoint')`
const VERIFIER = `globalThis.guard = requireBearer({ tokens: createTokenVerifier(${SETTINGS}) })`

const EXPRESS = 'Express'
const IMPORTED = 'the package'
const VERIFYING = 'a service that only verifies tokens'

const STARTS = [
  { name: EXPRESS, code: "await import('express')" },
  { name: IMPORTED, code: "await import('express-token-endpoint')" },
  {
    name: 'the package, by require',
    code: "process.getBuiltinModule('module').createRequire(URL)('express-token-endpoint')",
  },
  { name: VERIFYING, code: `${PACKAGE}; ${VERIFIER}` },
  { name: 'Express, then the package', code: "await import('express'); await import('express-token-endpoint')" },
]

const APP = "globalThis.app = (await import('express')).default()"

const IDLE = [
  { name: 'Node', code: '' },
  { name: 'Express and an app', code: APP },
  { name: 'the package', code: PACKAGE },
  { name: VERIFYING, code: `${PACKAGE}; ${VERIFIER}` },
  {
    name: 'Express, an app with the token router and a guard',
    code: `${APP}; ${PACKAGE}
      const tokens = createTokenIssuer(${SETTINGS})
      globalThis.app.use(tokenRouter({ tokens, accounts: () => null }), requireBearer({ tokens }))`,
  },
]

/** Runs a module in a fresh process, and returns the JSON value that it prints. */
async function inProcess(node, code, ...flags) {
  const args = [...flags, '--input-type=module', '--eval', `const URL = ${JSON.stringify(import.meta.url)}; ${code}`]
  const { stdout } = await promisify(execFile)(node, args, { cwd: HERE })
  return JSON.parse(stdout)
}

const startOf = (node, code) =>
  inProcess(
    node,
    `${EMPTY}
    const cpu = process.cpuUsage()
    const since = performance.now()
    ${code}
    const time = performance.now() - since
    const { user, system } = process.cpuUsage(cpu)
    process.stdout.write(JSON.stringify({ time, cpu: (user + system) / 1000 }), () => process.exit())`,
  )

const idleOf = (node, code) =>
  inProcess(
    node,
    `${code}
    gc()
    const { rss, heapUsed } = process.memoryUsage()
    process.stdout.write(JSON.stringify({ rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 }), () => process.exit())`,
    '--expose-gc',
  )

/** Returns one figure of each round, by the names of the variants. */
const only = (figure, values) =>
  Object.fromEntries(Object.entries(values).map(([name, rounds]) => [name, rounds.map((round) => round[figure])]))

/** Measures imports and the memory of an idle process, alternately in fresh processes. */
export const start = {
  title: 'Cold start and memory at idle, each in a fresh process',
  async run({ rounds, node = process.execPath }) {
    const starts = await inRounds(rounds, STARTS, ({ code }) => startOf(node, code))
    const idles = await inRounds(rounds, IDLE, ({ code }) => idleOf(node, code))
    const [time, cpu] = ['time', 'cpu'].map((figure) => rowsOf(only(figure, starts)))
    const [rss, heap] = ['rss', 'heap'].map((figure) => rowsOf(only(figure, idles)))
    const ratioOf = (wanted) => time.find(({ name }) => name === wanted).ratio
    return {
      tables: [
        {
          heads: ['import', 'ms', 'to Express', 'processor ms', 'to Express'],
          rows: time.map((row, at) => [
            row.name,
            withSpread(row),
            times(row.ratio),
            withSpread(cpu[at]),
            times(cpu[at].ratio),
          ]),
        },
        {
          heads: ['memory at idle', 'RSS, MB', 'heap, MB'],
          rows: rss.map((row, at) => [row.name, withSpread(row), withSpread(heap[at])]),
        },
      ],
      demands: [
        atMost('importing the package to importing Express', ratioOf(IMPORTED), 0.8),
        atMost('starting a service that only verifies tokens to importing Express', ratioOf(VERIFYING), 0.4),
      ],
      rows: { time, cpu, rss, heap },
    }
  },
}
