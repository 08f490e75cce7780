/** The value below which a share `q` of the values lies, interpolated between neighbours. */
export function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at % 1)
}

export const median = (values) => quantile(values, 0.5)

/** Median, and the middle half as the spread. */
export const summary = (values) => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
})

/**
 * Median, and the order statistics between which the true one lies at 95 % (binomial, by its normal approximation), for values that are
 * many and far apart.
 */
export function medianWithInterval(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (rank) => sorted[Math.min(sorted.length - 1, Math.max(0, rank))]
  const middle = (sorted.length - 1) / 2
  return { median: median(sorted), low: at(Math.floor(middle - reach)), high: at(Math.ceil(middle + reach)) }
}

/**
 * Returns the ratio of each round's value to `base`. A disturbance of a round affects both values, so the ratio stays the same.
 */
export function pairedRatio(values, base) {
  if (values.length !== base.length) throw new RangeError('pairedRatio: not the same rounds')
  return summary(values.map((value, round) => value / base[round]))
}

/** Returns the ratio of two medians, and its bounds from the ends of both intervals. */
export const quotientOf = (one, other) => ({
  median: one.median / other.median,
  low: one.low / other.high,
  high: one.high / other.low,
})

/** Returns the difference of two medians, and its bounds from the ends of both intervals. */
export const differenceOf = (one, other) => ({
  median: one.median - other.median,
  low: one.low - other.high,
  high: one.high - other.low,
})
