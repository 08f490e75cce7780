import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root } from '../support/documents/repository.js'
import { LINKED } from './promises.js'

const PAGE = readFileSync(`${root}docs/explanation/security.md`, 'utf8').replace(/\n {2,}/g, ' ')
const PROMISED = PAGE.slice(PAGE.indexOf('## Promises'), PAGE.indexOf('## Trusted components'))
const SENTENCES = PROMISED.split(/(?<=[.:])\s+|^- /m)

/** The words of promises about time and concurrency. */
const TIME =
  /\b\d+ (s|ms|minutes)\b|\b(hour|every request|whole text|expired|simultaneous|at a time|event loop|turns|waits?|waiting|delayed|at once|until it ends|look up|While|the same holds)\b/i

/** Returns the number of places at which a text occurs. */
const countOf = (text: string, part: string) => text.split(part).length - 1

describe('the promises about time and concurrency', () => {
  it.each(LINKED.map((linked) => [linked.words, linked] as const))('%s: has a test', (words, { test, texts }) => {
    expect(countOf(PROMISED, words)).toBe(1)
    const source = readFileSync(`${root}${test}`, 'utf8')
    expect(texts.filter((text) => !source.includes(text))).toEqual([])
  })

  it('are all linked to a test', () => {
    const timed = SENTENCES.filter((sentence) => TIME.test(sentence))
    expect(timed.length).toBeGreaterThanOrEqual(20)
    const isLinked = (sentence: string) =>
      LINKED.some(({ words }) => sentence.includes(words) || words.includes(sentence))
    expect(timed.filter((sentence) => !isLinked(sentence))).toEqual([])
  })
})
