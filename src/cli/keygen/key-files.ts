import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { parse } from 'node:path'
import { Failure } from '../failure.js'

export interface KeyFile {
  path: string
  text: string
  /** Permissions; the secret is for its owner alone. */
  mode: 0o600 | 0o644
}

/** Where the public key goes unless it is said: `key.pem` has `key.pub.pem` beside it. */
export function publicPath(path: string): string {
  const { dir, name, ext } = parse(path)
  return `${dir && (dir.endsWith('/') ? dir : `${dir}/`)}${name}.pub${ext}`
}

/**
 * Makes all of the files, or none. One that is there stays as it is.
 * @throws Failure naming the file
 */
export function writeKeyFiles(files: readonly KeyFile[]): void {
  const made: string[] = []
  try {
    for (const { path, text, mode } of files) {
      // Made here and now, or not at all: no other process has it open, and no key is written over.
      const file = openSync(path, 'wx', mode)
      // Ours from here on, however much of it can be written.
      made.push(path)
      try {
        writeFileSync(file, text, { flush: true })
      } finally {
        closeSync(file)
      }
    }
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    throw new Failure(reasonOf(error as NodeJS.ErrnoException))
  }
}

function reasonOf({ code, path, message }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST') return `${path} is there already, and stays as it is. Choose another name, or move it away`
  if (code === 'ENOENT') return `${path} cannot be made: its folder is not there`
  return message
}
