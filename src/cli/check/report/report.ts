import { closeSync, lstatSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { CommandError } from '../../command-error.js'
import type { Io } from '../../io.js'
import type { Result } from '../row.js'
import { FORMATS, type Format, summaryOf, type Writer } from './formats.js'

/** Prints the results of a check, or writes them into a file. */
export interface Report {
  began(title: string, index: number, count: number): void
  ended(result: Result): void
  done(url: string, results: readonly Result[]): void
  /** Removes the file, because an empty report would look like a broken one. Keeps a device such as `/dev/stdout`. */
  discard(): void
}

/**
 * Creates a report. Opens its file at once, and replaces an existing one.
 * @param output the file of `--output`
 * @throws CommandError when the file cannot be written
 */
export function createReport(
  format: Format,
  output: string | undefined,
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
): Report {
  const { row, end }: Writer = FORMATS[format]
  const file = output === undefined ? undefined : writing(() => openSync(output, 'w'))
  const chunks: Buffer[] = []
  const collecting = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  const stream = file === undefined ? stdout : collecting
  // Shows the current row on one line of a terminal.
  const clear = () => stderr.isTTY && stderr.write('\r\u001b[K')
  return {
    began(title, index, count) {
      clear()
      if (stderr.isTTY) stderr.write(`${index + 1}/${count} ${title}`.slice(0, 72))
    },
    ended(result) {
      clear()
      if (row) stream.write(`${row(result, stream)}\n`)
    },
    done(url, results) {
      stream.write(`${end(url, results)}\n`)
      if (file === undefined) return
      writing(() => writeFileSync(file, Buffer.concat(chunks)))
      closeSync(file)
      stdout.write(`${summaryOf(url, results)}\n`)
    },
    discard() {
      if (file === undefined || output === undefined) return
      closeSync(file)
      writing(() => lstatSync(output).isFile() && unlinkSync(output))
    },
  }
}

function writing<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw new CommandError(`--output: ${(error as NodeJS.ErrnoException).message}`)
  }
}
