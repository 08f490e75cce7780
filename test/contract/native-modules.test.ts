import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = join(root, 'node_modules')
const { name, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const NATIVE = ['@node-rs/argon2', '@node-rs/bcrypt']
/** Source text of hashes of `password` and of `U*U`. */
const HASHES = `{
  argon2: '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  bcrypt: '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
}`

/** Prints a value, and which native modules the process has loaded. */
const REPORT = `
import { createRequire } from 'node:module'
async function report(value) {
  process.report.excludeNetwork = true
  const files = [...process.report.getReport().sharedObjects, ...Object.keys(createRequire(process.argv[1]).cache)]
  const native = files.flatMap((file) => /@node-rs.(\\w+)/.exec(file)?.[1] ?? /[^\\\\/]+\\.node$/.exec(file)?.[0] ?? [])
  process.stdout.write(JSON.stringify({ ...value, native: [...new Set(native)].sort() }))
  process.exit()
}
const listen = (app) => new Promise((resolve) => {
  const server = app.listen(0, '127.0.0.1', () => resolve('http://127.0.0.1:' + server.address().port))
})
const issuer = 'https://api.example.com'
const keys = { alg: 'HS256', secret: 'a secret of this test, 32 bytes and more' }
`

/** Only verifies tokens. */
const VERIFY = `
import express from 'express'
import { authOf, createTokenIssuer, createTokenVerifier, requireBearer } from 'express-token-endpoint'
${REPORT}
const app = express()
app.get('/me', requireBearer({ tokens: createTokenVerifier({ issuer, keys }) }), (req, res) => res.json(authOf(req).accountId))
void (async () => {
  const url = await listen(app)
  const { token } = createTokenIssuer({ issuer, keys }).issue({ accountId: 'acc-1' })
  const found = await fetch(url + '/me', { headers: { Authorization: 'Bearer ' + token } })
  await report({ statuses: [(await fetch(url + '/me')).status, found.status], account: await found.json() })
})()
`

/** Signs in to an account, by default one whose hash is of argon2id. */
const LOGIN = `
import express from 'express'
import { createTokenIssuer, tokenRouter } from 'express-token-endpoint'
${REPORT}
const hashes = ${HASHES}
const errors = []
const app = express().use(tokenRouter({
  tokens: createTokenIssuer({ issuer, keys }),
  accounts: (email) => ({ id: 'acc-1', passwordHash: hashes[email] }),
  onEvent: ({ error }) => error && errors.push(error.message),
}))
void (async () => {
  const url = await listen(app)
  const login = async (email, password) => (await fetch(url + '/api/v2013/authentication/token', {
    method: 'POST',
    body: new URLSearchParams({ email, password }),
  })).status
  const email = process.argv[2] ?? 'argon2'
  const right = email === 'argon2' ? 'password' : 'U*U'
  await report({ statuses: [await login(email, right), await login(email, 'another')], errors })
})()
`

let folder: string
let project: string

/** Installs packages by links to those that are installed here. Native modules without their binaries are copies. */
async function install(at: string, names: readonly string[], { binaries = true } = {}): Promise<void> {
  for (const name of names) {
    const place = join(at, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    const source = await realpath(join(packages, name))
    if (binaries || !NATIVE.includes(name)) await symlink(source, place, 'junction')
    else await cp(source, place, { recursive: true })
  }
}

async function projectWith(label: string, options?: { binaries: boolean }): Promise<string> {
  const at = join(folder, label)
  await install(at, ['express', ...Object.keys(dependencies)], options)
  const own = join(at, 'node_modules', name)
  await cp(join(root, 'dist'), join(own, 'dist'), { recursive: true })
  await cp(join(root, 'package.json'), join(own, 'package.json'))
  await writeFile(join(at, 'verify.mjs'), VERIFY)
  await writeFile(join(at, 'login.mjs'), LOGIN)
  return at
}

async function run(program: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'] }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: dirname(program), env })
  return JSON.parse(stdout)
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'native-')))
  project = await projectWith('project')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const installErrors = (kind: string) =>
  Array(2).fill(expect.stringContaining(`Install @node-rs/${kind} with its optional dependencies`))

describe('native modules', () => {
  it.each([name, `${name}/openapi`, `${name}/testing`])('none is loaded by importing %s', async (entry) => {
    const program = join(project, `import-${basename(entry)}.mjs`)
    await writeFile(program, `${REPORT}\nawait import('${entry}')\nreport({})`)
    expect(await run(program)).toEqual({ native: [] })
  })

  it('none is loaded by making hashers and by reading the costs of hashes', async () => {
    const program = join(project, 'outdated.mjs')
    const code = `import { argon2id, bcrypt } from '${name}'
      const hashes = ${HASHES}
      const outdated = [argon2id().outdated(hashes.argon2), bcrypt().outdated(hashes.bcrypt)]`
    await writeFile(program, `${REPORT}\n${code}\nreport({ outdated })`)
    expect(await run(program)).toEqual({ outdated: [true, true], native: [] })
  })

  it('none is loaded by a service that only verifies', async () => {
    expect(await run(join(project, 'verify.mjs'))).toEqual({ statuses: [401, 200], account: 'acc-1', native: [] })
  })

  it('argon2 is loaded by a login, and bcrypt only for a hash of bcrypt', async () => {
    const program = join(project, 'login.mjs')
    expect(await run(program)).toMatchObject({ statuses: [200, 403], native: ['argon2'] })
    expect(await run(program, 'bcrypt')).toMatchObject({ statuses: [200, 403], native: ['argon2', 'bcrypt'] })
  })
})

it.each(['argon2', 'bcrypt'])(
  'without the binaries (npm install --omit=optional), a login is a 503, and the event says what to install: %s',
  async (kind) => {
    const bare = await projectWith(`bare-${kind}`, { binaries: false })
    const { statuses, errors } = await run(join(bare, 'login.mjs'), kind)
    expect({ statuses, errors }).toEqual({ statuses: [503, 503], errors: installErrors(kind) })
  },
)

it('a bundle made by Vite works beside the installed hashers, and says what to install without them', async () => {
  const outDir = join(folder, 'bundle')
  await vite({
    configFile: false,
    root: project,
    logLevel: 'error',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: join(project, 'login.mjs'),
      outDir,
      minify: true,
      rolldownOptions: { output: { entryFileNames: 'bundle.mjs' } },
    },
  })
  const program = join(outDir, 'bundle.mjs')
  const { statuses, errors } = await run(program)
  expect({ statuses, errors }).toEqual({ statuses: [503, 503], errors: installErrors('argon2') })
  await install(outDir, NATIVE)
  expect(await run(program)).toMatchObject({ statuses: [200, 403], errors: [], native: ['argon2'] })
})
