import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const runFile = promisify(execFile)

/** Git ignores this folder, and the next run uses its packages again. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/matrix', import.meta.url))

/** Installs one package into its own folder, without its scripts. Returns the folder of the package. */
async function installed(name, version) {
  const folder = join(CACHE, `${name}-${version}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await runFile('npm', ['install', ...options, `${name}@${version}`], {
    cwd: folder,
    shell: process.platform === 'win32',
  })
  return join(folder, 'node_modules', name)
}

/** Some of npm's Nodes write their version as Node does, with a `v`. */
async function versionOf(folder) {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return version.replace(/^v/, '')
}

/**
 * A Node of npm's. Its `node` package is a script that installs this machine's own package; here that one is installed, and no
 * script is run.
 */
export async function installedNode(version) {
  const [system, binary] = process.platform === 'win32' ? ['win', 'bin/node.exe'] : [process.platform, 'bin/node']
  const folder = await installed(`node-${system}-${process.arch}`, version)
  const program = join(folder, binary)
  return { version: await versionOf(folder), program, path: dirname(program) }
}

/** The oldest Express that `peerDependencies` allows, and the one that this project's lock file has. */
export async function installedExpresses() {
  const own = fileURLToPath(new URL('../../../node_modules/express', import.meta.url))
  const folders = [await installed('express', '4.21.0'), own]
  return Promise.all(folders.map(async (folder) => ({ folder, version: await versionOf(folder), own: folder === own })))
}
