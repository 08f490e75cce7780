import { OURS } from '../names.mjs'
import { isPlain } from './guard-chart.mjs'

const END = '<!-- /bench -->'

const digits = (value) => (value === undefined ? '–' : value < 10 ? value.toFixed(2) : value.toFixed(0))
const line = (cells) => `| ${cells.join(' | ')} |`
export const markdown = (heads, rows) =>
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
    return `${which}Node ${node}, ${cpu}, ${rounds} interleaved rounds, ${date.slice(0, 10)} · ${packages.join(' · ')}`
  })
}

const closerOf = ({ rows, closer }) =>
  Object.keys(rows)
    .map((alg) => `${alg} ${digits(closer.find(({ name }) => name === alg).ratio.median)}`)
    .join(', ')

/** Returns the tables of the page on performance. */
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
  ]
}

/**
 * Puts blocks between the marks of a page. The first mark names the command that writes the blocks.
 * @throws Error when the page has no marks
 */
export function putBetween(page, command, blocks) {
  const mark = `<!-- bench: ${command} -->\n`
  const start = page.indexOf(mark)
  const end = page.indexOf(END, start)
  if (start < 0 || end < start) throw new Error(`the page has no marks for the tables of ${command}`)
  return `${page.slice(0, start + mark.length)}\n${blocks.join('\n\n')}\n\n${page.slice(end)}`
}

/** Puts the tables of all parts between the marks of a page, except those that have their own page. */
export function withTables(page, { attacks: _, settings: __, ...parts }) {
  return putBetween(page, 'npm run bench', tables(parts))
}
