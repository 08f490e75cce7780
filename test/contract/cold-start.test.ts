import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ENTRIES, root } from '../support/documents/repository.js'

const run = async (program: string) => {
  const args = ['--disable-warning=DEP0205', '--input-type=module', '--eval', program]
  return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: root })).stdout)
}

/** Returns the packages and the compiled files that a process has loaded after a piece of code, by Node's own hooks. */
const loadedBy = (code: string): Promise<{ packages: string[]; files: string[] }> =>
  run(`
    import { createRequire, register } from 'node:module'
    import { fileURLToPath } from 'node:url'
    const { port1, port2 } = new MessageChannel()
    const urls = []
    const hooks = "let port; export const initialize = (given) => { port = given };" +
      "export async function load(url, context, next) { port.postMessage(url); return next(url, context) }"
    register('data:text/javascript,' + encodeURIComponent(hooks), { data: port2, transferList: [port2] })
    port1.on('message', (url) => urls.push(url))
    ${code}
    await import('data:text/javascript,"the last module"')
    while (!urls.some((url) => url.includes('the last module'))) await new Promise((resolve) => setImmediate(resolve))
    const imported = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url))
    const required = Object.keys(createRequire(${JSON.stringify(root)}).cache)
    const files = [...new Set([...imported, ...required])].map((file) => file.replaceAll('\\\\', '/'))
    const packages = files.flatMap((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1] ?? [])
    const own = files.filter((file) => /\\/dist\\//.test(file) && !file.includes('node_modules'))
    process.stdout.write(JSON.stringify({ packages: [...new Set(packages)].sort(), files: own }))
    process.exit()`)

const OF_VERIFYING = ['ms']
const SETTINGS = "{ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'secret k'.repeat(4) } }"

it('importing the package loads few files, and neither Express nor a native module', async () => {
  const { packages, files } = await loadedBy("await import('express-token-endpoint')")
  expect(packages).toEqual(OF_VERIFYING)
  expect(files.length).toBeGreaterThan(1)
  expect(files.length).toBeLessThanOrEqual(5)
})

/** The build names each module above its code. */
const loadsStores = (files: string[]) => files.some((file) => readFileSync(file, 'utf8').includes('// src/stores/'))

it('only the entries of the stores load them, and no package of a database', async () => {
  expect(loadsStores((await loadedBy("await import('express-token-endpoint')")).files)).toBe(false)
  const ofStores = ENTRIES.filter((name) => readFileSync(`${root}src/${name}.ts`, 'utf8').includes('./stores/'))
  expect(ofStores).toContain('redis')
  for (const name of ofStores) {
    const { packages, files } = await loadedBy(`await import('express-token-endpoint/${name}')`)
    expect([packages, loadsStores(files)]).toEqual([OF_VERIFYING, true])
  }
})

it('creating a verifier and a guard loads only the cache of tokens in addition', async () => {
  const { packages } = await loadedBy(`
    const { createTokenVerifier, requireBearer } = await import('express-token-endpoint')
    requireBearer({ tokens: createTokenVerifier(${SETTINGS}) })`)
  expect(packages).toEqual(['lru-cache', ...OF_VERIFYING])
})

it('creating the token router loads everything that its first login needs', async () => {
  const { packages } = await loadedBy(`
    const { createTokenIssuer, tokenRouter } = await import('express-token-endpoint')
    tokenRouter({ tokens: createTokenIssuer(${SETTINGS}), accounts: () => null })`)
  expect(packages).toEqual(expect.arrayContaining(['express', 'lru-cache']))
})

describe('native modules', () => {
  const ARGON2 = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
  const BCRYPT = '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'
  const LIBRARY = "const { argon2id, bcrypt, createPasswords } = await import('express-token-endpoint')\n"

  it.each<[string, string, string[]]>([
    [
      'importing the other entries',
      ENTRIES.map((name) => `await import('express-token-endpoint/${name}')`.replace('/index', '')).join('\n'),
      [],
    ],
    ['reading the costs of hashes', `${LIBRARY}argon2id().outdated('${ARGON2}'); bcrypt().outdated('${BCRYPT}')`, []],
    ['checking a hash of argon2id', `${LIBRARY}await createPasswords().verify('password', '${ARGON2}')`, ['argon2']],
    ['checking a hash of bcrypt', `${LIBRARY}await createPasswords().verify('U*U', '${BCRYPT}')`, ['argon2', 'bcrypt']],
  ])('%s loads only those that it needs', async (_what, code, names) => {
    const { packages } = await loadedBy(code)
    expect(packages.flatMap((name) => /^@node-rs\/(\w+)$/.exec(name)?.[1] ?? [])).toEqual(names)
  })
})
