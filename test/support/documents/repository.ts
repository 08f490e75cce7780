import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** The names of the package's entries, which are modules of `src`. */
export const ENTRIES = Object.keys(exports)
  .filter((name) => !name.endsWith('.json'))
  .map((name) => name.slice(2) || 'index')

/** Folders that are installed or generated. */
const SKIPPED = /\/(node_modules|dist|results|reference\/api|\.[^/]+)$/

/** Returns the path itself when it is a file, or else all files below it. Paths are relative to the root of the project. */
export function filesBelow(path: string): string[] {
  const stats = statSync(root + path, { throwIfNoEntry: false })
  if (!stats || SKIPPED.test(path)) return []
  return stats.isFile() ? [path] : readdirSync(root + path).flatMap((name) => filesBelow(`${path}/${name}`))
}

/** Returns the paths of all documents of the project. */
export function documents(): string[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'))
  const below = ['.github', 'docs', 'src', 'test', 'example-app'].flatMap(filesBelow)
  return [...atRoot, ...below.filter((path) => path.endsWith('.md'))]
}
