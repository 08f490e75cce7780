// The saved cases, and mutants of cases. A mutant changes texts and numbers of a case, or takes them from another one.
import { readFileSync } from 'node:fs'

/** Returns the saved cases of a subject. Each line has the name of a subject and a case. */
export const readCorpus = ({ name, corpus = name }) =>
  readFileSync(new URL('./corpus.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`["${corpus}",`))
    .map((line) => JSON.parse(line)[1])

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
  return { below, pick: (list) => list[below(list.length)], chance: (share) => next() < share }
}

/** Returns the paths of all texts and numbers in a case, without the members that `fixed` names. */
function leavesOf(value, fixed, path = []) {
  if (typeof value === 'string' || typeof value === 'number') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    path.length === 0 && fixed.includes(name) ? [] : leavesOf(member, fixed, [...path, name]),
  )
}

const at = (value, path) => path.reduce((member, name) => member?.[name], value)

function withLeaf(value, [name, ...rest], leaf) {
  if (name === undefined) return leaf
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[name] = withLeaf(value[name], rest, leaf)
  return copy
}

const splice = (text, start, removed, put = '') => text.slice(0, start) + put + text.slice(start + removed)

const MUTATIONS = [
  (text, r) => splice(text, r.below(text.length), 1, String.fromCharCode(r.below(256))),
  (text, r) => {
    const i = r.below(text.length)
    return splice(text, i, 1, String.fromCharCode((text.charCodeAt(i) ^ (1 << r.below(8))) & 255))
  },
  (text, r) => splice(text, r.below(text.length + 1), 0, String.fromCharCode(r.below(256))),
  (text, r) => splice(text, r.below(text.length), 1 + r.below(4)),
  (text, r) => {
    const start = r.below(text.length)
    return splice(text, r.below(text.length + 1), 0, text.slice(start, start + 1 + r.below(30)))
  },
  (text, r) => splice(text, r.below(text.length), r.below(40)),
  (text, r, other) => {
    const start = r.below(other.length)
    return splice(text, r.below(text.length + 1), r.below(10), other.slice(start, start + 1 + r.below(30)))
  },
]

/** Returns a mutant of a case. `other` is another case of the same subject. */
export function mutant(subject, one, other, r) {
  // Members that are one of a few values come from the other case, or the case has none of them.
  const base = r.chance(0.1) ? { ...one, ...Object.fromEntries(subject.fixed.map((name) => [name, other[name]])) } : one
  const name = r.pick(Object.keys(one))
  if (r.chance(0.15) && !subject.fixed.includes(name)) return { ...base, [name]: other[name] }
  let changed = base
  for (let i = 0; i <= r.below(3); i++) {
    const path = r.pick(leavesOf(changed, subject.fixed))
    if (!path) return changed
    const leaf = at(changed, path)
    const foreign = at(other, path)
    const text = typeof foreign === 'string' ? foreign : ''
    const next = typeof leaf === 'number' ? leaf + r.below(9) - 4 : r.pick(MUTATIONS)(leaf, r, text)
    changed = withLeaf(changed, path, next)
  }
  return changed
}
