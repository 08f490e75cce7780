/** Creates a seeded generator (mulberry32). The same seed repeats a run. */
export function random(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n) => Math.floor(next() * n)
  return {
    below,
    pick: (list) => list[below(list.length)],
    chance: (share) => next() < share,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
    text: (length, letters) => Array.from({ length }, () => letters[below(letters.length)]).join(''),
  }
}

/** Returns the seeds of a run. They start at `--seed` or at a random number. */
export function seeds(count) {
  const at = process.argv.indexOf('--seed')
  const first = at > 0 ? Number(process.argv[at + 1]) : Math.floor(Math.random() * 2 ** 31)
  return Array.from({ length: at > 0 && process.argv[at + 2] !== '--all' ? 1 : count }, (_, i) => first + i)
}

export const say = (line) => process.stdout.write(`${line}\n`)
