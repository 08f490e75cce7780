import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { ENTRIES, filesBelow, root } from '../support/documents/repository.js'

const SRC = `${root}src`

const read = (file: string) => readFileSync(`${SRC}/${file}`, 'utf8')

const FILES = filesBelow('src')
  .filter((file) => /\.(ts|cjs)$/.test(file))
  .map((file) => file.replace('src/', ''))
  .sort()

/** Returns all imports of a file: by `import`, `export … from`, `import()`, `require()` or in a type. */
const importsOf = (file: string) =>
  ts.preProcessFile(read(file), true, true).importedFiles.map(({ fileName }) => fileName)

interface Import {
  from: string
  /** The file in `src`, or the package. */
  to: string
  own: boolean
}

const IMPORTS: Import[] = FILES.flatMap((from) =>
  importsOf(from).map((name) => {
    const own = name.startsWith('.')
    const [packageName = ''] = /^(@[^/]+\/)?[^/]+/.exec(name) ?? []
    return { from, own, to: own ? posix.join(posix.dirname(from), name).replace(/\.js$/, '.ts') : packageName }
  }),
)

/** Returns the top folder of a file, or the file itself when it is in no folder. */
const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)

const show = (imports: Import[]) => imports.map(({ from, to }) => `${from} → ${to}`)
const OWN = IMPORTS.filter(({ own }) => own)
const FOREIGN = IMPORTS.filter(({ own }) => !own)

/** The layers from the top down. Entries of one layer do not import each other. */
const FLOORS = [
  [...ENTRIES, 'cli'].map((name) => `${name}.ts`),
  ['auth', 'testing', 'cli', 'stores', 'passkeys'],
  ['openapi'],
  ['passport', 'features'],
  ['account'],
  ['login', 'guard', 'mail'],
  ['store'],
  ['tokens', 'accounts', 'limits', 'passwords', 'sessions', 'codes', 'factors', 'client'],
  ['http'],
  ['concurrency'],
  ['events'],
  ['errors'],
  ['options', 'packages'],
]
/** The journeys of a request, and the ground that reads requests and sends responses. */
const HTTP = ['auth', 'features', 'account', 'login', 'guard', 'passport', 'http', 'events', 'errors']
const floorOf = (file: string) => FLOORS.findIndex((floor) => floor.includes(roomOf(file)))

type Edge = readonly [from: string, to: string]

/** Returns the nodes of a graph that a node leads to, directly or not. */
function reach(edges: readonly Edge[], node: string, seen = new Set<string>()): Set<string> {
  for (const [from, to] of edges) if (from === node && !seen.has(to)) reach(edges, to, seen.add(to))
  return seen
}

/** Returns the nodes of a graph that lead back to themselves. */
const circlesIn = (edges: readonly Edge[]) =>
  [...new Set(edges.map(([from]) => from))].filter((node) => reach(edges, node).has(node))

describe('the layers of src', () => {
  it('has every file on a floor, and every import of its own leads to a file', () => {
    expect(FILES.filter((file) => floorOf(file) < 0)).toEqual([])
    expect(show(OWN.filter(({ to }) => !FILES.includes(to)))).toEqual([])
  })

  it('imports go down only', () => {
    const inRoom = ({ from, to }: Import) => from.includes('/') && roomOf(from) === roomOf(to)
    expect(show(OWN.filter((one) => !inRoom(one) && floorOf(one.from) >= floorOf(one.to)))).toEqual([])
  })

  it('the files and folders of one folder do not import each other in a circle, types included', () => {
    const parents = (file: string): string[] =>
      file.includes('/') ? [...parents(posix.dirname(file)), posix.dirname(file)] : ['.']
    const circles = [...new Set(FILES.flatMap(parents))].flatMap((folder) => {
      const prefix = folder === '.' ? '' : `${folder}/`
      const childOf = (file: string) => file.startsWith(prefix) && `${prefix}${file.slice(prefix.length).split('/')[0]}`
      const edges = OWN.map(({ from, to }) => [childOf(from), childOf(to)] as const)
      return circlesIn(edges.filter((edge): edge is Edge => edge.every(Boolean) && edge[0] !== edge[1]))
    })
    expect(circles).toEqual([])
  })

  it('tokens and accounts meet only in the journeys of a request', () => {
    const rooms = (file: string) => new Set(OWN.filter(({ from }) => from === file).map(({ to }) => roomOf(to)))
    const meeting = FILES.filter((file) => rooms(file).has('tokens') && rooms(file).has('accounts'))
    expect(
      meeting.filter((file) => !['index.ts', 'express.ts'].includes(file) && !HTTP.includes(roomOf(file))),
    ).toEqual([])
  })

  it.each([
    ['passport', /^(@types\/)?passport/, ['passport']],
    ['express', /^(@types\/)?express/, ['packages', 'auth', 'features', 'login', 'http']],
    ['password hashes', /argon2|bcrypt/, ['passwords']],
    ['passkeys', /simplewebauthn/, ['passkeys']],
  ])('%s: imported only in its rooms', (_what, name, rooms) => {
    const importing = FOREIGN.filter(({ to }) => name.test(to))
    expect(importing).not.toEqual([])
    expect(show(importing.filter(({ from }) => !rooms.includes(roomOf(from))))).toEqual([])
  })

  it('HTTP is spoken only in the journeys and their ground, and to a running app by one file of the command', () => {
    const web = /^(node:)?(http|https|http2|net|tls)$/
    const speaking = FOREIGN.filter(({ from, to }) => web.test(to) && !HTTP.includes(roomOf(from)))
    // `fetch` would add headers to the requests of the check.
    const expected = new Set(['cli/check/send.ts'])
    expect(new Set(speaking.map(({ from }) => from))).toEqual(expected)
  })

  it('one file of the server alone fetches anything from anywhere', () => {
    const calling = (words: RegExp) => FILES.filter((file) => words.test(read(file)) && roomOf(file) !== 'client')
    expect(calling(/\bfetch\(/)).toEqual(['tokens/keys/fetch-text.ts'])
    // Node 20 can block while it exports a key that it has generated, so one file knows how.
    expect(calling(/generateKeyPair/)).toEqual(['tokens/algorithms/new-key-pair.ts'])
  })

  it('every package that is imported is a dependency, and every dependency is imported', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    const node = (name: string) => name.startsWith('node:') || builtinModules.includes(name)
    const imported = new Set(FOREIGN.map(({ to }) => to).filter((name) => !node(name)))
    const declared = Object.keys({ ...dependencies, ...peerDependencies })
    // Only the strategies' users have Passport. The strategies import its parents.
    const own = declared.filter((name) => !name.startsWith('@types/') && name !== 'passport')
    expect([...imported].sort()).toEqual(own.sort())
  })
})

describe('the entries', () => {
  const edges = IMPORTS.map(({ from, to }): Edge => [from, to])
  const reached = (entry: string) => [...reach(edges, entry)]

  // `express.ts` adds to the types of Express.
  it.each(ENTRIES.filter((entry) => entry !== 'express'))('%s is only exports by name', (entry) => {
    const { statements } = ts.createSourceFile(entry, read(`${entry}.ts`), ts.ScriptTarget.Latest, true)
    const isNamed = (one: ts.Statement) =>
      ts.isExportDeclaration(one) && one.exportClause && ts.isNamedExports(one.exportClause)
    expect(statements.filter((one) => !isNamed(one)).map((one) => one.getText())).toEqual([])
  })

  it('only cli.ts leads to the command', () => {
    const toCommand = OWN.filter(({ from, to }) => roomOf(to) === 'cli' && roomOf(from) !== 'cli')
    expect(show(toCommand)).toEqual(['cli.ts → cli/main.ts'])
  })

  it('testing.ts needs nothing of a server', () => {
    expect(reached('testing.ts').filter((to) => /^(passport|login|guard|features)\b/.test(to))).toEqual([])
  })

  it('client.ts needs nothing that a browser lacks', () => {
    expect(reached('client.ts').filter((to) => !to.startsWith('client/'))).toEqual(['options/urls.ts'])
  })

  it('openapi.ts describes the features, and needs nothing else above them', () => {
    const others = reached('openapi.ts').filter((to) =>
      /^(auth|passport|stores|passkeys|testing|cli|client)\b/.test(to),
    )
    expect(others).toEqual([])
    expect(reached('openapi.ts')).toContain('features/features.ts')
  })
})

it('tests wait with `until`, because the default of vitest is 1 s, which a busy machine exceeds', () => {
  const waiting = filesBelow('test').filter((file) =>
    /(vi\.waitFor|vi\.waitUntil|expect\.poll)\(/.test(readFileSync(root + file, 'utf8')),
  )
  expect(waiting).toEqual(['test/support/concurrency.ts'])
})

it('no file imports a module of Node as a whole, because CommonJS would read each of its names through a getter', () => {
  const whole = FILES.filter((file) => /^import (\w+|\* as \w+) from 'node:/m.test(read(file)))
  expect(whole.filter((file) => !file.startsWith('cli/'))).toEqual([])
})

describe('the map of src', () => {
  const map = read('README.md')

  it('every file and function of the two flows exists', () => {
    const flows = map.slice(map.indexOf('## A login'), map.indexOf('## Where do I add'))
    const names = [...flows.matchAll(/`([\w/-]+\.ts)`(?: `(\w+)`)?/g)]
    expect(names.length).toBeGreaterThan(15)
    for (const [, file = '', name] of names) {
      expect(existsSync(`${SRC}/${file}`), file).toBe(true)
      if (name) expect(read(file), `${file} ${name}`).toMatch(new RegExp(`\\b${name}\\b`))
    }
  })
})
