import { FLOOR, isPlain, OURS } from '../names.mjs'
import { chart } from './chart.mjs'

const KINDS = { [OURS]: 'own', [FLOOR]: 'base' }
const kindOf = (name) => KINDS[name] ?? 'other'
const label = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0))
const barsOf = (rows, measure) =>
  rows.filter(isPlain).map((row) => {
    const value = measure(row)
    return { name: row.name, kind: kindOf(row.name), value, label: label(value) }
  })

/** Draws the picture of the page. */
export function guardChart({ guard, http }) {
  const groups = []
  if (guard) {
    groups.push({
      heading: 'µs per guarded call, in process; HS256, one token (logarithmic: shorter is better)',
      scale: 'log',
      from: 0.1,
      rows: barsOf(guard.rows, ({ median }) => median),
    })
  }
  if (http) {
    groups.push({
      heading: 'Throughput of a guarded route, share of the same route without a guard; HS256 (longer is better)',
      scale: 'linear',
      full: 1,
      rows: barsOf(http.rows['HS256'], ({ ratio }) => ratio.median),
    })
  }
  const description = groups
    .map(({ heading, rows }) => `${heading}: ${rows.map(({ name, label: value }) => `${name} ${value}`).join('; ')}.`)
    .join(' ')
  return chart({ title: 'The guard beside its peers', description, groups })
}
