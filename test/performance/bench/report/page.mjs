import { LINES } from '../arguments.mjs'
import { FLOOR, isPlain, OURS } from '../names.mjs'
import { digits, fastestPeer } from './report.mjs'

const START = '<!-- bench: npm run bench -->\n'
const END = '<!-- /bench -->'

/** The line of the first table and of the chart. */
export const [PAGE_LINE] = LINES

const shown = (value) => (value === undefined ? '–' : digits(value))
const lineOf = (cells) => `| ${cells.join(' | ')} |`
const markdown = (heads, rows) =>
  [lineOf(heads), lineOf(heads.map((_, i) => (i === 0 ? '---' : '--:'))), ...rows.map(lineOf)].join('\n')

function guardsTable({ guard, http }) {
  const algorithms = Object.entries(http?.rows ?? {})
  const rows = (guard?.rows ?? [])
    .filter(isPlain)
    .map(({ name, median }) => [
      name === OURS ? `**${name}**` : name,
      shown(median),
      ...algorithms.map(([, measured]) => shown(measured.find((row) => row.name === name)?.ratio.median)),
    ])
  return markdown(['guard', 'µs a call', ...algorithms.map(([alg]) => alg)], rows)
}

/** Returns a row for a Node line. Its shares have the order of the algorithms. */
function rowOfLine({ http, server }) {
  const algorithms = Object.values(http.rows)
  const named = (name) => (rows) => rows.find((row) => row.name === name)
  const shares = (choose) => algorithms.map((rows) => shown(choose(rows).ratio.median)).join(' · ')
  const unguarded = Math.round(named(OURS)(algorithms[0]).unguarded).toLocaleString('en')
  return [
    http.node,
    unguarded,
    shares(named(OURS)),
    shares(named(FLOOR)),
    shares(fastestPeer),
    shown(server?.ratio.median),
  ]
}

const linesTable = (lines) =>
  markdown(
    ['Node', 'requests per second without a guard', OURS, FLOOR, 'fastest peer', 'fast server'],
    lines.filter(([, { http }]) => http).map(([, parts]) => rowOfLine(parts)),
  )

function demandsTable(lines) {
  const demands = new Map()
  for (const [line, parts] of lines) {
    for (const { demand, measured, holds } of Object.values(parts).flatMap((part) => part.demands)) {
      const cell = holds === undefined ? measured : `${measured} ${holds ? 'yes' : '**no**'}`
      demands.set(demand, { ...demands.get(demand), [line]: cell })
    }
  }
  const rows = [...demands].map(([demand, cells]) => [demand, ...lines.map(([line]) => cells[line] ?? '–')])
  return markdown(['demand', ...lines.map(([line]) => `Node ${line}`)], rows)
}

/** Returns a paragraph for each machine, day and set of packages. */
function placesOf(lines) {
  const places = new Map()
  for (const { machine, date, packages, node } of lines.flatMap(([, parts]) => Object.values(parts))) {
    const place = `${machine}, ${date} · ${packages}`
    places.set(place, (places.get(place) ?? new Set()).add(node))
  }
  return [...places].map(([place, nodes]) => `Node ${[...nodes].join(', ')}, ${place}`)
}

function tables(results) {
  const lines = LINES.filter((line) => results[line]).map((line) => [line, results[line]])
  return [
    guardsTable(results[PAGE_LINE] ?? {}),
    linesTable(lines),
    '<details><summary>Every demand, and whether it holds</summary>',
    demandsTable(lines),
    '</details>',
    ...placesOf(lines),
  ].join('\n\n')
}

/**
 * Puts the tables between the marks of a page.
 * @throws Error when the page has no marks
 */
export function withTables(page, results) {
  const start = page.indexOf(START)
  const end = page.indexOf(END)
  if (start < 0 || end < start) throw new Error('the page has no marks for the tables')
  return `${page.slice(0, start + START.length)}\n${tables(results)}\n\n${page.slice(end)}`
}
