import { posix } from 'node:path'
import ts from 'typescript'
import type { Manifest, Packed } from './pack.js'

/** Every file that package.json leads to. */
export function entryFiles({ exports, bin = {} }: Manifest): string[] {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  return [...targets, ...Object.values(bin)].map((path) => posix.normalize(path))
}

/** The entries that are code, as a host names them. */
export function moduleNames({ exports }: Manifest): string[] {
  const modules = Object.entries(exports).filter(([, target]) => typeof target !== 'string')
  return modules.map(([subpath]) => posix.join('express-token-endpoint', subpath))
}

/** Returns the compiled modules, without their endings, that an entry is or imports directly or indirectly. */
export function modulesOfEntries({ manifest, files }: Packed): Set<string> {
  const seen = new Set<string>()
  const visit = (stem: string): void => {
    if (seen.has(stem)) return
    seen.add(stem)
    for (const ending of ['.js', '.d.ts']) {
      const { importedFiles } = ts.preProcessFile(files.get(stem + ending) ?? '')
      for (const { fileName } of importedFiles) {
        if (fileName.startsWith('.')) visit(stemOf(posix.join(posix.dirname(stem), fileName)))
      }
    }
  }
  for (const file of entryFiles(manifest)) if (isModule(file)) visit(stemOf(file))
  return seen
}

export const isModule = (file: string) => /\.(js|d\.ts)$/.test(file)
export const stemOf = (file: string) => file.replace(/\.(js|d\.ts)$/, '')
