import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../support/http.js'
import { findRow, PAGES, pathOf, programsIn, type Row, rowOf, rowsIn, withPrograms, withRows } from './guide.js'
import { findLibraries, LIBRARY_NAMES, type Library } from './libraries.js'
import { app, INVALID, type InvalidName, ISSUER, makeTokens } from './tokens.js'
import { startIssuer, type Verdict, verdictsOf } from './verdicts.js'

// `npm run languages` sets this variable. It also runs the languages with large packages, and writes the guides.
const UPDATE = process.env['UPDATE_LANGUAGES'] === '1'
const COMPLETE = process.env['REQUIRE_SERVICES'] !== undefined
const { libraries, missing } = findLibraries({ large: UPDATE })
for (const message of missing) {
  if (COMPLETE) throw new Error(message)
  process.stdout.write(`Tests with other libraries are skipped. ${message}\n`)
}

const INVALID_NAMES = Object.keys(INVALID) as InvalidName[]
type Tokens = Awaited<ReturnType<typeof makeTokens>>
interface Verdicts {
  valid: Verdict[]
  invalid: Record<InvalidName, Verdict>
  /** The claims without which a token was accepted. */
  optional: string[]
}

let tokens: Tokens
let issuer: Awaited<ReturnType<typeof startIssuer>>
beforeAll(async () => {
  tokens = await makeTokens()
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

const running = new Map<string, Promise<Verdicts>>()

/** Runs a program once, with all valid tokens before and after all invalid tokens. */
function run(library: Library, mode: 'default' | 'strict'): Promise<Verdicts> {
  const key = `${library.name} ${mode}`
  const known = running.get(key)
  if (known) return known
  const { ES256, RS256, 'signed again': again } = tokens.valid
  const verdicts = verdictsOf(
    library.programs[mode],
    { ES256, RS256, again, ...tokens.invalid, ...tokens.lacking, 'ES256 later': ES256, 'RS256 later': RS256 },
    issuer.env,
  ).then((all) => ({
    valid: [all.ES256, all.RS256, all.again, all['ES256 later'], all['RS256 later']],
    invalid: Object.fromEntries(INVALID_NAMES.map((name) => [name, all[name]])) as Record<InvalidName, Verdict>,
    optional: Object.keys(tokens.lacking).filter((name) => (all as Record<string, Verdict>)[name]?.accepted),
  }))
  running.set(key, verdicts)
  return verdicts
}

async function measure(library: Library): Promise<Row> {
  const [byDefault, strict] = await Promise.all([run(library, 'default'), run(library, 'strict')])
  const accepts = Object.fromEntries(
    INVALID_NAMES.map((name) => [name, byDefault.invalid[name].accepted]),
  ) as Row['accepts']
  return { library, accepts, strict: INVALID_NAMES.filter((name) => !strict.invalid[name].accepted).length }
}

const ACCEPTED = { accepted: true, sub: 'acc-1', scope: 'reports:read' }

describe.each(libraries)('$language: $name $version', (library) => {
  it.each(['default', 'strict'] as const)('accepts valid tokens of ES256 and RS256: %s', async (mode) => {
    const { valid } = await run(library, mode)
    expect(valid).toEqual([ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED, ACCEPTED])
  })

  it('refuses each invalid token in strict mode', async () => {
    const { invalid } = await run(library, 'strict')
    expect(INVALID_NAMES.filter((name) => invalid[name].accepted)).toEqual([])
  })

  it('demands each claim of RFC 9068 section 2.2 in strict mode', async () => {
    expect((await run(library, 'strict')).optional).toEqual([])
  })

  it('does with the fewest options what the guide says of this version', async () => {
    const row = rowOf(await measure(library))
    const guide = readFileSync(pathOf('other-languages'), 'utf8')
    // Where nothing fixes the version of a library, the guide may know another version.
    const fixed = COMPLETE || library.language === 'JavaScript'
    if (UPDATE) return expect(row).toContain(library.version)
    expect(findRow(guide, library) ?? (fixed ? 'no row of this version' : row)).toBe(row)
  })
})

describe('this package', () => {
  it('refuses each invalid token, and accepts the valid tokens', async () => {
    const { url } = await listen(app)
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: remoteKeys(`${url}/.well-known/jwks.json`) })
    const accepts = (token: string) =>
      verifier.verify(token).then(
        () => true,
        () => false,
      )
    for (const token of Object.values(tokens.valid)) expect(await accepts(token)).toBe(true)
    for (const [name, token] of Object.entries({ ...tokens.invalid, ...tokens.lacking })) {
      expect(await accepts(token), name).toBe(false)
    }
  })
})

describe('the guides', () => {
  // The names of the blocks, which the test of all pages looks for.
  const blocks = [
    'jose-strict',
    'oauth4webapi-strict',
    'fast-jwt-strict',
    'jsonwebtoken-strict',
    'aws-jwt-verify-strict',
  ]
  const textOf = (page: string) => readFileSync(pathOf(page), 'utf8')

  // A skipped test would fail a run with REQUIRE_SERVICES.
  if (UPDATE) {
    it('are written', async () => {
      const rows: Row[] = []
      for (const library of libraries) rows.push(await measure(library))
      for (const page of PAGES) writeFileSync(pathOf(page), withRows(withPrograms(textOf(page)), rows))
      expect(rows).toHaveLength(libraries.length)
    })
  }

  it.each(PAGES)('%s: each program is the file that the tests run', (page) => {
    expect(programsIn(textOf(page))).not.toEqual([])
    expect(withPrograms(textOf(page))).toBe(textOf(page))
  })

  it('have a row for each library, whose strict program refuses all 12 tokens', () => {
    const rows = rowsIn(textOf('other-languages'))
    const starts = rows.map((row) => row.slice(2).replace(/ [^ ]+ \|.*/, ''))
    expect(starts.sort()).toEqual([...LIBRARY_NAMES].sort())
    expect(INVALID_NAMES).toHaveLength(12)
    expect(rows.filter((row) => !row.endsWith('| 12 |'))).toEqual([])
  })

  it('show the strict program of each library, with what it imports', () => {
    const here = fileURLToPath(new URL('.', import.meta.url))
    const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
    const programs = files.filter((file) => /[_-]strict\.|fetch_keys\./.test(file))
    expect(PAGES.flatMap((page) => programsIn(textOf(page))).sort()).toEqual(programs.sort())
    expect(programs).toEqual(expect.arrayContaining(blocks.map((name) => `javascript/${name}.mjs`)))
  })
})
