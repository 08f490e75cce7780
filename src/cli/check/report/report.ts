import { closeSync, lstatSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { CommandError } from '../../command-error.js'
import { type Io, paint } from '../../io.js'
import type { Result } from '../verdict.js'
import { FORMATS, type Format, type Paint, summaryOf, type Writer } from './formats.js'

/**
 * Creates a report, which prints the results of a check, or writes them into a file. Opens the file at once, and replaces an existing one.
 * @param output the file of `--output`
 * @throws CommandError when the file cannot be written
 */
export function createReport(
  format: Format,
  output: string | undefined,
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
) {
  const { row, end }: Writer = FORMATS[format]
  const file = output === undefined ? undefined : writing(() => openSync(output, 'w'))
  const write = (text: string) =>
    file === undefined ? stdout.write(`${text}\n`) : writing(() => writeFileSync(file, `${text}\n`))
  const painted: Paint = (colour, text) => (file === undefined ? paint(stdout, colour, text) : text)
  // Shows the current row on one line of a terminal.
  const clear = () => stderr.isTTY && stderr.write('\r\u001b[K')
  return {
    began(title: string, index: number, count: number) {
      clear()
      if (stderr.isTTY) stderr.write(`${index + 1}/${count} ${title}`.slice(0, 72))
    },
    ended(result: Result) {
      clear()
      if (row) write(row(result, painted))
    },
    done(url: string, results: readonly Result[]) {
      write(end(url, results))
      if (file === undefined) return
      closeSync(file)
      stdout.write(`${summaryOf(url, results)}\n`)
    },
    /** Removes the file, because an empty report would look like a broken one. Keeps a device such as `/dev/stdout`. */
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
