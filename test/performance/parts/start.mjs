import { inNewProcesses, PACKAGE, VERIFIER } from '../harness/fresh.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

const EXPRESS = 'Express'
const VARIANTS = [
  { name: EXPRESS, code: "await import('express')" },
  { name: 'the package', code: PACKAGE },
  {
    name: 'the package, by require',
    code: "process.getBuiltinModule('module').createRequire(import.meta.url)('express-token-endpoint')",
  },
  { name: 'the package, and a verifier with a guard', code: VERIFIER },
]

export const title = 'Cold start: imports in new processes, compared with importing Express'

/** The first imports of a process also start the loader, so each process imports an empty module before it measures. */
export const programOf = ({ code }) => `
  await import('data:text/javascript,')
  const cpu = process.cpuUsage()
  const since = performance.now()
  ${code}
  const time = performance.now() - since
  const { user, system } = process.cpuUsage(cpu)
  process.stdout.write(JSON.stringify({ time, cpu: (user + system) / 1000 }), () => process.exit())`

export async function run({ node, rounds }) {
  const found = await inNewProcesses({ node, rounds: 2 * rounds, variants: VARIANTS, programOf })
  const [time, cpu] = ['time', 'cpu'].map((name) => rowsOf(found, { base: EXPRESS, figure: (value) => value[name] }))
  return {
    tables: [
      [
        ['import', 'ms', 'times Express', 'processor ms', 'times Express'],
        time.map((row, i) => [
          row.name,
          ...[row, cpu[i]].flatMap(({ ratio, ...value }) => [spread(value), spread(ratio)]),
        ]),
      ],
    ],
    verdicts: time.slice(1).map(({ name, ratio }) => atMost(`${name}, to Express`, ratio, 0.5)),
  }
}
