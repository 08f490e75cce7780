import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NO_HOSTS } from '../../hosts/kit.js'
import { typeErrors } from '../../support/documents/compiler.js'
import { CONTEXTS } from '../../support/documents/contexts.js'
import { moduleOf } from '../../support/documents/examples.js'
import { type Block, examples, readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'
import { isMissing } from '../../support/services/missing.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { type Packed, pack, tempFolder } from '../packed/pack.js'

const MODULES = `${root}node_modules`
const HOST_MODULES = `${root}test/hosts/node_modules`

/** The packages of every reader, because the README tells to install them. */
const BASE = ['express', '@types/express', '@types/node', 'typescript']

/** Returns the packages that a page tells its reader to install. */
function packagesOf(page: string): string[] {
  const commands = [...readPage(page).text.matchAll(/npm (?:install|i) ([^\n`&|#]+)/g)]
  const words = commands.flatMap(([, names = '']) => names.trim().split(/\s+/))
  const named = words.filter((word) => /^(@[\w.-]+\/)?[\w.-]+(@.+)?$/.test(word) && !word.startsWith('-'))
  return [...new Set([...BASE, ...named.map((name) => name.replace(/(?<=.)@.*/, ''))])].sort()
}

/** Returns whether a page names packages that only `test/hosts` has. They are not installed by default. */
const needsHosts = (page: string) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(HOST_MODULES, '../package.json'), 'utf8'))
  const isThere = (name: string) => name in dependencies || name in devDependencies
  return packagesOf(page).some((name) => isThere(name) && !existsSync(join(MODULES, name)))
}

/** Makes the project of a page's reader: the packages that the page names, and a file for each block. Returns the files. */
async function readersProject(folder: string, page: string, packed: Packed): Promise<string[]> {
  for (const name of packagesOf(page).filter((name) => name !== packed.manifest.name)) await link(folder, name)
  await unpack(folder, packed)
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const files: string[] = []
  for (const block of examples().filter((one) => one.page === page)) {
    const ownName = /^\/\/ ([\w./-]+\.[cm]?[jt]s)\n/.exec(block.code)?.[1]
    const file = join(folder, ownName ?? `${block.name}.${block.language === 'ts' ? 'ts' : 'mjs'}`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, ownName ? block.code : moduleOf(block, CONTEXTS[block.name ?? ''] ?? ''))
    files.push(file)
  }
  return [...new Set(files)]
}

async function link(folder: string, name: string): Promise<void> {
  const target = join(folder, 'node_modules', name)
  await mkdir(dirname(target), { recursive: true })
  const modules = [MODULES, HOST_MODULES].find((folder) => existsSync(join(folder, name)))
  if (!modules) throw new Error(`${name}: a page needs it as a devDependency, or as a dependency of test/hosts`)
  await symlink(join(modules, name), target, 'junction')
}

async function unpack(folder: string, { manifest, files }: Packed): Promise<void> {
  const to = join(folder, 'node_modules', manifest.name)
  for (const [path, text] of files) {
    await mkdir(dirname(join(to, path)), { recursive: true })
    await writeFile(join(to, path), text)
  }
  // The package's own dependencies are below it, so that a block cannot import them.
  for (const name of Object.keys(manifest.dependencies)) await link(to, name)
}

/** Options of a host that skips the check of its libraries' types. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  allowJs: true,
  checkJs: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  skipLibCheck: true,
  noEmit: true,
}

let packed: Packed
let temporary: Awaited<ReturnType<typeof tempFolder>>
beforeAll(async () => {
  temporary = await tempFolder('pages')
  packed = await pack(temporary.folder)
})
afterAll(() => temporary.remove())

describe('the reader of a page', () => {
  it('has the packages that the page tells to install, and no other', () => {
    expect(packagesOf('README.md')).toEqual([
      '@types/express',
      '@types/node',
      'express',
      'express-token-endpoint',
      'typescript',
    ])
  })

  it.for([...new Set(examples().map(({ page }) => page))])(
    '%s: a strict compiler accepts each block',
    async (page, { skip }) => {
      skip(NO_HOSTS && needsHosts(page), 'npm ci --prefix test/hosts --ignore-scripts')
      const project = await tempFolder('reader')
      onTestFinished(() => project.remove())
      const files = await readersProject(project.folder, page, packed)
      expect(files).not.toEqual([])
      expect(typeErrors(files, OPTIONS, project.folder)).toBe('')
    },
  )
})

const hasShell = !['bash', 'curl'].some((program) => spawnSync(program, ['--version']).error)

/** True for `describe.skipIf` when the commands of the pages cannot run here. */
const NO_SHELL = isMissing(hasShell, 'bash or curl', 'apt-get install bash curl')

/** Waits until a server listens at the port. */
const WAIT = (port: number) =>
  `node -e 'const { connect } = require("net"); const go = () => connect(${port}, "127.0.0.1").on("connect", () => process.exit()).on("error", () => setTimeout(go, 50)); go()'`

/** Writes a page's file, or runs its commands. A server continues in the background. */
function step({ language, code }: Block, port: number): string {
  const [, file] = /^\/\/ ([\w./-]+)\n/.exec(code) ?? []
  if (language === 'js') return `cat > ${file} <<'END_OF_FILE'\n${code}END_OF_FILE\n`
  if (!/^(.+ )?node (--env-file=\S+ )?\w+\.mjs( &)?$/m.test(code)) return code
  return `${code.trimEnd().replace(/ &$/, '')} &\n${WAIT(port)}\n`
}

/**
 * Follows a page as a reader does: saves its files and runs its commands, in their order, in one shell.
 * @param port takes the place of 3000
 * @param until the last block, by a piece of its text
 * @returns the output of all commands
 */
async function follow(page: string, folder: string, tarball: string, port: number, until?: string) {
  const all = readPage(page).blocks.filter(({ language }) => language === 'js' || language === 'sh')
  const blocks = until === undefined ? all : all.slice(0, all.findIndex(({ code }) => code.includes(until)) + 1)
  const script = blocks
    .map((block) => step(block, port))
    .join('\n')
    .replaceAll('3000', String(port))
    .replace(
      /^npm install .*$/gm,
      (line) => `${line.replace('express-token-endpoint', tarball)} --prefer-offline --no-audit --no-fund >&2`,
    )
  const setUp = "set -eo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n"
  const shell = spawn('bash', ['-c', setUp + script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
  const [output, errors, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  if (code !== 0) throw new Error(`exit ${code}: ${output}\n${errors}`)
  return output
}

describe.skipIf(NO_SHELL)('a reader who saves the files of a page and runs its commands', () => {
  const followed = async (page: string, until?: string) => {
    const project = await tempFolder('follower')
    onTestFinished(() => project.remove())
    const port = await freePort()
    return follow(page, project.folder, packed.tarball, port, until)
  }
  const statuses = (output: string) => output.match(/(?<=HTTP\/1\.1 )\d+/g)

  it('README.md: gets a token and calls the guarded route', async () => {
    expect(await followed('README.md', 'Authorization: Bearer')).toMatch(/\{"hello":"alice@example\.com"\}$/)
  })

  it('docs/tutorial.md: gets each response that the page tells of, and passes its tests', async () => {
    const output = await followed('docs/tutorial.md')
    expect(output).toMatch(/\{"authenticationToken":"[\w-]+\.[\w-]+\.[\w-]+","expiration":"[^"]+"\}/)
    expect(statuses(output)).toEqual(['202', '401', '200', '204', '401'])
    expect(output).toMatch(/^(# |ℹ )pass 2$/m)
  })
})
