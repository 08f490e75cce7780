/**
 * What a variant must do before it is measured: a guard that lets everything through is as fast as you like.
 * @param accepts token → whether the variant lets it through
 * @throws Error with the variant's name, never with a token
 */
export async function checkGuard(name, accepts, { good, forged, expired }) {
  if (!(await accepts(good))) throw new Error(`${name}: refuses a good token`)
  if (await accepts(forged)) throw new Error(`${name}: accepts a bad signature`)
  if (await accepts(expired)) throw new Error(`${name}: accepts an expired token`)
  // Once more: what it remembers must not let the others in, nor keep the good one out.
  if (!(await accepts(good))) throw new Error(`${name}: refuses a good token that it has seen`)
  if (await accepts(forged)) throw new Error(`${name}: accepts a bad signature that it has seen`)
}
