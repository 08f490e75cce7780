import { pairedRatio, summary } from '../measure/stats.mjs'

/** What is measured and how it is shown: what every part hands back is made of these. */

const digits = (value) => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0))

export const withSpread = ({ median, low, high }, unit = '') =>
  `${digits(median)}${unit} (${digits(low)}–${digits(high)})`

export const times = ({ median, low, high }) => `× ${withSpread({ median, low, high })}`

/** A row per variant: what it took, and how many times what the first of them took. */
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
