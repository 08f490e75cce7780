import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { inRounds } from '../measure/rounds.mjs'
import { atMost, rowsOf, times, withSpread } from '../report/report.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The first imports of a process also start the loader, so each process imports an empty module before it measures. */
const EMPTY = "await import('data:text/javascript,')"

const KEY = "{ alg: 'HS256', secret: 'k'.repeat(32) }"
const SETTINGS = `{ issuer: 'https://api.example.com', keys: ${KEY} }`
const EXPRESS = "const { default: express } = await import('express')"
const PACKAGE = "const { createTokenIssuer, requireBearer, tokenRouter } = await import('express-token-endpoint')"

const STARTS = [
  { name: 'Express', code: "await import('express')" },
  { name: 'the package', code: "await import('express-token-endpoint')" },
  {
    name: 'a service that only verifies tokens',
    code: `const { createTokenVerifier, requireBearer } = await import('express-token-endpoint')
      requireBearer({ tokens: createTokenVerifier(${SETTINGS}) })`,
  },
  { name: 'Express, then the package', code: "await import('express'); await import('express-token-endpoint')" },
]

const IDLE = [
  { name: 'Express', code: `${EXPRESS}; globalThis.app = express()` },
  {
    name: 'Express, an issuer, the router and a guard',
    code: `${EXPRESS}; ${PACKAGE}
      const tokens = createTokenIssuer(${SETTINGS})
      globalThis.app = express().use(tokenRouter({ tokens, accounts: () => null }), requireBearer({ tokens }))
      await new Promise((resolve) => setTimeout(resolve, 100))`,
  },
]

/** Runs a module in a fresh process, and returns the JSON value that it prints. */
function inProcess(code, ...flags) {
  const args = [...flags, '--input-type=module', '--eval', code]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: HERE, encoding: 'utf8' })
  if (status !== 0) throw new Error(`start: a process has failed: ${stderr}`)
  return JSON.parse(stdout)
}

const startOf = ({ code }) =>
  inProcess(`${EMPTY}
    const cpu = process.cpuUsage()
    const since = performance.now()
    ${code}
    const time = performance.now() - since
    const { user, system } = process.cpuUsage(cpu)
    process.stdout.write(JSON.stringify({ time, cpu: (user + system) / 1000 }))`)

const idleOf = ({ code }) =>
  inProcess(
    `${code}
    gc()
    const { rss, heapUsed } = process.memoryUsage()
    process.stdout.write(JSON.stringify({ rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 }), () => process.exit())`,
    '--expose-gc',
  )

/** Returns one figure of each round, by the names of the variants. */
const only = (figure, values) =>
  Object.fromEntries(Object.entries(values).map(([name, rounds]) => [name, rounds.map((round) => round[figure])]))

const LEAST_PROCESSES = 30

/** Measures imports and the memory of an idle process, alternately in fresh processes. */
export const start = {
  title: 'Cold start and memory at idle, each in a fresh process',
  async run({ rounds }) {
    const processes = Math.max(LEAST_PROCESSES, rounds)
    const starts = await inRounds(processes, STARTS, startOf)
    const idles = await inRounds(rounds, IDLE, idleOf)
    const [time, cpu] = ['time', 'cpu'].map((figure) => rowsOf(only(figure, starts)))
    const [rss, heap] = ['rss', 'heap'].map((figure) => rowsOf(only(figure, idles)))
    const [, whole, verifying] = time
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
        atMost('importing the package to importing Express', whole.ratio, 0.8),
        atMost('starting a service that only verifies tokens to importing Express', verifying.ratio, 0.4),
      ],
      rows: { time, cpu, rss, heap },
    }
  },
}
