import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONTEXTS } from '../../support/documents/contexts.js'
import {
  examples,
  isWeb,
  type Page,
  pagesBelow,
  readPage,
  shippedPages,
  shippedPictures,
  targetOf,
} from '../../support/documents/pages.js'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** The page whose blocks are files. A test follows it from its first to its last command. */
const FOLLOWED = 'docs/tutorial.md'

const readme = readPage('README.md')
const duplicates = (names: readonly unknown[]) => names.filter((name, index) => names.indexOf(name) !== index)

const PAGES = documents().map(readPage)
const SHIPPED = new Set([...shippedPages(), ...shippedPictures(), 'LICENSE'])

const anchorsOf = (file: string) => readPage(file).headings.map(({ anchor }) => anchor)

describe('each page', () => {
  it.each(['README.md', ...pagesBelow('docs')])('%s has few lines, one title and a text below it', (path) => {
    const { text, headings } = readPage(path)
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(360)
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1)
    expect(text).toMatch(/^# .+\n\n\S/)
  })

  it.each(shippedPages())('%s has headings that differ', (path) => {
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
  it.each(PAGES)('$path lead to files and to headings, or to the web by https', ({ path, links }) => {
    const local = links.filter((link) => !isWeb(link)).map((link) => ({ link, ...targetOf(path, link) }))
    expect(local.filter(({ file }) => !existsSync(root + file))).toEqual([])
    const toHeadings = local.filter(({ anchor }) => anchor !== undefined)
    const isClear = ({ file, anchor }: (typeof local)[number]) =>
      anchorsOf(file).filter((one) => one === anchor).length === 1
    expect(toHeadings.filter((one) => !isClear(one))).toEqual([])
    expect(links.filter((link) => isWeb(link) && !link.startsWith('https://'))).toEqual([])
  })

  it.each(PAGES.filter(({ path }) => SHIPPED.has(path)))(
    '$path lead to files of the package, or to the repository by https',
    ({ path, links }) => {
      const relative = links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => targetOf(path, link).file)
      expect(relative.filter((file) => !SHIPPED.has(file))).toEqual([])
    },
  )
})

/** Paths that the reader or a command creates. */
const CREATED = new Set(['app.mjs', 'example-app/.data', 'example-app/.data/mails', 'host.json', 'main.ts'])
const OWN_FOLDER = /^(src|test|example-app|docs|\.github|\.ci|dist)(\/|$)/
const FILE_NAME = /^[\w.@-]+\.([cm]?[jt]s|json|md|css|html|ya?ml|conf|service|sql|sh)$/

/** Returns whether a word is meant as a path of this project. */
const isPath = (word: string) => /^\.?[\w@-][\w.@/-]*$/.test(word) && (OWN_FOLDER.test(word) || FILE_NAME.test(word))

/** Returns the source of a compiled file. */
const sourceOf = (path: string) =>
  path
    .replace(/^dist\//, 'src/')
    .replace('/dist/', '/')
    .replace(/\.js$/, '.ts')

const exists = (path: string) => existsSync(root + path) || existsSync(root + sourceOf(path))

/**
 * Returns the paths that a document mentions and that do not exist. A path is relative to the root of the project or to the
 * folder of the document. The README of a folder is its map: it may name a file below the folder without the path.
 */
function missingPaths({ path: document, prose, blocks }: Page): string[] {
  const folder = posix.dirname(document)
  const isMap = folder !== '.' && posix.basename(document) === 'README.md'
  const below = new Set(isMap ? filesBelow(folder).map((path) => posix.basename(path)) : [])
  const found = (path: string) =>
    CREATED.has(path) || exists(path) || exists(posix.join(folder, path)) || below.has(path)

  const code = [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, words = '']) => words.split(/\s+/))
  const wordsOf = (languages: RegExp) =>
    blocks.filter(({ language }) => languages.test(language)).flatMap(({ code }) => code.split(/[\s'"=,()]+/))
  const commands = wordsOf(/^(sh|bash|shell|console)$/).filter((word) => OWN_FOLDER.test(word) && !/[*{<$]/.test(word))
  const trees = isMap ? wordsOf(/^(text)?$/).filter(isPath) : []
  return [...code.filter(isPath), ...commands, ...trees].filter((path) => !found(path))
}

const { scripts }: { scripts: object } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** Returns the names of npm scripts that a document mentions and that do not exist. */
const missingScripts = ({ text }: Page) =>
  [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].flatMap(([, name = '']) => (name in scripts ? [] : name))

describe('the paths and npm scripts that', () => {
  it.each(PAGES)('$path mentions exist', (page) => {
    expect([...missingPaths(page), ...missingScripts(page)]).toEqual([])
  })

  it('are missing are found in text, commands and trees', () => {
    const blocks = ['sh', ''].map((language) => ({
      page: '',
      language,
      name: '',
      code: 'vitest test/none.ts gone.mjs',
    }))
    const page = { ...readme, path: 'test/README.md', prose: '`src/none.ts`, `login.ts`, `support/http.ts`', blocks }
    expect(missingPaths(page)).toEqual(['src/none.ts', 'login.ts', 'test/none.ts', 'test/none.ts', 'gone.mjs'])
  })
})

describe('each block of TypeScript or JavaScript', () => {
  const names = examples().map(({ name }) => name)

  it('has a name of its own', () => {
    expect(examples().filter(({ name }) => name === undefined)).toEqual([])
    expect(duplicates(names)).toEqual([])
  })

  it('is run by a test, or belongs to the page that a test follows', () => {
    const run = examples().filter(({ page, name = '' }) => page !== FOLLOWED || name in CONTEXTS)
    const code = ['test/contract/documents/examples', 'test/hosts', 'test/languages', 'test/contract/types']
      .flatMap(filesBelow)
      .filter((file) => /\.test\.m?[jt]s$/.test(file))
      .map((file) => readFileSync(root + file, 'utf8'))
      .join('\n')
    expect(run.filter(({ name }) => !code.includes(`'${name}'`))).toEqual([])
    expect(Object.keys(CONTEXTS).filter((name) => !names.includes(name))).toEqual([])
  })
})

describe('the README', () => {
  it('shows the commands for the project, and links to eight tasks', () => {
    expect(readme.text).toMatch(/^npm ci && npm start/m)
    expect(readme.text).toMatch(/^npm cit/m)
    const rows = readme.tableIn('## Documentation')
    expect(rows).toHaveLength(8)
    for (const row of rows) expect(row[1], row[0]).toMatch(/^\[[^\]]+\]\(docs\/[^)]+\)$/)
  })
})
