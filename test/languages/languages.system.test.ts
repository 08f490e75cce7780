import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../support/http.js'
import { findLibraries, type Library, type Mode, type Verdict, verdictsOf } from './libraries.js'
import { app, INVALID, ISSUER, makeTokens, startIssuer } from './tokens.js'

// `npm run languages` sets this variable. It also runs the languages with large packages, and writes the pages.
const UPDATE = process.env['UPDATE_LANGUAGES'] === '1'
const { libraries, missing } = findLibraries({ large: UPDATE })
for (const message of missing) {
  if (process.env['REQUIRE_SERVICES'] !== undefined) throw new Error(message)
  process.stdout.write(`Tests with other libraries are skipped. ${message}\n`)
}

const INVALID_NAMES = Object.keys(INVALID)

let issuer: Awaited<ReturnType<typeof startIssuer>>
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

const tokens = await makeTokens()
const running = new Map<string, Promise<Record<string, Verdict>>>()

/** Runs a program once, with all valid tokens before and after all invalid tokens. */
function run(library: Library, mode: Mode) {
  const key = `${library.name} ${mode}`
  const { valid, invalid, lacking } = tokens
  const later = { 'ES256 later': valid.ES256, 'RS256 later': valid.RS256 }
  const verdicts =
    running.get(key) ?? verdictsOf(library, mode, { ...valid, ...invalid, ...lacking, ...later }, issuer.env)
  running.set(key, verdicts)
  return verdicts
}

const accepted = (verdicts: Record<string, Verdict>) => Object.keys(verdicts).filter((name) => verdicts[name]?.accepted)

const ACCEPTED = { accepted: true, sub: 'acc-1', scope: 'reports:read' }
const VALID = ['ES256', 'RS256', 'signed again', 'ES256 later', 'RS256 later']

describe.each(libraries)('$language: $name $version', (library) => {
  it.each(['default', 'strict'] as const)('accepts valid tokens of ES256 and RS256: %s', async (mode) => {
    const verdicts = await run(library, mode)
    for (const name of VALID) expect(verdicts[name]).toEqual(ACCEPTED)
  })

  it('refuses each invalid token in strict mode, also without a claim of RFC 9068 section 2.2', async () => {
    expect(accepted(await run(library, 'strict')).sort()).toEqual([...VALID].sort())
  })
})

it('this package refuses each invalid token, and accepts the valid tokens', async () => {
  const { url } = await listen(app)
  const verifier = createTokenVerifier({ issuer: ISSUER, keys: remoteKeys(`${url}/.well-known/jwks.json`) })
  for (const token of Object.values(tokens.valid)) await expect(verifier.verify(token)).resolves.toBeDefined()
  for (const [name, token] of Object.entries({ ...tokens.invalid, ...tokens.lacking })) {
    await expect(verifier.verify(token), name).rejects.toMatchObject({ code: 'invalid_token' })
  }
})

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The pages with the strict programs. The second one has the table. */
const PAGES = [fileOf('../../docs/guides/issuers.md'), fileOf('./README.md')] as const
const readPages = () => PAGES.map((page) => readFileSync(page, 'utf8'))

/** A block with a program of this folder: one of JavaScript has the name of an example. */
const PROGRAM = /^<!-- (example|program): (\S+) -->\n```(\w+)\n([\s\S]*?)^```$/gm

/** Returns the path of a block's program below this folder. Undefined for an example of another kind. */
function programOf(kind: string, name: string): string | undefined {
  const path = kind === 'example' ? `javascript/${name}.mjs` : name
  return kind === 'program' || existsSync(fileOf(path)) ? path : undefined
}

/** Returns the paths of the programs that the page shows. */
const programsIn = (text: string): string[] =>
  [...text.matchAll(PROGRAM)].flatMap(([, kind = '', name = '']) => programOf(kind, name) ?? [])

/** Replaces the programs of a page with their files. */
const withPrograms = (text: string): string =>
  text.replace(PROGRAM, (block, kind: string, name: string, language: string) => {
    const path = programOf(kind, name)
    return path === undefined
      ? block
      : `<!-- ${kind}: ${name} -->\n\`\`\`${language}\n${readFileSync(fileOf(path), 'utf8')}\`\`\``
  })

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const HEAD = line(['library', 'language', 'accepts with the fewest options', 'strict program refuses'])
const TABLE = /(?<=<!-- libraries -->\n)[\s\S]*?(?=<!-- \/libraries -->)/

const nameIn = (row: string) => row.slice(2, row.lastIndexOf(' ', row.indexOf(' |', 2) - 1))

/** Replaces the rows of the measured libraries, and keeps the other rows. */
const withRows = (text: string, rows: readonly string[]): string =>
  text.replace(TABLE, (table) => {
    const all = new Map([...table.trim().split('\n').slice(2), ...rows].map((row) => [nameIn(row), row]))
    return [HEAD, HEAD.replaceAll(/[^|]+/g, ' --- '), ...all.values(), ''].join('\n')
  })

describe('the pages', () => {
  /** Returns a row of the table. It depends on the installed version, so no test expects it. */
  async function rowOf(library: Library): Promise<string> {
    const [byDefault, strict] = await Promise.all([run(library, 'default'), run(library, 'strict')])
    const columns = Object.entries(INVALID).flatMap(([name, [column]]) => (byDefault[name]?.accepted ? column : []))
    const refused = INVALID_NAMES.filter((name) => !strict[name]?.accepted)
    const { name, version, language } = library
    const cells = [columns.join(', ') || 'none', `${refused.length} of ${INVALID_NAMES.length}`]
    return line([`${name} ${version}`, language, ...cells])
  }

  // A skipped test would fail a run with REQUIRE_SERVICES.
  if (UPDATE) {
    it('are written', async () => {
      const rows = await Promise.all(libraries.map(rowOf))
      for (const page of PAGES) writeFileSync(page, withRows(withPrograms(readFileSync(page, 'utf8')), rows))
      expect(rows).toHaveLength(libraries.length)
    })
  }

  it('show the programs that the tests run, with what they import', () => {
    expect(readPages().map(withPrograms)).toEqual(readPages())
    expect(readPages().flatMap(programsIn)).toEqual([
      // Of the same name as the block, which the test of all pages looks for: 'jose-strict'.
      'javascript/jose-strict.mjs',
      'python/pyjwt_strict.py',
      'ruby/fetch_keys.rb',
      'ruby/ruby_jwt_strict.rb',
      'go/fetch_keys.go',
      'go/go_jose_strict.go',
      'perl/crypt_jwt_strict.pl',
    ])
  })
})
