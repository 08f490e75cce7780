import { own } from './values.js'

/** Words of other packages and tools, each with the known word that it means, or with a sentence. */
export type Aliases = Readonly<Record<string, string>>

/**
 * Returns the known word that a mistyped word probably means: the letters are the same except for a plural, one contains the other, or
 * at most two letters differ. Ignores the case.
 */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const same = known.find((name) => lettersOf(name) === lettersOf(word))
  if (same) return same
  const plain = word.toLowerCase()
  const isPart = (name: string) => name.includes(plain) || plain.startsWith(name)
  const part = known.find((name) => plain.length > 2 && isPart(name.toLowerCase()))
  if (part) return part
  const [best] = known
    .map((name) => ({ name, distance: distanceOf(plain, name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.min(2, best.name.length - 1) ? best.name : undefined
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z\d]|s$/g, '')

/** Returns "Did you mean …?" for an object whose method has another name, or an empty text. */
export function methodHint(value: unknown, wanted: string, known: readonly string[]): string {
  // Arrays have find() too.
  for (let holder = Array.isArray(value) ? null : Object(value); holder; holder = Object.getPrototypeOf(holder)) {
    const names = Object.getOwnPropertyNames(holder)
    const other = names.find((name) => /^(find|get|load|fetch|look)/i.test(name) && !known.includes(name))
    if (other) return `Did you mean "${wanted}" instead of "${other}"?`
  }
  return ''
}

interface SuggestionWords {
  /** The words before the list of all names. */
  known?: string | undefined
  /** The characters before each name. */
  prefix?: string | undefined
  aliases?: Aliases | undefined
}

/** Returns "Did you mean …?" with the closest name, the sentence of an alias, or the list of all names. */
export function suggestion(word: string, names: readonly string[], words: SuggestionWords = {}): string {
  const { known = 'Known', prefix = '', aliases = {} } = words
  const alias = own(aliases, word)
  if (alias?.includes(' ')) return alias
  const likely = alias ?? suggest(word, names)
  return likely ? `Did you mean "${prefix}${likely}"?` : `${known}: ${names.map((name) => prefix + name).join(', ')}`
}

/** Counts the letters to insert, delete or replace (Levenshtein distance). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
