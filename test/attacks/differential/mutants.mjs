// The saved cases, and mutants of cases. A mutant changes texts and numbers of a case, or takes them from another one.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { byteString, edited, pick, weighted } from './bytes.mjs'

/** Returns the saved cases of a subject. Each line has the name of a subject and a case. */
export const readCorpus = ({ name, corpus = name }) =>
  readFileSync(new URL('./corpus.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`["${corpus}",`))
    .map((line) => JSON.parse(line)[1])

/** Generates what a change inserts: a byte, the old byte with another bit, or a part of this text or of the other one. */
const insertion = fc.oneof(
  byteString(1).map((byte) => () => byte),
  fc.nat(7).map((bit) => (text, at) => String.fromCharCode((text.charCodeAt(at) ^ (1 << bit)) & 255)),
  fc.tuple(fc.boolean(), fc.nat(), fc.nat(30)).map(([isOwn, start, length]) => (text, _, other) => {
    const from = isOwn ? text : other
    const first = start % (from.length + 1)
    return from.slice(first, first + length)
  }),
)
const change = fc.record({
  leaf: fc.nat(),
  step: fc.integer({ min: -4, max: 4 }),
  at: fc.nat(),
  removed: fc.oneof(pick(0, 1, 1, 1), fc.nat(40)),
  insertion,
})

/** Returns the places of all texts and numbers in a value, each with what another value has there. */
function leavesOf(holder, other, fixed = []) {
  return Object.entries(holder).flatMap(([name, value]) => {
    if (fixed.includes(name)) return []
    if (typeof value === 'object' && value !== null) return leavesOf(value, other?.[name])
    return ['string', 'number'].includes(typeof value) ? [{ holder, name, foreign: other?.[name] }] : []
  })
}

/** Generates mutants of cases. Members that are one of a few values (`fixed`) only come from other cases. */
export function mutants({ fixed }, pool) {
  const names = Object.keys(pool[0]).filter((name) => !fixed.includes(name))
  const taken = weighted([16, fc.constant([])], [2, fc.constant(fixed)], [3, fc.tuple(pick(...names))])
  const cases = fc.tuple(pick(...pool), pick(...pool), taken, fc.array(change, { minLength: 1, maxLength: 3 }))
  return cases.map(([one, other, members, changes]) => {
    const mutant = structuredClone({ ...one, ...Object.fromEntries(members.map((name) => [name, other[name]])) })
    for (const { leaf, step, at, removed, insertion } of changes) {
      const leaves = leavesOf(mutant, other, fixed)
      if (leaves.length === 0) break
      const { holder, name, foreign } = leaves[leaf % leaves.length]
      const value = holder[name]
      const index = at % (`${value}`.length + 1)
      holder[name] =
        typeof value === 'number'
          ? value + step
          : edited(value, [[index, removed, insertion(value, index, typeof foreign === 'string' ? foreign : '')]])
    }
    return mutant
  })
}
