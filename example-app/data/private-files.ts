import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { OperatorError } from '../errors.js'

/** Creates a file, unless another process was first. */
export function writeOnce(file: string, text: string): void {
  withDraft(file, text, (draft) => {
    try {
      linkSync(draft, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  })
}

/** Writes the whole file under another name first, so a crash never leaves half a file. */
export function withDraft(file: string, text: string, use: (draft: string) => void): void {
  const draft = `${file}.${randomUUID()}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(handle, text)
    fsyncSync(handle)
    use(draft)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

/**
 * Reads a file, and the time of its last change.
 * @throws OperatorError when other users can read or change it
 */
export function readPrivate(file: string): { text: string; since: Date } {
  const handle = openSync(file, 'r')
  try {
    const { mode, mtime } = fstatSync(handle)
    // Windows has no permission bits.
    if (process.platform !== 'win32' && mode & 0o077) {
      throw new OperatorError(
        `${file}: other users can read or change this file. If nobody did, run chmod 600. Otherwise delete the file.`,
      )
    }
    return { text: readFileSync(handle, 'utf8'), since: mtime }
  } finally {
    closeSync(handle)
  }
}
