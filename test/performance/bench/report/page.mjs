import { LINES } from '../arguments.mjs'
import { FLOOR, isPlain, OURS } from '../names.mjs'
import { digits, fastestPeer } from './report.mjs'

const END = '<!-- /bench -->'

/** The line of the first table and of the chart. */
export const [PAGE_LINE] = LINES

const shown = (value) => (value === undefined ? '–' : digits(value))
const lineOf = (cells) => `| ${cells.join(' | ')} |`
export const markdown = (heads, rows) =>
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

/** Returns where a part was measured. */
export const placeOf = ({ machine, date, packages }) => `${machine}, ${date} · ${packages}`

/** Returns a paragraph for each machine, day and set of packages. */
function placesOf(lines) {
  const places = new Map()
  for (const part of lines.flatMap(([, parts]) => Object.values(parts))) {
    const place = placeOf(part)
    places.set(place, (places.get(place) ?? new Set()).add(part.node))
  }
  return [...places].map(([place, nodes]) => `Node ${[...nodes].join(', ')}, ${place}`)
}

/** Returns the parts of each measured line, except those that have their own page. */
const linesOf = (results) =>
  LINES.filter((line) => results[line])
    .map((line) => {
      const { attacks: _, settings: __, ...parts } = results[line]
      return [line, parts]
    })
    .filter(([, parts]) => Object.keys(parts).length > 0)

function tables(results) {
  const lines = linesOf(results)
  return [
    guardsTable(results[PAGE_LINE] ?? {}),
    linesTable(lines),
    '<details><summary>Every demand, and whether it holds</summary>',
    demandsTable(lines),
    '</details>',
    ...placesOf(lines),
  ]
}

/**
 * Puts blocks between the marks of a page. The first mark names the command that writes the blocks.
 * @throws Error when the page has no marks
 */
export function putBetween(page, command, blocks) {
  const mark = `<!-- bench: ${command} -->`
  const start = page.indexOf(`${mark}\n`)
  const end = page.indexOf(END, start)
  if (start < 0 || end < start) throw new Error(`the page has no marks for the tables of ${command}`)
  return `${page.slice(0, start)}${[mark, ...blocks, page.slice(end)].join('\n\n')}`
}

/** Puts the tables of all parts between the marks of a page, except of those that have their own page. */
export const withTables = (page, results) => putBetween(page, 'npm run bench', tables(results))
