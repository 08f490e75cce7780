import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const runFile = promisify(execFile)
const { arch, platform } = process
const windows = platform === 'win32'

/** Git ignores this folder, and the next run uses its packages again. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/matrix', import.meta.url))

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Packs the package as it was built into a folder. `prepack` would delete the code that other tests run. Returns the tarball. */
export async function packedTarball(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await runFile('npm', args, { cwd: ROOT, maxBuffer: 1e8, shell: windows })
  return join(folder, JSON.parse(stdout)[0].filename)
}

/** Installs one package into its own folder, without its scripts. Returns the folder of the package. */
async function installed(name, version) {
  const folder = join(CACHE, `${name}-${version}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await runFile('npm', ['install', ...options, `${name}@${version}`], { cwd: folder, shell: windows })
  return join(folder, 'node_modules', name)
}

/** Some of npm's Nodes write their version as Node does, with a `v`. */
async function versionOf(folder) {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return version.replace(/^v/, '')
}

/** Installs a Node of npm's: the package for this machine, which the script of the package `node` would install. */
export async function installedNode(version) {
  const [system, binary] = windows ? ['win', 'bin/node.exe'] : [platform, 'bin/node']
  const folder = await installed(`node-${system}-${arch}`, version)
  const program = join(folder, binary)
  return { name: 'Node', version: await versionOf(folder), program, path: dirname(program) }
}

/** Deno asks for permissions. Native modules, which hash passwords, need `--allow-ffi`. */
const DENO = ['run', '--no-prompt', '--allow-env', '--allow-net', '--allow-read', '--allow-ffi']

const RUNTIMES = {
  bun: {
    name: 'Bun',
    version: '1',
    package: `@oven/bun-${windows ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : arch}`,
    binary: windows ? 'bin/bun.exe' : 'bin/bun',
    args: [],
  },
  deno: {
    name: 'Deno',
    version: '2',
    package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    binary: windows ? 'deno.exe' : 'deno',
    args: DENO,
  },
}

/** Installs the newest Bun 1 or Deno 2 of npm: the package for this machine, which the scripts of `bun` and `deno` would copy. */
export async function installedRuntime(id) {
  const { name, version, package: own, binary, args } = RUNTIMES[id]
  const folder = await installed(own, version)
  return { name, version: await versionOf(folder), program: join(folder, binary), args }
}

/** The oldest Express that `peerDependencies` allows, and the one that this project's lock file has. */
export async function installedExpresses() {
  const own = fileURLToPath(new URL('../../../node_modules/express', import.meta.url))
  const folders = [await installed('express', '4.21.0'), own]
  return Promise.all(folders.map(async (folder) => ({ folder, version: await versionOf(folder), own: folder === own })))
}
