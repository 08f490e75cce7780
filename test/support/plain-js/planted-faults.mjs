// A copy of the project in which faults are planted, one at a time. Plain JavaScript, because scripts use it without a compiler.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Copies files and folders of the project. The copy shares the installed packages. */
export function createCopy(paths) {
  const folder = mkdtempSync(join(tmpdir(), 'faults-'))
  for (const path of paths) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    /** Replaces a piece of code in a file of `src`, calls a function, and restores the file. */
    withFault({ file, from, to }, run) {
      const path = join(folder, 'src', file)
      const text = readFileSync(path, 'utf8')
      if (text.split(from).length !== 2) throw new Error(`${file} must have this code once: ${from}`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
      try {
        return run()
      } finally {
        writeFileSync(path, text)
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
