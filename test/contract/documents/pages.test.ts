import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONTEXTS } from '../../support/documents/contexts.js'
import { examples, isRepositoryOnly, pagesBelow, readPage, shippedPages } from '../../support/documents/pages.js'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** The page whose blocks are files. A test follows it from its first to its last command. */
const FOLLOWED = 'docs/tutorial.md'

const readme = readPage('README.md')
const duplicates = (names: readonly unknown[]) => names.filter((name, index) => names.indexOf(name) !== index)

const PAGES = documents().map(readPage)
const SHIPPED = new Set([...shippedPages(), 'LICENSE'])

/** Returns whether a link leads to the web. */
const isWeb = (target: string) => /^[a-z]+:/.test(target)

/** Returns the file and the anchor that a link of a page leads to. */
function targetOf(page: string, link: string): { file: string; anchor: string | undefined } {
  const [path = '', anchor] = link.split('#')
  return { file: path === '' ? page : posix.join(posix.dirname(page), path), anchor }
}

const anchorsOf = (file: string) => readPage(file).headings.map(({ anchor }) => anchor)

describe('each page', () => {
  it.each(['README.md', ...pagesBelow('docs')])('%s has at most 250 lines, one title and a text below it', (path) => {
    const { text, headings } = readPage(path)
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(250)
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1)
    expect(text).toMatch(/^# .+\n\n\S/)
  })

  it.each(shippedPages().filter((path) => path !== 'CHANGELOG.md'))('%s has headings that differ', (path) => {
    expect(duplicates(readPage(path).headings.map(({ anchor }) => anchor))).toEqual([])
  })

  it('can be reached from the index of the documentation', () => {
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path) || !path.endsWith('.md')) return
      seen.add(path)
      for (const link of readPage(path).links) if (!isWeb(link)) visit(targetOf(path, link).file)
    }
    visit('docs/README.md')
    expect(pagesBelow('docs').filter((path) => !seen.has(path))).toEqual([])
  })
})

describe('the links of', () => {
  it.each(PAGES)('$path lead to files and to headings', ({ path, links }) => {
    const local = links.filter((link) => !isWeb(link)).map((link) => ({ link, ...targetOf(path, link) }))
    expect(local.filter(({ file }) => !existsSync(root + file))).toEqual([])
    const toHeadings = local.filter(({ anchor }) => anchor !== undefined)
    const unclear = toHeadings.filter(
      ({ file, anchor }) => anchorsOf(file).filter((one) => one === anchor).length !== 1,
    )
    expect(unclear).toEqual([])
  })

  it.each(PAGES)('$path to the web are https', ({ links }) => {
    expect(links.filter((link) => isWeb(link) && !link.startsWith('https://'))).toEqual([])
  })

  it.each(PAGES.filter(({ path }) => SHIPPED.has(path)))(
    '$path lead to files of the package, or of the parts of docs that are only in the repository',
    ({ path, links }) => {
      const files = links.filter((link) => !isWeb(link)).map((link) => targetOf(path, link).file)
      expect(files.filter((file) => !SHIPPED.has(file) && !isRepositoryOnly(file))).toEqual([])
    },
  )
})

describe('each block of TypeScript or JavaScript', () => {
  const names = examples().map(({ name }) => name)

  it('has a name of its own', () => {
    expect(examples().filter(({ name }) => name === undefined)).toEqual([])
    expect(duplicates(names)).toEqual([])
  })

  it('is run by a test, or belongs to the page that a test follows', () => {
    const run = examples().filter(({ page, name = '' }) => page !== FOLLOWED || name in CONTEXTS)
    const code = ['test/contract/documents/examples', 'test/hosts/documents', 'test/languages', 'test/contract/types']
      .flatMap(filesBelow)
      .filter((file) => /\.test\.m?[jt]s$/.test(file))
      .map((file) => readFileSync(root + file, 'utf8'))
      .join('\n')
    expect(run.filter(({ name }) => !code.includes(`'${name}'`))).toEqual([])
    expect(Object.keys(CONTEXTS).filter((name) => !names.includes(name))).toEqual([])
  })
})

describe('the README', () => {
  it('has at most 900 words without its code', () => {
    const words = readme.prose.replace(/<!--.*?-->/g, '').match(/[^\s|]*[\p{L}\p{N}][^\s|]*/gu)
    expect(words?.length).toBeGreaterThan(500)
    expect(words?.length).toBeLessThanOrEqual(900)
  })

  it('makes its point in four lines of code, before anything else', () => {
    expect(readme.text.indexOf('```ts')).toBeLessThan(readme.text.indexOf('\n## '))
    expect(readme.blocks[0]?.code.trim().split('\n')).toHaveLength(4)
  })

  it('shows the commands for the project, and links to ten tasks', () => {
    expect(readme.text).toMatch(/^npm ci && npm start/m)
    expect(readme.text).toMatch(/^npm cit/m)
    const rows = readme.tableIn('## Documentation')
    expect(rows).toHaveLength(10)
    for (const row of rows) expect(row[1], row[0]).toMatch(/^\[[^\]]+\]\(docs\/[^)]+\)$/)
  })
})
