import { nearest } from '../shared/suggest.js'

/** Returns `Did you mean …?`, or the list of known words. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const likely = nearest(word, known)
  return likely ? `Did you mean "${prefix}${likely}"?` : `Known: ${known.map((name) => prefix + name).join(', ')}`
}
