import { FLOOR, OURS } from '../names.mjs'
import { chart } from './chart.mjs'

const KINDS = { [OURS]: 'own', [FLOOR]: 'base' }
const kindOf = (name) => KINDS[name] ?? 'other'
/** Rows with one token. HS256 when the heading names no algorithm. */
export const isPlain = ({ name }) => !name.includes(';')
const label = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0))

function inProcess({ rows }) {
  return {
    heading: 'µs per guarded call, in process; HS256, one token (logarithmic: shorter is better)',
    scale: 'log',
    from: 0.1,
    rows: rows
      .filter(isPlain)
      .map(({ name, median }) => ({ name, kind: kindOf(name), value: median, label: label(median) })),
  }
}

const overHttp = (alg, rows) => ({
  heading: `Throughput of a guarded route, share of the same route without a guard; ${alg} (longer is better)`,
  scale: 'linear',
  full: 1,
  rows: rows
    .filter(isPlain)
    .map(({ name, ratio }) => ({ name, kind: kindOf(name), value: ratio.median, label: label(ratio.median) })),
})

/** Draws the picture of the page, or nothing before both parts were measured. */
export function guardChart({ guard, http }) {
  const groups = []
  if (guard) groups.push(inProcess(guard))
  if (http) groups.push(overHttp('HS256', http.rows['HS256']))
  if (groups.length === 0) return undefined
  const description = groups
    .map(({ heading, rows }) => `${heading}: ${rows.map(({ name, label: value }) => `${name} ${value}`).join('; ')}.`)
    .join(' ')
  return chart({ title: 'The guard beside its peers', description, groups })
}
