import { expect, it } from 'vitest'
import { complaintsOf } from '../../support/documents/plain-words/check.js'
import { readableFiles, textsOf } from '../../support/documents/plain-words/read.js'

const files = readableFiles()

it('the words of code, documents and pages are read', () => {
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'docs/tutorial.md', '.github/SECURITY.md', 'src/index.ts']),
  )
})

it('the words of every file are plain', () => {
  expect(files.flatMap(textsOf).flatMap(complaintsOf)).toEqual([])
})
