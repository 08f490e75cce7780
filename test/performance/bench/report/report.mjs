import { pairedRatio, summary } from '../../stats.mjs'
import { FAST_JWT_KEYED, FLOOR, OURS } from '../names.mjs'

/** Each part builds its result from these functions: measured values, tables and demands. */

export const digits = (value) => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0))

export const withSpread = ({ median, low, high }, unit = '') =>
  `${digits(median)}${unit} (${digits(low)}–${digits(high)})`

export const times = ({ median, low, high }) => `× ${withSpread({ median, low, high })}`

/** Returns a row for each variant: its value, and its ratio to the first variant. */
export function rowsOf(values, names = Object.keys(values), base = names[0]) {
  return names.map((name) => ({
    name,
    ...summary(values[name]),
    ratio: pairedRatio(values[name], values[base]),
  }))
}

export const atMost = (demand, ratio, limit) => ({
  demand: `${demand}: at most ${limit}`,
  measured: withSpread(ratio),
  holds: ratio.median <= limit,
})

export const atLeast = (demand, ratio, limit) => ({
  demand: `${demand}: at least ${limit}`,
  measured: withSpread(ratio),
  holds: ratio.median >= limit,
})

/** Returns the row of the peer with the largest share. fast-jwt keyed on the token, which warns of itself, has its own demand. */
export const fastestPeer = (rows) =>
  rows
    .filter(({ name }) => ![OURS, FLOOR, FAST_JWT_KEYED].includes(name))
    .reduce((most, row) => (row.ratio.median > most.ratio.median ? row : most))
