import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { equalLetters } from '../../../src/limits/equal-letters.js'
import { root } from '../../support/documents/repository.js'
import * as icu from '../../support/values/equal-letters.js'

const FILE = `${root}src/limits/equal-letters.ts`
const UPDATE = process.env['UPDATE_EQUAL_LETTERS'] === '1'

// The mutants of a room are written into the text of the file.
it.skipIf('MUTATION_ROOM' in process.env)(
  'the letters are those that the test support writes, each with its text',
  () => {
    const text = readFileSync(FILE, 'utf8')
    const list = /(?<=const RUNS = \[\n)[^\]]*/
    if (UPDATE) {
      writeFileSync(icu.TABLE, `${icu.writtenCharacters(icu.knownCharacters())}\n`)
      const lines = icu.written(icu.equalLetters()).match(/.{1,110}(?: |$)/g) ?? []
      writeFileSync(FILE, text.replace(list, lines.map((line) => `  '${line.trim()}',\n`).join('')))
    }
    const runs = [...(list.exec(readFileSync(FILE, 'utf8'))?.[0] ?? '').matchAll(/'(.*)'/g)].map(([, line]) => line)
    expect(icu.written(equalLetters())).toBe(runs.join(' '))
  },
)

it('the letters of a text are their own texts, so a key is its own key', () => {
  const letters = equalLetters()
  const wrong = [...letters].filter(([, text]) => [...text].some((letter) => letters.has(letter)))
  expect(wrong).toEqual([])
  expect(letters.size).toBeGreaterThan(1800)
})
