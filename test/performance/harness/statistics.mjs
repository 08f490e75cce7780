/** Returns the value below which a share `q` of the values lies, interpolated between neighbours. */
export function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at % 1)
}

export const median = (values) => quantile(values, 0.5)

/**
 * Returns the median, and its 95 % interval: the order statistics between which the true median lies (binomial, by its normal
 * approximation). With fewer than 6 values, these are the least and the greatest value.
 */
export function medianWithInterval(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const reach = 0.98 * Math.sqrt(sorted.length)
  const middle = (sorted.length - 1) / 2
  const at = (rank) => sorted[Math.min(sorted.length - 1, Math.max(0, rank))]
  return { median: median(sorted), low: at(Math.floor(middle - reach)), high: at(Math.ceil(middle + reach)) }
}

/**
 * Measures each variant once in each round. The order is random, so that no variant always pays for the garbage of another one, and a
 * disturbance of the machine affects all variants of a round.
 * @returns the rounds, each with the measured values by the names of the variants
 */
export async function inRounds(count, variants, measure) {
  if (new Set(variants.map(({ name }) => name)).size < variants.length)
    throw new Error('two variants have the same name')
  const rounds = []
  while (rounds.length < count) {
    const order = variants.map((variant) => ({ variant, key: Math.random() })).sort((a, b) => a.key - b.key)
    const round = Object.fromEntries(variants.map(({ name }) => [name]))
    for (const { variant } of order) round[variant.name] = await measure(variant)
    rounds.push(round)
  }
  return rounds
}

/**
 * Returns a row for each variant: its value, and its ratio to `base` in the same round.
 * @param figure returns the number of a measured value
 */
export function rowsOf(rounds, { base, figure = (value) => value, names = Object.keys(rounds[0]) }) {
  return names.map((name) => ({
    name,
    ...medianWithInterval(rounds.map((round) => figure(round[name]))),
    ratio: medianWithInterval(rounds.map((round) => figure(round[name]) / figure(round[base]))),
  }))
}
