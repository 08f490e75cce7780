import { fstatSync } from 'node:fs'
import { styleText } from 'node:util'

export type Output = NodeJS.WritableStream & { isTTY?: boolean; fd?: number }
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** A command's environment and streams. `process` is one. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  stdin: Input
  stdout: Output
  stderr: Output
}

/** Writes a result to standard output. */
export function say({ stdout }: Io, text: string): void {
  stdout.write(`${text}\n`)
}

/** Writes an error or a remark to standard error. */
export function remark({ stderr }: Io, text: string): void {
  stderr.write(`${text}\n`)
}

/** Returns whether a stream is a file that other users than its owner can access. Windows has no such modes. */
export function isSharedFile({ fd }: Output): boolean {
  if (fd === undefined || process.platform === 'win32') return false
  const stats = fstatSync(fd)
  return stats.isFile() && (stats.mode & 0o077) !== 0
}

/** Replaces characters that a terminal obeys or does not show. An argument may hold them. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
}

/** Colours a text if the stream is a terminal and NO_COLOR is not set. */
export function paint(stream: Output, colour: 'green' | 'red' | 'yellow' | 'dim', text: string): string {
  return styleText(colour, text, { stream: stream as NodeJS.WritableStream })
}
