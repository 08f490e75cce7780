import { closeSync, lstatSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { CommandError } from '../../command-error.js'
import type { Output } from '../../io.js'

export interface OutputFile {
  /** The stream that goes into the file. */
  stream: Output
  /** Writes the file. */
  close(): void
  /** Removes the file, because an empty report would look like a broken one. Keeps a device such as `/dev/stdout`. */
  discard(): void
}

/**
 * Opens the file of `--output`. Replaces an existing file.
 * @throws CommandError when the file cannot be written
 */
export function openOutput(path: string): OutputFile {
  const file = writing(() => openSync(path, 'w'))
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return {
    stream,
    close() {
      writing(() => writeFileSync(file, Buffer.concat(chunks)))
      closeSync(file)
    },
    discard() {
      closeSync(file)
      writing(() => lstatSync(path).isFile() && unlinkSync(path))
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
