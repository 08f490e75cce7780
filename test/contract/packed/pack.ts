import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'

const runFile = promisify(execFile)

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Folders that a fresh checkout does not have, or that other tests create and remove meanwhile. */
const NOT_COPIED = new Set(['.git', 'node_modules', 'dist', 'coverage', '.data', '.run'])

/** A file, or files by their conditions. */
type Target = string | { [condition: string]: Target }

export interface Manifest {
  name: string
  version: string
  exports: Record<string, Target>
  bin?: Record<string, string>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

export interface Packed {
  manifest: Manifest
  tarball: string
  /** The output of the build. */
  printed: string
  /** The contents of the tarball, by their paths in the package. */
  files: ReadonlyMap<string, string>
  /** Bytes of the tarball, and of what it holds. */
  size: number
  unpackedSize: number
}

/** A folder that is gone when `remove` is called. */
export async function tempFolder(name: string): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `packed-${name}-`))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/**
 * Packs the package and reads the tarball. `TEST_TARBALL` names a tarball that exists already: `npm run test:matrix` packs once for all
 * its runs.
 */
export async function pack(folder: string): Promise<Packed> {
  const given = process.env['TEST_TARBALL']
  const { tarball, printed } = given ? { tarball: given, printed: '' } : await packCopy(folder)
  await runFile('tar', ['-xzf', tarball, '-C', folder])
  const unpacked = join(folder, 'package')
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = async (path: string) =>
    [relative(unpacked, path).replaceAll('\\', '/'), await readFile(path, 'utf8')] as const
  const files = new Map(await Promise.all(paths.map(read)))
  return {
    manifest: JSON.parse(files.get('package.json') ?? ''),
    tarball,
    printed,
    files,
    size: (await stat(tarball)).size,
    unpackedSize: [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  }
}

/**
 * Packs the package into a folder as for a release, with `prepack`. It packs a copy, because other tests run the compiled code
 * meanwhile. The copy also has a file of an earlier build.
 */
async function packCopy(folder: string): Promise<Pick<Packed, 'tarball' | 'printed'>> {
  const copy = join(folder, 'copy')
  await cp(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction')
  await mkdir(join(copy, 'dist'))
  await writeFile(join(copy, 'dist/renamed-since.js'), '')
  const answer = await npm(copy, 'pack', '--json', '--silent', '--foreground-scripts', '--pack-destination', folder)
  // npm's JSON, a list, comes after the output of the scripts.
  const start = answer.search(/^\[$/m)
  return { tarball: join(folder, JSON.parse(answer.slice(start))[0].filename), printed: answer.slice(0, start) }
}

/** Every file that package.json leads to. */
function entryFiles({ exports, bin = {} }: Manifest): string[] {
  const filesOf = (target: Target): string[] =>
    typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf)
  return [...Object.values(exports).flatMap(filesOf), ...Object.values(bin)].map((path) => posix.normalize(path))
}

/** The entries that are code, as a host names them. */
export function moduleNames({ exports }: Manifest): string[] {
  const modules = Object.entries(exports).filter(([, target]) => typeof target !== 'string')
  return modules.map(([subpath]) => posix.join('express-token-endpoint', subpath))
}

/** Returns the compiled modules and declarations that an entry is or imports directly or indirectly. */
export function modulesOfEntries({ manifest, files }: Packed): Set<string> {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const ending = /\.d\.c?ts$/.test(file) ? '.d.cts' : '.cjs'
    for (const { fileName } of ts.preProcessFile(files.get(file) ?? '', true, true).importedFiles) {
      if (fileName.startsWith('.')) visit(posix.join(posix.dirname(file), fileName.replace(/\.cjs$/, ending)))
    }
  }
  for (const file of entryFiles(manifest)) if (isModule(file)) visit(file)
  return seen
}

export const isModule = (file: string) => /\.(c?js|d\.c?ts)$/.test(file)

/** Short pauses between attempts, because npm's own pauses are at least 10 s. */
const RETRIES = ['--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000']

/** Runs npm in a folder, and gives what it prints. */
export async function npm(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await runFile('npm', args, { cwd: folder, maxBuffer: 1e8, shell: process.platform === 'win32' })
  return stdout
}

/** Installs packages into a folder. */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...RETRIES, ...packages)
}
