import { OURS } from '../names.mjs'
import { isPlain } from './guard-chart.mjs'

const START = '<!-- bench: npm run bench -->\n'
const END = '<!-- /bench -->'

const digits = (value) => (value === undefined ? '–' : value < 10 ? value.toFixed(2) : value.toFixed(0))
const line = (cells) => `| ${cells.join(' | ')} |`
const markdown = (heads, rows) =>
  [
    line(heads),
    `|---|${heads
      .slice(1)
      .map(() => '--:|')
      .join('')}`,
    ...rows.map(line),
  ].join('\n')

/** Returns a line for each run of the parts: machine, versions and date. */
function placesOf(parts) {
  const dates = [...new Set(Object.values(parts).map(({ date }) => date))]
  return dates.map((date) => {
    const run = Object.entries(parts).filter(([, part]) => part.date === date)
    const [, { node, cpu, rounds, versions }] = run[0]
    const which = dates.length > 1 ? `${run.map(([name]) => name).join(', ')}: ` : ''
    const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
    return `${which}Node ${node}, ${cpu}, ${rounds} interleaved rounds, ${date.slice(0, 10)}. ${packages.join(', ')}.`
  })
}

const closerOf = ({ rows, closer }) =>
  Object.keys(rows)
    .map((alg) => `${alg} ${digits(closer.find(({ name }) => name === alg).ratio.median)}`)
    .join(', ')

/** Returns the page's tables. */
function tables({ guard, http, ...others }) {
  const shareOf = (name, alg) => http.rows[alg].find((row) => row.name === name)?.ratio.median
  const guards = guard.rows.filter(isPlain)
  const rows = guards.map(({ name, median }) => [
    name === OURS ? `**${name}**` : name,
    digits(median),
    ...Object.keys(http.rows).map((alg) => digits(shareOf(name, alg))),
  ])
  const demands = [guard, http, ...Object.values(others)]
    .flatMap((part) => part.demands ?? [])
    .map(({ demand, measured, holds }) => [demand, measured, holds === undefined ? '' : holds ? 'yes' : 'no'])
  const heads = ['guard', 'µs a call, HS256', ...Object.keys(http.rows).map((alg) => `${alg} over HTTP`)]
  return [
    markdown(heads, rows),
    `_µs a call: in process, one token. Over HTTP: throughput as a share of the same route without a guard, by short looks. A longer one at ${OURS}: ${closerOf(http)}._`,
    '<details><summary>Every ratio, and whether it is within the limit that was set before it was measured</summary>',
    markdown(
      ['ratio, median (middle half of the rounds; over HTTP, where the median lies at 95 %)', 'measured', 'holds'],
      demands,
    ),
    '</details>',
    ...placesOf({ guard, http, ...others }),
  ].join('\n\n')
}

/**
 * Puts the tables between the marks of a page.
 * @throws Error when the page has no marks
 */
export function withTables(page, parts) {
  const start = page.indexOf(START)
  const end = page.indexOf(END)
  if (start < 0 || end < start) throw new Error('the page has no marks for the tables')
  return `${page.slice(0, start + START.length)}\n${tables(parts)}\n\n${page.slice(end)}`
}
