import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from './npm.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** What a fresh checkout does not have, or what other tests make and remove meanwhile. */
const NOT_COPIED = new Set(['.git', 'node_modules', 'dist', 'coverage', '.data', '.readme'])

export interface Manifest {
  version: string
  exports: Record<string, string | Record<string, string>>
  bin?: Record<string, string>
  peerDependencies: Record<string, string>
}

export interface Packed {
  manifest: Manifest
  tarball: string
  /** What the tarball holds, by its path in the package. */
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
 * Packs the package as for a release, `prepack` and all, into a folder. It is packed from a copy, as other tests run what is
 * built here meanwhile; what an earlier build left behind lies in the copy too.
 */
export async function pack(folder: string): Promise<Packed> {
  const copy = join(folder, 'copy')
  await cp(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction')
  await mkdir(join(copy, 'dist'))
  await writeFile(join(copy, 'dist/renamed-since.js'), '')
  // What the scripts print goes to standard error, so that npm's own answer is all there is.
  const answer = await npm(copy, 'pack', '--json', '--foreground-scripts=false', '--pack-destination', folder)
  const [{ filename, files, size, unpackedSize }] = JSON.parse(answer)
  const read = async ({ path }: { path: string }) => [path, await readFile(join(copy, path), 'utf8')] as const
  return {
    manifest: JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')),
    tarball: join(folder, filename),
    files: new Map(await Promise.all(files.map(read))),
    size,
    unpackedSize,
  }
}
