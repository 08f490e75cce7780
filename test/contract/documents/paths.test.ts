import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** Paths that the reader or a command creates. */
const CREATED = new Set(['app.mjs', 'docs/reference/api', 'example-app/.data', 'main.ts'])
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

interface Block {
  language: string
  text: string
}

/** Splits a document into its text and its code blocks. */
function split(source: string): { text: string; blocks: Block[] } {
  const blocks: Block[] = []
  const text = source.replace(/^```(\S*)\n([\s\S]*?)^```$/gm, (_, language: string, block: string) => {
    blocks.push({ language, text: block })
    return ''
  })
  return { text, blocks }
}

/**
 * Returns the paths that a document mentions and that do not exist. A path is relative to the root of the project or to the
 * folder of the document. The README of a folder is its map: it may name a file below the folder without the path.
 */
function missingPaths(document: string, source: string): string[] {
  const folder = posix.dirname(document)
  const { text, blocks } = split(source)
  const isMap = folder !== '.' && posix.basename(document) === 'README.md'
  const below = new Set(isMap ? filesBelow(folder).map((path) => posix.basename(path)) : [])
  const found = (path: string) =>
    CREATED.has(path) || exists(path) || exists(posix.join(folder, path)) || below.has(path)

  const code = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, words = '']) => words.split(/\s+/))
  const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target)
  const local = links.filter((target) => !/^[a-z]+:/.test(target))
  const wordsOf = (languages: RegExp) =>
    blocks.filter(({ language }) => languages.test(language)).flatMap((block) => block.text.split(/[\s'"=,()]+/))
  const commands = wordsOf(/^(sh|bash|shell|console)$/).filter((word) => OWN_FOLDER.test(word) && !/[*{<$]/.test(word))
  const trees = isMap ? wordsOf(/^(text)?$/).filter(isPath) : []
  return [...code.filter(isPath), ...commands, ...trees, ...local].filter((path) => !found(path))
}

const scripts = (JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }).scripts

/** Returns the names of npm scripts that a document mentions and that do not exist. */
const missingScripts = (source: string) =>
  [...source.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !(name in scripts))

describe('a path in a document', () => {
  it.each<[string, string, string[]]>([
    ['a file', 'see `src/index.ts` and `test/support`', []],
    ['a compiled file', '`node example-app/dist/main.js`', []],
    ['a file beside the document', '`README.md`, [security](.github/SECURITY.md)', []],
    ['a file that is not there', 'see `src/nothing.ts`', ['src/nothing.ts']],
    ['a name without its folder', 'see `login.ts`', ['login.ts']],
    ['a link to nothing', '[x](docs/nothing.md#a)', ['docs/nothing.md']],
    ['a command', '```sh\nnpx vitest run test/nothing.test.ts\n```', ['test/nothing.test.ts']],
    ['code of a host', "```ts\nimport './nothing.js'\n```", []],
    ['no path', '`https://api.example.com/src/x.ts`, `GET /docs`, `a.b`', []],
  ])('%s', (_, source, missing) => {
    expect(missingPaths('README.md', source)).toEqual(missing)
  })

  it('may be relative to the folder of the document', () => {
    expect(missingPaths('test/README.md', '`support/http.ts`, `vitest.config.ts`')).toEqual([])
  })

  it('may be only a name in the map of a folder', () => {
    const map = 'see `http-client.mjs`, `nothing.ts`\n```\nrunner/  counts.mjs gone.mjs\n```\n'
    expect(missingPaths('test/README.md', map)).toEqual(['nothing.ts', 'gone.mjs'])
  })

  it('may not name an npm script that does not exist', () => {
    expect(missingScripts('`npm run build`, `npm run nothing`')).toEqual(['nothing'])
  })
})

describe('documents', () => {
  it('are found', () => {
    expect(documents()).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', '.github/SECURITY.md']))
  })

  it.each(documents())('%s mentions only paths and npm scripts that exist', (document) => {
    const source = readFileSync(root + document, 'utf8')
    expect([...missingPaths(document, source), ...missingScripts(source)]).toEqual([])
  })
})
