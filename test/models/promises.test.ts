import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROMISED } from '../support/documents/promised.js'
import { root } from '../support/documents/repository.js'
import { LINKED } from './promises.js'

const SENTENCES = PROMISED.split(/(?<=[.:])\s+|^- /m)

/** The words of promises about time and concurrency. */
const TIME =
  /\b\d+ (s|ms|minutes)\b|\b(hour|every request|full text|expired|simultaneous|at a time|event loop|turns|waits?|waiting|delayed|at once|until it ends|looks? up|While|the same holds)\b/i

describe('the promises about time and concurrency', () => {
  it.each(Object.entries(LINKED))('are kept by %s', (test, promises) => {
    const source = readFileSync(`${root}${test}`, 'utf8')
    for (const [words, texts] of Object.entries(promises)) {
      expect(PROMISED.split(words), words).toHaveLength(2)
      expect([texts].flat().filter((text) => !source.includes(text))).toEqual([])
    }
  })

  it('are all linked to a test', () => {
    const timed = SENTENCES.filter((sentence) => TIME.test(sentence))
    expect(timed.length).toBeGreaterThanOrEqual(20)
    const linked = Object.values(LINKED).flatMap((promises) => Object.keys(promises))
    const isLinked = (sentence: string) => linked.some((words) => sentence.includes(words) || words.includes(sentence))
    expect(timed.filter((sentence) => !isLinked(sentence))).toEqual([])
  })
})
