import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseDocument } from 'yaml'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8')

export const manifest: {
  version: string
  engines: { node: string }
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
} = JSON.parse(read('package.json'))

/** Returns the paths of the YAML files below a folder. */
export function yamlFiles(folder: string): string[] {
  const files = readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => /\.ya?ml$/.test(file)).map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
}

/**
 * Parses a YAML file, in which each key may occur once.
 * @throws Error for malformed YAML
 */
export function parseYaml<T>(path: string): T {
  const document = parseDocument(read(path), { strict: true, uniqueKeys: true })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Error(`${path}: ${problem.message}`)
  return document.toJS()
}
