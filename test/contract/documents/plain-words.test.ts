import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { complaintsOf } from '../../support/documents/plain-words/check.js'
import { readableFiles, textsOf } from '../../support/documents/plain-words/read.js'

/** Files, folders without their subfolders, and whole trees (`/**`) whose texts are still to be rewritten. */
const NOT_YET: readonly string[] = ['README.md']

const covers = (entry: string, file: string) =>
  file === entry || posix.dirname(file) === entry || (entry.endsWith('/**') && file.startsWith(entry.slice(0, -2)))

const FILES = readableFiles().map((file) => ({ file, complaints: textsOf(file).flatMap(complaintsOf) }))

describe('the words of every file', () => {
  it('are read from code, documents and pages', () => {
    const files = FILES.map(({ file }) => file)
    expect(files).toEqual(expect.arrayContaining(['README.md', '.github/SECURITY.md', 'src/index.ts']))
  })

  it('are plain', () => {
    const done = FILES.filter(({ file }) => !NOT_YET.some((entry) => covers(entry, file)))
    expect(done.flatMap(({ complaints }) => complaints)).toEqual([])
  })

  it.each(NOT_YET)('are not plain yet in %s; remove the entry when they are', (entry) => {
    expect(FILES.filter(({ file }) => covers(entry, file)).flatMap(({ complaints }) => complaints)).not.toEqual([])
  })
})
