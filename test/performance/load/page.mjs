import { withSpread } from '../bench/report/report.mjs'
import { FEATURES } from './features.mjs'

/** The example of the page: a million accounts, of which every tenth signs in within the busiest hour. */
const ACCOUNTS = 1_000_000
const RATES = { guard: 10_000, login: Math.round(ACCOUNTS / 10 / 3600) }
const LOAD = 0.6
const AFTER_OUTAGE = 100_000
/** Connections to PostgreSQL of each process of the example app. */
const POOL = 10

const PROGRAMS = ['api', 'postgres', 'redis']
const HEADS = ['API', 'PostgreSQL', 'Redis']

const grouped = (value) => Math.round(value).toLocaleString('en')
const shortened = (value) => (value < 1 ? value.toFixed(2) : value.toFixed(1))
const megabytes = (value) => `${Math.round(value)} MB`
const times = (ratio) => `× ${withSpread(ratio)}`
const line = (cells) => `| ${cells.join(' | ')} |`

const table = (heads, rows) => [line(heads), `|---|${'--:|'.repeat(heads.length - 1)}`, ...rows.map(line)].join('\n')

const placeOf = (results, ...names) =>
  names
    .map((name) => {
      const { node, cores, rounds, date } = results[name]
      return `\`${name}\`: Node ${node.slice(1)}, ${cores} cores, ${rounds} rounds, ${date}.`
    })
    .join(' ')

/** Returns the busy cores of each program for one feature of the example, and for all of them. */
function coresOf({ costs }) {
  const planned = FEATURES.filter((feature) => feature.planned)
  const rows = planned.map(({ name, base = name, uses, says }) => {
    const cores = (part) => (RATES[base] * costs[name][part].median) / 1e6 / LOAD
    return { says, rate: RATES[base], cores: PROGRAMS.map((part) => (uses.includes(part) ? cores(part) : 0)) }
  })
  return { rows, sums: PROGRAMS.map((_, at) => rows.reduce((sum, { cores }) => sum + cores[at], 0)) }
}

const hashesPerSecond = ({ costs }) => 1e6 / costs.hash.api.median

const BLOCKS = {
  short({ sizing: { figures } }) {
    const { costs, memory } = figures
    return [
      `- **Logins** need the most: one core hashes about ${grouped(hashesPerSecond(figures))} passwords in a second.`,
      `- **Guarded requests** need little: ${grouped(costs.guard.api.median)} µs of processor time without a store. Each feature adds its own time.`,
      `- **Memory:** the example app uses at most ${megabytes(memory.most)} in each process.`,
    ].join('\n')
  },
  costs(results) {
    const { costs } = results.sizing.figures
    const rows = FEATURES.map(({ name, uses, says }) => [
      says,
      ...PROGRAMS.map((part) => (uses.includes(part) ? withSpread(costs[name][part]) : '')),
    ])
    return `${table(['µs of one core for each', ...HEADS], rows)}\n\n${placeOf(results, 'sizing')}`
  },
  example({ sizing: { figures }, million }) {
    const { rows, sums } = coresOf(figures)
    const show = (value) => (value === 0 ? '' : value < 0.005 ? '< 0.01' : shortened(value))
    const processes = Math.ceil(sums[0])
    const minutes = AFTER_OUTAGE / hashesPerSecond(figures) / processes / 60
    const { bytes } = million.figures.PostgreSQL
    return [
      table(
        [`cores at ${LOAD * 100} %`, 'per second', ...HEADS],
        [
          ...rows.map(({ says, rate, cores }) => [says, grouped(rate), ...cores.map(show)]),
          ['**sum**', '', ...sums.map((sum) => `**${show(sum)}**`)],
        ],
      ),
      [
        `- **API:** ${processes} cores with one process each, and ${processes} × ${megabytes(figures.memory.most)} of memory.`,
        `- **PostgreSQL:** ${processes} × ${POOL} connections, of its 100 by default. The accounts need ${grouped(ACCOUNTS)} × ${bytes} bytes.`,
        `- **After an outage**, all users may sign in at once. ${grouped(AFTER_OUTAGE)} logins take at least ${shortened(minutes)} minutes on ${processes} cores.`,
      ].join('\n'),
    ].join('\n\n')
  },
  others(results) {
    const { sizing, scaling, million } = Object.fromEntries(
      ['sizing', 'scaling', 'million'].map((name) => [name, results[name].figures]),
    )
    const { example, memory } = sizing
    const lookUps = ({ ratios }) => Object.values(ratios).map(times).join(', ')
    const rows = [
      [
        "the example's own route behind nginx, with `accounts`, `isRevoked` in Redis and two queries: µs of the API, nginx, PostgreSQL and Redis",
        ['api', 'nginx', 'postgres', 'redis'].map((part) => grouped(example[part].median)).join(', '),
        '`sizing`',
      ],
      [
        '… responses per second of one process, with nginx, the stores and the load generator on the same cores',
        grouped(example.perSecond.median),
        '`sizing`',
      ],
      [
        'memory of one process: idle, after guarded requests, at most while it hashes',
        Object.values(memory).map(megabytes).join(', '),
        '`sizing`',
      ],
      [
        'a guarded route without a store, 32 requests in one write: µs of the API; responses per second',
        `${grouped(scaling.each.median)}; ${grouped(scaling.perSecond.median)}`,
        '`scaling`',
      ],
      [
        'two such processes compared with one, on cores that they share with the load generators: responses per second',
        times(scaling.speedUp),
        '`scaling`',
      ],
      ['… by processor time for a response', times(scaling.byCpu), '`scaling`'],
      [
        'PostgreSQL, look-up by e-mail address, by id, of an unknown address: a million accounts compared with a thousand',
        lookUps(million.PostgreSQL),
        '`million`',
      ],
      ['SQLite, the same', lookUps(million.SQLite), '`million`'],
      [
        'bytes for an account, indexes included: PostgreSQL, SQLite',
        `${million.PostgreSQL.bytes}, ${million.SQLite.bytes}`,
        '`million`',
      ],
    ]
    return `${table(['measured', '', 'by'], rows)}\n\n${placeOf(results, 'sizing', 'scaling', 'million')}`
  },
}

const BLOCK = /<!-- fleet: (\w+) -->\n[\s\S]*?<!-- \/fleet -->/g

/** Returns the page with the figures of the results between its marks, as in `<!-- fleet: costs -->`. */
export function withFigures(page, results) {
  const missing = Object.keys(BLOCKS).filter((name) => !page.includes(`<!-- fleet: ${name} -->`))
  if (missing.length > 0) throw new Error(`the page has no marks for ${missing.join(', ')}`)
  return page.replace(BLOCK, (_block, name) => `<!-- fleet: ${name} -->\n\n${BLOCKS[name](results)}\n\n<!-- /fleet -->`)
}
