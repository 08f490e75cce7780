import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** Returns the name at the start of a call: `describe` for `describe.each(ROWS)`. */
function calleeOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return calleeOf(node.expression)
  return undefined
}

/** Returns the titles of all suites and tests in a source text. Skips expressions inside a title. */
function titlesIn(source: string): string[] {
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) ? node.arguments : []
    if (title && /^(describe|it|test)$/.test(calleeOf((node as ts.CallExpression).expression) ?? '')) {
      if (ts.isStringLiteralLike(title)) titles.push(title.text)
      if (ts.isTemplateExpression(title))
        titles.push(title.head.text + title.templateSpans.map(({ literal }) => literal.text).join(''))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest, true))
  return titles
}

const UNPUBLISHED = /\b(?<!by )(re)?design\b|\b(issue|ticket|finding|decision|brief|review) (#|no\.? ?)?\d|#\d/i
/** A section needs the public document that it belongs to, in the title or as the name of the file. */
const SECTION = /\bsections? \d|§/i
const PUBLIC = /\bRFC \d{4}|\b(ASVS|NIST|OWASP|OpenAPI|specification)\b/
const PUBLIC_FILE = /^(rfc\d{4}|specification)\.test\.ts$/

const OWN_DOCUMENTS = new Set(documents().map((path) => posix.basename(path)))
const namesForeignFile = (title: string) =>
  (title.match(/[\w-]+\.md\b/g) ?? []).some((name) => !OWN_DOCUMENTS.has(name))

const citesUnpublished = (title: string, file = 'a.test.ts') =>
  UNPUBLISHED.test(title) ||
  namesForeignFile(title) ||
  (SECTION.test(title) && !PUBLIC.test(title) && !PUBLIC_FILE.test(posix.basename(file)))

describe('test titles', () => {
  it('are found in every kind of call', () => {
    const source = `
      describe('a', () => { it.each(ROWS)('b %s', () => {}) })
      test.skipIf(x)(\`c \${d} e\`, () => {})
      describe.each(ROWS)('f', () => { expect(g).toBe('h') })`
    expect(titlesIn(source)).toEqual(['a', 'b %s', 'c  e', 'f'])
  })

  it.each([
    'the house (design, section 6)',
    'fixes issue 3',
    'closes #12',
    'keeps decision 4',
    'section 5: the guard',
    'the words (style.md)',
  ])('may not cite an unpublished document: %s', (title) => {
    expect(citesUnpublished(title)).toBe(true)
  })

  it.each([
    'RFC 6750 section 3: challenges',
    'finds what is by design',
    'issues 3 tokens',
    'the promises of SECURITY.md',
    'an issuer',
  ])('may cite a public document: %s', (title) => {
    expect(citesUnpublished(title)).toBe(false)
  })

  it('cite only public documents', () => {
    const files = filesBelow('test').filter((file) => /\.test\.(ts|mjs)$/.test(file))
    const titles = files.flatMap((file) =>
      titlesIn(readFileSync(root + file, 'utf8')).map((title) => ({ file, title })),
    )
    expect(titles.length).toBeGreaterThan(1000)
    const wrong = titles.filter(({ file, title }) => citesUnpublished(title, file))
    expect(wrong.map(({ file, title }) => `${file}: ${title}`)).toEqual([])
  })
})
