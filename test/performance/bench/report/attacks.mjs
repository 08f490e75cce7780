import { markdown, PAGE_LINE, placeOf, putBetween } from './page.mjs'

const MOST_TIMES = 3

const digits = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
const counts = (statuses) =>
  Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count.toLocaleString('en')}`)
    .join(', ') || '–'
const guarded = ({ p50, p99 }) => `${digits(p50)}, ${digits(p99)}`
const owners = ({ statuses, most }) => `${counts(statuses)} in ${(most / 1000).toFixed(2)} s`
const megabytes = (memory) => `${memory.toFixed(0)} MB`
const ofBoth = (what) => [`${what}: this package`, 'plain app']

/** Returns the tables of the attacks: the guarded route, and the people who sign in, the memory and the attacker. */
export const attackTables = (rows) => [
  {
    heads: ['guarded route: p50, p99 in ms', ...ofBoth('two cores'), ...ofBoth('own core')],
    rows: rows.map(({ name, package: ours, plain }) => [
      name,
      ...[ours.shared, plain.shared, ours.apart, plain.apart].map(guarded),
    ]),
  },
  {
    heads: ['', ...ofBoth('20 people sign in'), ...ofBoth('memory'), ...ofBoth("attacker's responses per second")],
    rows: rows.map(({ name, package: ours, plain }) => [
      name,
      ...[ours, plain].map((kind) => owners(kind.owners)),
      ...[ours, plain].map(({ memory }) => megabytes(memory)),
      ...[ours, plain].map(({ perSecond }) => counts(perSecond)),
    ]),
  },
]

/** Returns how much longer a guarded route takes during each attack, when the event loop has its own core. */
export const attackDemands = ([quiet, ...attacked]) =>
  attacked.map(({ name, package: ours }) => {
    const times = ours.apart.p99 / quiet.package.apart.p99
    return {
      demand: `${name}: p99 of a guarded route with its own core, to quiet: at most ${MOST_TIMES}`,
      measured: digits(times),
      holds: times <= MOST_TIMES,
    }
  })

/** Returns a table for each attack: what the settings of a host change. */
export const settingTables = (rows) =>
  [...new Set(rows.map(({ attack }) => attack))].map((attack) => ({
    heads: [attack, 'guarded route: p50, p99 in ms', 'own core', '20 people sign in', 'memory'],
    rows: rows
      .filter((row) => row.attack === attack)
      .map((row) => [row.name, guarded(row.shared), guarded(row.apart), owners(row.owners), megabytes(row.memory)]),
  }))

/** Returns how many attacks meet the demand. */
const demandOf = ({ demands }) =>
  `With its own core, a guarded route should have a p99 of at most ${MOST_TIMES} times its quiet value. ` +
  `${demands.filter(({ holds }) => holds).length} of ${demands.length} attacks meet this demand.`

const blocksOf = (part, tables) =>
  part
    ? [...tables(part.rows).map(({ heads, rows }) => markdown(heads, rows)), `Node ${part.node}, ${placeOf(part)}`]
    : []

/** Puts the tables of both parts between the marks of a page. A part that was not measured has no tables. */
export function withAttacks(page, results) {
  const { attacks, settings } = results[PAGE_LINE] ?? {}
  const first = putBetween(page, 'npm run bench -- attacks', [
    ...blocksOf(attacks, attackTables),
    ...(attacks ? [demandOf(attacks)] : []),
  ])
  return putBetween(first, 'npm run bench -- settings', blocksOf(settings, settingTables))
}
