import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { parse } from 'node:path'
import { CommandError } from '../command-error.js'

export interface KeyFile {
  path: string
  text: string
  /** Permissions. Only the owner may read the secret. */
  mode: 0o600 | 0o644
}

/** Returns the default path of the public key: `key.pub.pem` next to `key.pem`. */
export function publicPath(path: string): string {
  const { dir, name, ext } = parse(path)
  return `${dir && (dir.endsWith('/') ? dir : `${dir}/`)}${name}.pub${ext}`
}

/**
 * Writes all files, or none. Never overwrites a file.
 * @throws CommandError that names the file
 */
export function writeKeyFiles(files: readonly KeyFile[]): void {
  const made: string[] = []
  try {
    for (const { path, text, mode } of files) {
      // The flag x makes a new file or fails, so no key is overwritten and no other process has the file open.
      const file = openSync(path, 'wx', mode)
      // Listed before the write, so that an incomplete file is removed.
      made.push(path)
      try {
        writeFileSync(file, text, { flush: true })
      } finally {
        closeSync(file)
      }
    }
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    throw new CommandError(reasonOf(error as NodeJS.ErrnoException))
  }
}

function reasonOf({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST') return `${path} already exists. Choose a different name, or move the file`
  if (code === 'ENOENT') return `Cannot write ${path}, because its folder does not exist. Create the folder first`
  return message
}
