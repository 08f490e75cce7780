import fc from 'fast-check'
import { expect } from 'vitest'
import type { Network } from './devices.js'
import type { Settings } from './servers.js'

const SECOND = 1000
const HOUR = 3600 * SECOND

export const FACTOR = Number(process.env['MODEL_RUNS'] ?? (process.env['TEST_SEED'] === 'new' ? 25 : 1))
const isPlanted = process.env['MODEL_FAULT'] !== undefined

const TIMES = { idle: HOUR, longest: 5 * HOUR }
const QUIET: Network = { lost: 0, late: 0, doubled: 0 }
const BAD: Network = { lost: 30, late: 150, doubled: 50 }

/** The worlds of the model, with their settings. */
export const WORLDS: readonly (readonly [string, Settings, Network])[] = [
  ['servers that work', { ...TIMES, grace: 10 * SECOND, skew: 0, faults: 0 }, { ...BAD, lost: 20 }],
  ['stores that fail', { ...TIMES, grace: 10 * SECOND, skew: 0, faults: 30 }, QUIET],
  ['a bad network and stores that fail', { ...TIMES, grace: 10 * SECOND, skew: 0, faults: 10 }, BAD],
  ['clocks that differ by 30 s', { ...TIMES, grace: 40 * SECOND, skew: 30 * SECOND, faults: 10 }, BAD],
]

/** The world of a thief without `grace`, where each lost response ends the session of an honest client. */
export const STRICT: (typeof WORLDS)[number] = ['no grace', { ...TIMES, grace: 0, skew: 0, faults: 0 }, BAD]

/** Returns numbers that look random. The same seed has the same ones. */
function numbersOf(seed: number, length: number): number[] {
  let state = seed | 1
  return Array.from({ length }, () => {
    // Xorshift, because fast-check needs longer for thousands of numbers than the run.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 8) & 0xffff
  })
}

/** Omits decisions of a run as long as the rest breaks a promise too. */
async function smallest(run: (numbers: readonly number[]) => Promise<string[]>, failing: readonly number[]) {
  let list = failing
  const limit = performance.now() + 20_000
  for (let size = list.length >> 1; size > 0 && !isPlanted; size >>= 1) {
    for (let at = 0; at < list.length && performance.now() < limit; ) {
      const fewer = [...list.slice(0, at), ...list.slice(at + size)]
      const zeros = list.map((one, i) => (i >= at && i < at + size ? 0 : one))
      if ((await run(fewer)).length > 0) list = fewer
      else {
        if (zeros.some((one, i) => one !== list[i]) && (await run(zeros)).length > 0) list = zeros
        at += size
      }
    }
  }
  return list
}

const seeds = fc.noShrink(fc.integer())

/** Runs a model so often that each refresh meets each fault in many orders. */
export async function search(run: (numbers: readonly number[]) => Promise<string[]>, runs: number) {
  const property = fc.asyncProperty(seeds, async (seed) => {
    const list = numbersOf(seed, 2000)
    const broken = await run(list)
    if (broken.length === 0) return
    if (isPlanted) expect(broken).toEqual([])
    const least = await smallest(run, list)
    expect({ broken: await run(least), choices: least.join() }).toEqual({ broken: [], choices: '' })
  })
  await fc.assert(property, { numRuns: Math.ceil(runs * FACTOR * (isPlanted ? 5 : 1)), endOnFailure: true })
}
