/** Creates numbers from 0 to 1 that are the same in each run (mulberry32). */
function numbersFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffled(list, random) {
  const order = [...list]
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j], order[i]]
  }
  return order
}

/**
 * Measures each variant in each round. The order is random, so that no variant always pays for the garbage of another variant.
 * @returns the measured values by the names of the variants, round by round
 */
export async function inRounds(rounds, variants, measure) {
  const values = Object.fromEntries(variants.map(({ name }) => [name, []]))
  if (Object.keys(values).length < variants.length) throw new Error('inRounds: two variants have the same name')
  const random = numbersFrom(rounds)
  for (let round = 0; round < rounds; round++) {
    for (const variant of shuffled(variants, random)) values[variant.name].push(await measure(variant))
  }
  return values
}
