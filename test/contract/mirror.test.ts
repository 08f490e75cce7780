import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { filesBelow, root } from '../support/documents/repository.js'

const read = (path: string) => readFileSync(root + path, 'utf8')

/** Returns whether a file has a statement that runs: it has more than types and names of other files. */
const hasCode = (path: string) =>
  ts
    .createSourceFile(path, read(path), ts.ScriptTarget.Latest)
    .statements.some(
      (one) =>
        !ts.isImportDeclaration(one) &&
        !ts.isExportDeclaration(one) &&
        !ts.isInterfaceDeclaration(one) &&
        !ts.isTypeAliasDeclaration(one) &&
        !ts.isModuleDeclaration(one),
    )

/** Returns the files that the first lines of a test name: `// Tests login/log-in.ts guard/{origin,refuse}.ts`. */
function namedBy(test: string): string[] {
  const [head = ''] = /^(\/\/ Tests .+\n)*/.exec(read(test)) ?? []
  return [...head.matchAll(/([\w/-]*?)(?:\{([\w,-]+)\}|([\w-]+))\.ts/g)].flatMap(([, folder, names, name]) =>
    (names ?? name ?? '').split(',').map((one) => `${folder}${one}.ts`),
  )
}

const NAMED = new Set(
  filesBelow('test')
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap(namedBy),
)

it('every file of src with code has a test of its name in test/unit, or a test names it in its first line', () => {
  const files = filesBelow('src').filter((path) => path.endsWith('.ts') && hasCode(path))
  expect(files.length).toBeGreaterThan(150)
  const hasTest = (file: string) =>
    NAMED.has(file) || existsSync(`${root}test/unit/${file.replace(/\.ts$/, '.test.ts')}`)
  expect(files.map((path) => path.replace('src/', '')).filter((file) => !hasTest(file))).toEqual([])
})

it('the first line of a test names only files of src that exist', () => {
  expect([...NAMED].filter((file) => !existsSync(`${root}src/${file}`))).toEqual([])
})
