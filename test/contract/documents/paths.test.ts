import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** Paths that the reader or a command creates. */
const CREATED = new Set(['app.mjs', 'docs/reference/api', 'example-app/.data', 'host.json', 'main.ts'])
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

/** Splits a document into its text and its code blocks. */
function split(source: string) {
  const blocks: { language: string; text: string }[] = []
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
  const wordsOf = (languages: RegExp) =>
    blocks.filter(({ language }) => languages.test(language)).flatMap((block) => block.text.split(/[\s'"=,()]+/))
  const commands = wordsOf(/^(sh|bash|shell|console)$/).filter((word) => OWN_FOLDER.test(word) && !/[*{<$]/.test(word))
  const trees = isMap ? wordsOf(/^(text)?$/).filter(isPath) : []
  return [...code.filter(isPath), ...commands, ...trees].filter((path) => !found(path))
}

const scripts = (JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }).scripts

/** Returns the names of npm scripts that a document mentions and that do not exist. */
const missingScripts = (source: string) =>
  [...source.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !(name in scripts))

it.each<[document: string, source: string, missing: string[]]>([
  ['README.md', 'see `src/index.ts`, `test/support`, `node example-app/dist/main.js`, `GET /docs`, `a.b`', []],
  ['README.md', 'see `src/nothing.ts`, `login.ts`', ['src/nothing.ts', 'login.ts']],
  ['README.md', '```sh\nnpx vitest run test/nothing.test.ts\n```', ['test/nothing.test.ts']],
  ['README.md', "```ts\nimport './nothing.js'\n```", []],
  ['test/README.md', '`support/http.ts`, `http-client.mjs`, `nothing.ts`', ['nothing.ts']],
  ['test/README.md', '```\nrunner/  counts.mjs gone.mjs\n```\n', ['gone.mjs']],
])('the paths that %s mentions with %j are read', (document, source, missing) => {
  expect(missingPaths(document, source)).toEqual(missing)
})

it.each(documents())('%s mentions only paths and npm scripts that exist', (document) => {
  const source = readFileSync(root + document, 'utf8')
  expect([...missingPaths(document, source), ...missingScripts(source)]).toEqual([])
})
