// The saved cases: on each line, the name of a subject and a case.
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('./corpus.jsonl', import.meta.url)

const linesOf = ({ name }, text) => text.split('\n').filter((line) => line.startsWith(`["${name}",`))

/** Returns the saved cases of a subject. */
export const readCorpus = (subject) => linesOf(subject, readFileSync(FILE, 'utf8')).map((line) => JSON.parse(line)[1])

/** Saves the fewest short cases that together have all features of the given entries. */
export function saveCorpus(subject, entries) {
  const sorted = entries
    .map(({ one, features }) => ({ line: JSON.stringify([subject.name, one]), features }))
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
  const saved = readFileSync(FILE, 'utf8')
  const old = new Set(linesOf(subject, saved))
  const others = saved.split('\n').filter((line) => line !== '' && !old.has(line))
  writeFileSync(FILE, `${[...others, ...[...lines].sort()].join('\n')}\n`)
  return lines.size
}
