// The saved cases: a file for each subject, with one case on each line.
import { readFileSync, writeFileSync } from 'node:fs'

const fileOf = ({ name }) => new URL(`./corpus/${name}.jsonl`, import.meta.url)

/** Returns the saved cases of a subject. */
export const readCorpus = (subject) =>
  readFileSync(fileOf(subject), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** Saves the fewest short cases that together have all features of the given entries. */
export function saveCorpus(subject, entries) {
  const sorted = entries
    .map(({ one, features }) => ({ line: JSON.stringify(one), features }))
    .sort((a, b) => a.line.length - b.line.length)
  const missing = new Set(sorted.flatMap(({ features }) => features))
  const lines = new Set()
  while (missing.size > 0) {
    let best
    let most = 0
    for (const entry of sorted) {
      const count = entry.features.filter((feature) => missing.has(feature)).length
      if (count > most) {
        best = entry
        most = count
      }
    }
    lines.add(best.line)
    for (const feature of best.features) missing.delete(feature)
  }
  writeFileSync(fileOf(subject), `${[...lines].sort().join('\n')}\n`)
  return lines.size
}
