import { describe, expect, it } from 'vitest'
import { pagesBelow, readPage } from '../../support/documents/pages.js'

const PAGES = ['README.md', ...pagesBelow('docs')].map(readPage)

/** Returns the number of words, which have a letter or a digit: the lines of tables and the signs of code are none. */
const words = (text: string) => text.split(/\s+/).filter((word) => /\w/.test(word)).length

/** Returns the texts of the FAQ, without their code: the texts below its deepest headings. */
function texts(): { question: string; count: number }[] {
  const faq = readPage('docs/faq.md')
  const level = Math.max(...faq.headings.map((heading) => heading.level))
  return faq.headings
    .filter((heading) => heading.level === level)
    .map(({ text }) => ({ question: text, count: words(faq.section(`${'#'.repeat(level)} ${text}`)) }))
}

/** Returns those that have more than a number of words. */
const longer = <T extends { count: number }>(some: readonly T[], most: number) =>
  some.filter(({ count }) => count > most)

describe('the pages of the documentation', () => {
  it('are at most 36, with at most 45,000 words', () => {
    expect(PAGES.length).toBeGreaterThan(20)
    expect(PAGES.length).toBeLessThanOrEqual(36)
    // As `wc -w` counts them, with the signs of tables and code.
    expect(PAGES.flatMap(({ text }) => text.trim().split(/\s+/)).length).toBeLessThanOrEqual(45_000)
  })

  it('are guides of at most 1,400 words', () => {
    const guides = PAGES.filter(({ path }) => path.startsWith('docs/guides/'))
    expect(guides).not.toEqual([])
    expect(
      longer(
        guides.map(({ path, text }) => ({ path, count: words(text) })),
        1400,
      ),
    ).toEqual([])
  })

  it('have texts of at most 30 words in the FAQ, without their code', () => {
    expect(texts().length).toBeGreaterThan(20)
    expect(longer(texts(), 30)).toEqual([])
  })
})
