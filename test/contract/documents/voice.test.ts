import nlp from 'compromise'
import { describe, expect, it } from 'vitest'
import { pagesBelow, readPage } from '../../support/documents/pages.js'

/** Names of things that are three nouns in the field's own language. */
const TERMS = /\b(?:key management service|load balancer|failed-login limit|access token)s?\b/gi

/** Returns the sentences of a page's paragraphs and lists, with `CODE` for code. Tables and headings have no sentences. */
const sentencesOf = (path: string): string[] =>
  readPage(path)
    .prose.replace(/^(?:#|\||<).*$/gm, '')
    .replace(/^\s*(?:[-*>]|\d+\.) +/gm, '\n\n')
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}/g, '')
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph
        .replace(/\s+/g, ' ')
        .trim()
        .split(/(?<=[.!?:])\s+(?=[A-Z])/),
    )
    .filter((sentence) => sentence.split(' ').length > 3)

/** Returns three or more common nouns in a row, for example "signature verification failure". */
function nounPilesOf(sentence: string): string[] {
  const { terms } = nlp(sentence.replace(TERMS, 'it')).json()[0]
  const piles: string[][] = [[]]
  for (const { text, tags, post } of terms) {
    const isNoun =
      (tags.includes('Singular') || tags.includes('Plural')) && /^(?!(?:in|reach|stay)$)[a-z-]+$/.test(text)
    if (isNoun && !tags.some((tag: string) => /Possessive|Pronoun|ProperNoun/.test(tag))) piles.at(-1)?.push(text)
    if (!isNoun || post.trim() !== '') piles.push([])
  }
  return piles.filter(({ length }) => length > 2).map((words) => words.join(' '))
}

const GUIDES = ['docs/tutorial.md', 'docs/faq.md', ...pagesBelow('docs/guides')]
const SENTENCES = GUIDES.flatMap((path) => sentencesOf(path).map((sentence) => ({ path, sentence })))

/** Returns the percentage of sentences that match, and the sentences, for the message of a test that fails. */
function share(pattern: RegExp) {
  const found = SENTENCES.filter(({ sentence }) => pattern.test(sentence))
  return {
    percent: (100 * found.length) / SENTENCES.length,
    found: found.map(({ path, sentence }) => `${path}: ${sentence}`),
  }
}

describe('the guides', () => {
  it('speak to the reader in at least 20 % of their sentences', () => {
    expect(share(/\byou(?:r|rs|rself)?\b/i).percent).toBeGreaterThanOrEqual(20)
  })

  it.each([
    ['open with "With" or "Without"', /^With(?:out)?\b/, 1],
    ['say "has" or "have"', /\b(?:has|have)\b/i, 6],
  ])('%s in few sentences', (_what, pattern, limit) => {
    const { percent, found } = share(pattern)
    expect(percent, found.join('\n')).toBeLessThan(limit)
  })

  it('pile up no nouns', () => {
    expect(nounPilesOf('The guard logs the signature verification failure count, once.')).toHaveLength(1)
    expect(SENTENCES.flatMap(({ path, sentence }) => nounPilesOf(sentence).map((pile) => `${path}: ${pile}`))).toEqual(
      [],
    )
  })
})
