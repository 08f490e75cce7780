import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandError } from '../command-error.js'
import type { Input, Output } from '../io.js'

/** The default size limit of the token endpoint's request body. */
const LONGEST_BYTES = 10_240

/** Reads an existing password: once from a terminal, without echo, or one line from other input. */
export function readPassword(input: Input, terminal: Output, question = 'Password: '): Promise<string> {
  return input.isTTY ? ask(input, terminal, [question]) : readLine(input)
}

/** Reads a new password: twice from a terminal, without echo, or one line from other input. */
export function readNewPassword(input: Input, terminal: Output): Promise<string> {
  return input.isTTY ? ask(input, terminal, ['Password: ', 'Repeat the password: ']) : readLine(input)
}

/** Asks each question. Returns the reply, which must be the same to all questions. */
async function ask(input: Input, terminal: Output, questions: readonly string[]): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Created before the first question, so that the terminal never echoes.
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  // Keeps lines that come before their question, as pasted lines do.
  const replies = lines[Symbol.asyncIterator]()
  const hangUp = () => {
    try {
      lines.close()
    } finally {
      process.kill(process.pid, 'SIGHUP')
    }
  }
  // Node itself restores the terminal after SIGINT and SIGTERM.
  process.once('SIGHUP', hangUp)
  const responses: string[] = []
  try {
    for (const question of questions) {
      terminal.write(question)
      const { value, done } = await replies.next()
      terminal.write('\n')
      // Ctrl-C and Ctrl-D close the interface.
      if (done) throw new CommandError('Cancelled')
      responses.push(value)
    }
  } finally {
    process.off('SIGHUP', hangUp)
    lines.close()
  }
  if (new Set(responses).size > 1) throw new CommandError('The two passwords do not match. Run the command again')
  return usable(responses[0] as string)
}

/** Reads one line. Removes one line end, which `echo` and editors add; every other byte counts. */
async function readLine(input: Input): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > LONGEST_BYTES)
      throw new CommandError(`Standard input is too long. Send a password of at most ${LONGEST_BYTES} bytes`)
    chunks.push(bytes)
  }
  const line = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(line))
    throw new CommandError('Standard input contains several lines. Send only the password, on one line')
  return usable(line)
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError('Standard input is not UTF-8 text. Encode the password as UTF-8')
  }
}

function usable(password: string): string {
  if (password === '') throw new CommandError('The password is empty. Enter a password')
  return password
}
