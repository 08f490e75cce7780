import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { filesBelow, isSource } from '../support/documents/repository.js'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

const parse = (file: string) =>
  ts.createSourceFile(file, readFileSync(`${SRC}/${file}`, 'utf8'), ts.ScriptTarget.Latest, true)

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.(ts|cjs)$/.test(file))
  .sort()

/** Returns all imports of a file: by `import`, `export … from`, `import()`, `require()` or in a type. */
function importsOf(file: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const named =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && /^(import|require)$/.test(node.expression.getText())
          ? node.arguments[0]
          : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
            ? node.argument.literal
            : undefined
    if (named && ts.isStringLiteralLike(named)) found.push(named.text)
    ts.forEachChild(node, visit)
  }
  visit(parse(file))
  return found
}

interface Import {
  from: string
  /** The file in `src`, or the package. */
  to: string
  own: boolean
}

const IMPORTS: Import[] = FILES.flatMap((from) =>
  importsOf(from).map((name) =>
    name.startsWith('.')
      ? { from, to: posix.join(posix.dirname(from), name).replace(/\.js$/, '.ts'), own: true }
      : {
          from,
          to: name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : name.replace(/\/.*/, ''),
          own: false,
        },
  ),
)

/** Returns the top folder of a file, or the file itself when it is in no folder. */
const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)

const show = (imports: Import[]) => imports.map(({ from, to }) => `${from} → ${to}`)
const OWN = IMPORTS.filter(({ own }) => own)
const FOREIGN = IMPORTS.filter(({ own }) => !own)

/** The layers from the top down. Entries of one layer do not import each other. */
const FLOORS = [
  ['index.ts', 'client.ts', 'express.ts', 'openapi.ts', 'passport.ts', 'testing.ts', 'cli.ts'],
  ['openapi'],
  ['http', 'testing', 'cli'],
  ['tokens', 'accounts', 'client'],
  ['shared'],
]
const floorOf = (file: string) => FLOORS.findIndex((floor) => floor.includes(roomOf(file)))

describe('the layers of src', () => {
  it('has its imports read (so that the rules below mean something)', () => {
    expect(show(IMPORTS)).toEqual(
      expect.arrayContaining([
        'index.ts → http/token-endpoint/token-router.ts',
        'http/on-first-use.cjs → express',
        'tokens/jwt/signature.ts → node:crypto',
        'accounts/passwords/hashers/argon2id.ts → @node-rs/argon2',
      ]),
    )
  })

  it('has every file on a floor, and every import of its own leads to a file', () => {
    expect(FILES.filter((file) => floorOf(file) < 0)).toEqual([])
    expect(show(OWN.filter(({ to }) => !FILES.includes(to)))).toEqual([])
  })

  it('imports go down only', () => {
    const inRoom = ({ from, to }: Import) => from.includes('/') && roomOf(from) === roomOf(to)
    expect(show(OWN.filter((one) => !inRoom(one) && floorOf(one.from) >= floorOf(one.to)))).toEqual([])
  })

  /** Returns the nodes of a graph that lead back to themselves. */
  const circlesIn = (edges: readonly (readonly [from: string, to: string])[]) => {
    const reach = (node: string, seen = new Set<string>()): Set<string> => {
      for (const [from, to] of edges) if (from === node && !seen.has(to)) reach(to, seen.add(to))
      return seen
    }
    return [...new Set(edges.map(([from]) => from))].filter((node) => reach(node).has(node))
  }

  it('nothing imports itself, by whatever detour', () => {
    expect(circlesIn(OWN.map(({ from, to }) => [from, to]))).toEqual([])
  })

  it('the files and folders of one folder do not import each other in a circle, types included', () => {
    const parents = (file: string): string[] =>
      file.includes('/') ? [...parents(posix.dirname(file)), posix.dirname(file)] : ['.']
    const circles = [...new Set(FILES.flatMap(parents))].flatMap((folder) => {
      const prefix = folder === '.' ? '' : `${folder}/`
      const childOf = (file: string) => file.startsWith(prefix) && `${prefix}${file.slice(prefix.length).split('/')[0]}`
      const edges = OWN.map(({ from, to }) => [childOf(from), childOf(to)] as const)
      return circlesIn(edges.filter((edge): edge is [string, string] => edge.every(Boolean) && edge[0] !== edge[1]))
    })
    expect(circles).toEqual([])
  })

  it('tokens/ and accounts/ do not know each other', () => {
    const rooms = ['tokens', 'accounts']
    const between = ({ from, to }: Import) =>
      rooms.includes(roomOf(from)) && rooms.includes(roomOf(to)) && roomOf(from) !== roomOf(to)
    expect(show(OWN.filter(between))).toEqual([])
  })

  it('they meet in http/ alone, and in the token router an account becomes a token', () => {
    const rooms = (file: string) => new Set(OWN.filter(({ from }) => from === file).map(({ to }) => roomOf(to)))
    const meeting = FILES.filter((file) => rooms(file).has('tokens') && rooms(file).has('accounts'))
    expect(meeting.filter((file) => !['index.ts', 'express.ts'].includes(file) && roomOf(file) !== 'http')).toEqual([])
    expect(meeting).toContain('http/token-endpoint/options.ts')
  })

  it('nothing in tokens/ and accounts/ imports from http/', () => {
    const rooms = ['tokens', 'accounts']
    expect(show(OWN.filter(({ from, to }) => rooms.includes(roomOf(from)) && roomOf(to) === 'http'))).toEqual([])
  })

  it.each([
    ['express and passport', /^(@types\/)?(express|passport)/, 'http'],
    ['what reads a request', /^(raw-body|content-type|bytes|body-parser|qs)$/, 'http'],
    ['password hashes', /argon2|bcrypt/, 'accounts'],
  ])('%s: imported in one room alone', (_what, name, room) => {
    const importing = FOREIGN.filter(({ to }) => name.test(to))
    expect(importing).not.toEqual([])
    expect(show(importing.filter(({ from }) => roomOf(from) !== room))).toEqual([])
  })

  it('HTTP is spoken in http/ alone, and to a running app by one file of the command', () => {
    const web = /^(node:)?(http|https|http2|net|tls)$/
    const speaking = FOREIGN.filter(({ from, to }) => web.test(to) && roomOf(from) !== 'http')
    // `fetch` would join two Authorization headers into one, and the check sends two. The throttle takes only `isIPv4` from `net`.
    const expected = new Set(['cli/check/probe/send.ts', 'accounts/throttle/client-network.ts'])
    expect(new Set(speaking.map(({ from }) => from))).toEqual(expected)
  })

  it('the command is for its own process: nothing that a host imports leads to it', () => {
    expect(show(OWN.filter(({ from, to }) => roomOf(to) === 'cli' && roomOf(from) !== 'cli'))).toEqual([
      'cli.ts → cli/main.ts',
    ])
    expect(show(OWN.filter(({ to }) => to === 'cli.ts'))).toEqual([])
  })

  it('the command judges from outside: it shares no code with what answers', () => {
    expect(show(OWN.filter(({ from, to }) => roomOf(from) === 'cli' && roomOf(to) === 'http'))).toEqual([])
  })

  it('one file of the server alone fetches anything from anywhere', () => {
    const fetches = (file: string) => /\bfetch\(/.test(readFileSync(`${SRC}/${file}`, 'utf8'))
    expect(FILES.filter((file) => fetches(file) && roomOf(file) !== 'client')).toEqual(['tokens/keys/fetch-text.ts'])
  })

  it('every package that is imported is a dependency, and every dependency is imported', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    const { dependencies, peerDependencies } = JSON.parse(text) as Record<string, Record<string, string>>
    const node = (name: string) => name.startsWith('node:') || builtinModules.includes(name)
    const imported = new Set(FOREIGN.map(({ to }) => to).filter((name) => !node(name)))
    const declared = [...Object.keys(dependencies ?? {}), ...Object.keys(peerDependencies ?? {})]
    expect([...imported].sort()).toEqual(declared.filter((name) => !name.startsWith('@types/')).sort())
  })
})

/** Returns the names that an entry exports, and the statements that do anything else. */
function exportsOf(entry: string) {
  const names = { values: [] as string[], types: [] as string[] }
  const others: string[] = []
  for (const statement of parse(entry).statements) {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined
    if (!clause || !ts.isNamedExports(clause) || !ts.isExportDeclaration(statement) || !statement.moduleSpecifier) {
      others.push(statement.getText())
      continue
    }
    for (const { name, isTypeOnly } of clause.elements) {
      names[statement.isTypeOnly || isTypeOnly ? 'types' : 'values'].push(name.text)
    }
  }
  return { names, others }
}

describe('index.ts: the table of contents', () => {
  const { names, others } = exportsOf('index.ts')

  it('is only exports by name', () => {
    expect(others).toEqual([])
  })

  it('exports these values', async () => {
    const values = [
      'AuthError',
      'argon2id',
      'authOf',
      'bcrypt',
      'closeWhenEnded',
      'createPasswords',
      'createThrottle',
      'createTokenIssuer',
      'createTokenVerifier',
      'firebaseScrypt',
      'jwksRouter',
      'memoryAccounts',
      'pbkdf2',
      'remoteKeys',
      'requireBearer',
      'scrypt',
      'tokenRouter',
    ]
    expect(names.values.sort()).toEqual(values)
    expect(Object.keys(await import('express-token-endpoint')).sort()).toEqual(values)
  })

  it('exports these types', () => {
    expect(names.types.sort()).toEqual([
      'Account',
      'AccountLookup',
      'AccountStore',
      'Algorithm',
      'Argon2idOptions',
      'AuthErrorCode',
      'AuthEvent',
      'AuthObserver',
      'AuthenticatedRequest',
      'BcryptOptions',
      'BearerGuard',
      'BearerRefusedEvent',
      'Budget',
      'Clock',
      'CloseWhenEndedOptions',
      'Dependency',
      'DependencyFailedEvent',
      'Duration',
      'FirebaseScryptOptions',
      'GuardedRequest',
      'HashQueueLoad',
      'Hasher',
      'IssuedToken',
      'JwksRouterOptions',
      'KeyMaterial',
      'KeyPairAlgorithm',
      'LimitName',
      'Limiter',
      'LimiterOptions',
      'LoginRefusal',
      'MemoryAccount',
      'Passwords',
      'PasswordsOptions',
      'PasswordsSlot',
      'PrivateTokenKey',
      'Problem',
      'PublicJwk',
      'PublicTokenKey',
      'RemoteKeys',
      'RemoteKeysOptions',
      'RequireBearerOptions',
      'RevocationCheck',
      'SecretAlgorithm',
      'SecretMaterial',
      'SecretTokenKey',
      'Spraying',
      'Throttle',
      'ThrottleOptions',
      'TokenIssuedEvent',
      'TokenIssuer',
      'TokenIssuerOptions',
      'TokenKey',
      'TokenOverloadedEvent',
      'TokenRefusal',
      'TokenRefusedEvent',
      'TokenRouterOptions',
      'TokenSubject',
      'TokenThrottledEvent',
      'TokenVerifier',
      'TokenVerifierOptions',
      'VerifiedToken',
    ])
  })
})

describe('the other entries', () => {
  const reach = (file: string, seen = new Set<string>()): Set<string> => {
    for (const { from, to } of IMPORTS) if (from === file && !seen.has(to)) reach(to, seen.add(to))
    return seen
  }

  it('testing.ts exports these names, and pulls in nothing of a server', async () => {
    const { names, others } = exportsOf('testing.ts')
    expect(others).toEqual([])
    const values = ['accountStoreContract', 'createTestIssuer', 'fastPasswords']
    expect(names.values.sort()).toEqual(values)
    expect(Object.keys(await import('express-token-endpoint/testing')).sort()).toEqual(values)
    expect(names.types.sort()).toEqual([
      'AccountStoreContractOptions',
      'BearerHeaders',
      'ContractCheck',
      'ExistingAccount',
      'FastPasswordsOptions',
      'RefusedTokens',
      'TestAccount',
      'TestClock',
      'TestIssuer',
      'TestIssuerOptions',
      'TestToken',
    ])
    expect([...reach('testing.ts')].filter((to) => /^(express|passport)|^http\//.test(to))).toEqual([])
  })

  it('client.ts exports these names, and pulls in nothing that a browser lacks', async () => {
    const { names, others } = exportsOf('client.ts')
    expect(others).toEqual([])
    const values = ['TokenClientError', 'createTokenClient', 'shareBetweenTabs']
    expect(names.values.sort()).toEqual(values)
    expect(Object.keys(await import('express-token-endpoint/client')).sort()).toEqual(values)
    expect(names.types.sort()).toEqual([
      'AuthorizationHeader',
      'Credentials',
      'CredentialsRequest',
      'Grant',
      'HeadersRequest',
      'News',
      'SignInError',
      'TabLink',
      'TabOwner',
      'TabSharing',
      'TokenClient',
      'TokenClientErrorCode',
      'TokenClientOptions',
      'TokenClientState',
      'TokenRequest',
    ])
    expect([...reach('client.ts')].filter((to) => !to.startsWith('client/'))).toEqual(['shared/urls.ts'])
  })

  it('openapi.ts exports these values, and pulls in nothing but what is said on the wire', async () => {
    const values = ['guardedOperation', 'openApiDocument']
    expect(Object.keys(await import('express-token-endpoint/openapi')).sort()).toEqual(values)
    const reached = [...reach('openapi.ts')].filter((to) => !to.startsWith('openapi/')).sort()
    expect(reached).toEqual([
      'http/shared/answers.ts',
      'http/shared/mount-path.ts',
      'ms',
      'node:util',
      'shared/brand.ts',
      'shared/errors.ts',
      'shared/misuse.ts',
      'shared/options.ts',
      'shared/refusals.ts',
      'shared/suggest.ts',
      'shared/urls.ts',
      'shared/values.ts',
      'shared/web-url.ts',
    ])
  })
})

describe('folders', () => {
  const MOST = 12
  const sources = ['src', 'test', 'example-app'].flatMap(filesBelow).filter(isSource)
  const folders = new Map<string, number>()
  for (const file of sources) folders.set(posix.dirname(file), (folders.get(posix.dirname(file)) ?? 0) + 1)

  it('are read', () => {
    expect([...folders.keys()]).toEqual(
      expect.arrayContaining(['src', 'src/http/guard', 'test/support', 'example-app']),
    )
  })

  it(`hold at most ${MOST} source files each`, () => {
    expect([...folders].filter(([, files]) => files > MOST)).toEqual([])
  })
})
