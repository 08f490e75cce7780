import { APP, ENDPOINT, inNewProcesses, PACKAGE, VERIFIER } from '../harness/fresh.mjs'
import { start } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { medianWithInterval, rowsOf } from '../harness/statistics.mjs'

const IDLE = [
  { name: 'Node', code: '' },
  { name: 'Express and an app', code: APP },
  { name: 'the package', code: PACKAGE },
  { name: 'the package, and a verifier with a guard', code: VERIFIER },
  { name: 'Express, an app with the token router and a guard', code: ENDPOINT },
]

export const title = 'Memory of an idle process and of cached tokens, in MB'

const programOf = ({ code }) => `${code}
  gc()
  const { rss, heapUsed } = process.memoryUsage()
  process.stdout.write(JSON.stringify({ rss, heapUsed }), () => process.exit())`

const megabytes = (bytes) => bytes / 2 ** 20

export async function run({ node, rounds }) {
  const found = await inNewProcesses({ node, rounds, variants: IDLE, programOf })
  const [rss, heap] = ['rss', 'heapUsed'].map((name) =>
    rowsOf(found, { base: 'Node', figure: (value) => megabytes(value[name]) }),
  )
  const { first } = await start('retained-memory.mjs', { execArgv: ['--expose-gc'], node })
  const { length, cached, count, sizes } = first
  const [once, full] = sizes
  const most = Math.max(...sizes)
  const show = (bytes) => megabytes(bytes).toFixed(2)
  const all = `${count.toLocaleString('en')} tokens, one after the other`
  return {
    tables: [
      [['idle', 'RSS', 'heap'], rss.map((row, i) => [row.name, spread(row), spread(heap[i])])],
      [
        [`tokens of ${length} bytes`, 'retained'],
        [
          ['1,000 tokens', show((once / cached) * 1000)],
          [`${(2 * cached).toLocaleString('en')} tokens, the most that the cache holds by default`, show(full)],
          [`${all}, at most`, show(most)],
        ],
      ],
    ],
    verdicts: [atMost(`memory after ${all}, to a full cache`, medianWithInterval([most / full]), 1.1)],
  }
}
