import { vi } from 'vitest'

export const all = <T>(count: number, ask: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

/** Counts equal values. */
export function tally(values: Iterable<string | number>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

export const statuses = (answers: readonly { status: number }[]) => tally(answers.map(({ status }) => status))

/** Returns what a function creates, with the maps that it makes. */
export function withMaps<T>(create: () => T): { made: T; maps: Map<unknown, unknown>[] } {
  const maps: Map<unknown, unknown>[] = []
  class TrackedMap extends Map {
    constructor() {
      super()
      maps.push(this)
    }
  }
  vi.stubGlobal('Map', TrackedMap)
  try {
    return { made: create(), maps }
  } finally {
    vi.unstubAllGlobals()
  }
}

/** Waits until settled promises have run their callbacks, and unhandled rejections are reported. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}

/** Creates a promise with its `resolve` and `reject`. */
export function deferred<T>() {
  let resolve = (_: T) => {}
  let reject = (_: unknown) => {}
  const promise = new Promise<T>((res, rej) => {
    resolve = res
    reject = rej
  })
  return { promise, resolve, reject }
}

/** Waits until a check passes, for at most 30 s. A busy machine needs more than the default of `vi.waitFor`, which is 1 s. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 30_000, interval: 5 })
