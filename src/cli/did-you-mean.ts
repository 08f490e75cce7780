import { nearest } from '../shared/suggest.js'

/** `Did you mean …?`, or which there are. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const likely = nearest(word, known)
  return likely ? `Did you mean "${prefix}${likely}"?` : `There are: ${known.map((name) => prefix + name).join(', ')}`
}
