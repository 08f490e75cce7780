import { posix } from 'node:path'
import ts from 'typescript'
import type { Manifest, Packed } from './pack.js'

/** Every file that package.json leads to. */
function entryFiles({ exports, bin = {} }: Manifest): string[] {
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

/** Returns the compiled modules and declarations that an entry is or imports directly or indirectly. */
export function modulesOfEntries({ manifest, files }: Packed): Set<string> {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const ending = file.endsWith('.d.ts') ? '.d.ts' : '.js'
    for (const { fileName } of ts.preProcessFile(files.get(file) ?? '').importedFiles) {
      if (fileName.startsWith('.')) visit(posix.join(posix.dirname(file), fileName.replace(/\.js$/, ending)))
    }
  }
  for (const file of entryFiles(manifest)) if (isModule(file)) visit(file)
  return seen
}

export const isModule = (file: string) => /\.(c?js|d\.ts)$/.test(file)
