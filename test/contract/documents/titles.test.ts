import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** A text and then a function: the title of a suite or a test. */
const TITLE = /\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1,\s*(?:async )?[(_{]/g
const UNPUBLISHED = /\b(?<!by )(re)?design\b|\b(issue|ticket|finding|decision|brief|review) (#|no\.? ?)?\d|#\d/i
/** A section needs the public document that it belongs to, in the title or as the name of the file. */
const SECTION = /\bsections? \d|§/i
const PUBLIC = /\bRFC \d{4}|\b(ASVS|NIST|OWASP|OpenAPI|specification)\b/
const PUBLIC_FILE = /^(rfc\d{4}|specification)\.test\.ts$/
const OWN_DOCUMENTS = new Set(documents().map((path) => posix.basename(path)))

const citesUnpublished = (title: string, file: string) =>
  UNPUBLISHED.test(title) ||
  (title.match(/[\w-]+\.md\b/g) ?? []).some((name) => !OWN_DOCUMENTS.has(name)) ||
  (SECTION.test(title) && !PUBLIC.test(title) && !PUBLIC_FILE.test(posix.basename(file)))

it.each([
  [true, 'the house (design, section 6)'],
  [true, 'closes #12'],
  [true, 'section 5: the guard'],
  [true, 'the words (style.md)'],
  [false, 'RFC 6750 section 3: challenges'],
  [false, 'finds what is by design'],
  [false, 'issues 3 tokens of SECURITY.md'],
])('an unpublished document is cited: %s for "%s"', (expected, title) => {
  expect(citesUnpublished(title, 'a.test.ts')).toBe(expected)
})

it('titles of tests cite only public documents', () => {
  const files = filesBelow('test').filter((file) => /\.test\.(ts|mjs)$/.test(file))
  const titles = files.flatMap((file) =>
    [...readFileSync(root + file, 'utf8').matchAll(TITLE)].map(([, , title = '']) => ({ file, title })),
  )
  expect(titles.length).toBeGreaterThan(2000)
  expect(titles.filter(({ file, title }) => citesUnpublished(title, file))).toEqual([])
})
