import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONTEXTS } from '../../support/documents/contexts.js'
import { examples, pagesBelow, readPage, shippedPages } from '../../support/documents/pages.js'
import { filesBelow, root } from '../../support/documents/repository.js'

const MOST_LINES = 250

/** Pages whose blocks are files. A test follows such a page from its first to its last command. */
const FOLLOWED = ['README.md', 'docs/tutorial.md']

const readme = readPage('README.md')
const duplicates = (names: readonly unknown[]) => names.filter((name, index) => names.indexOf(name) !== index)

describe('each page', () => {
  it.each(['README.md', ...pagesBelow('docs')])('%s has at most 250 lines, one title and a text below it', (path) => {
    const { text, headings } = readPage(path)
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(MOST_LINES)
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1)
    expect(text).toMatch(/^# .+\n\n\S/)
  })

  it.each(shippedPages())('%s has headings that differ', (path) => {
    if (path === 'CHANGELOG.md') return
    expect(duplicates(readPage(path).headings.map(({ anchor }) => anchor))).toEqual([])
  })

  it('can be reached from the index of the documentation', () => {
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path) || !path.endsWith('.md')) return
      seen.add(path)
      for (const link of readPage(path).links) {
        const [file = ''] = link.split('#')
        if (file !== '' && !/^[a-z]+:/.test(file)) visit(posix.join(posix.dirname(path), file))
      }
    }
    visit('docs/README.md')
    expect(pagesBelow('docs').filter((path) => !seen.has(path))).toEqual([])
  })
})

describe('each block of TypeScript or JavaScript', () => {
  const names = examples().map(({ name }) => name)

  it('has a name of its own', () => {
    expect(examples().filter(({ name }) => name === undefined)).toEqual([])
    expect(duplicates(names)).toEqual([])
  })

  it('has a context, or belongs to a page that a test follows', () => {
    const others = examples().filter(({ page }) => !FOLLOWED.includes(page))
    const followed = names.filter((name) => !others.some((block) => block.name === name))
    expect(Object.keys(CONTEXTS).filter((name) => !names.includes(name))).toEqual([])
    expect(others.map(({ name }) => name).filter((name) => !((name as string) in CONTEXTS))).toEqual([])
    expect(followed.length).toBeGreaterThan(3)
  })

  it('is run by a test', () => {
    const tests = ['test/contract/documents/examples', 'test/hosts/documents', 'test/languages']
      .flatMap(filesBelow)
      .filter((file) => /\.test\.m?[jt]s$/.test(file))
    const code = tests.map((file) => readFileSync(root + file, 'utf8')).join('\n')
    const types = new Set(['account-user']) // This block only declares types. Its test is `contract/types/types.test.ts`.
    const unused = Object.keys(CONTEXTS).filter((name) => !types.has(name) && !code.includes(`'${name}'`))
    expect(unused).toEqual([])
  })
})

it('the README shows code that runs, the commands for a clone, and links to twenty tasks', () => {
  const lines = readme.text.split('\n')
  expect(lines.slice(0, 30)).toContain('```js')
  const top = lines.slice(0, 100).join('\n')
  expect(top).toMatch(/^npm ci && npm start/m)
  expect(top).toMatch(/^npm cit/m)
  const rows = readme.tableIn('## Documentation')
  expect(rows).toHaveLength(20)
  for (const row of rows) expect(row[1], row[0]).toMatch(/^\[[^\]]+\]\(docs\/[^)]+\)$/)
})
