import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Failure } from '../failure.js'
import type { Input, Output } from '../io.js'

/** As long as a body that the token endpoint reads, unless it is told otherwise. */
const LONGEST_BYTES = 10_240

/** A password that exists: asked for once on a terminal, without echo; else the one line that comes in. */
export function readPassword(input: Input, terminal: Output, question = 'Password: '): Promise<string> {
  return input.isTTY ? ask(input, terminal, [question]) : readLine(input)
}

/** A new password: asked for twice on a terminal, without echo; else the one line that comes in. */
export function readNewPassword(input: Input, terminal: Output): Promise<string> {
  return input.isTTY ? ask(input, terminal, ['Password: ', 'The same again: ']) : readLine(input)
}

/** The answer, which is the same to each question. */
async function ask(input: Input, terminal: Output, questions: readonly string[]): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // From here on the terminal echoes nothing: before the first question, and between them.
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  // Ctrl-C and Ctrl-D close it, and leave the question without an answer.
  const cancelled = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Failure('Cancelled')))
  })
  const answers: string[] = []
  try {
    for (const question of questions) {
      const answer = Promise.race([cancelled, lines.question('')])
      terminal.write(question)
      answers.push(await answer.finally(() => terminal.write('\n')))
    }
  } finally {
    lines.close()
  }
  if (new Set(answers).size > 1) throw new Failure('The two passwords are not the same')
  return usable(answers[0] as string)
}

/** Every byte counts, but for one end of line, which `echo` and editors put there. */
async function readLine(input: Input): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > LONGEST_BYTES)
      throw new Failure(`Standard input is longer than a password can be, ${LONGEST_BYTES} bytes`)
    chunks.push(bytes)
  }
  const line = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(line)) throw new Failure('Standard input must hold the password alone, on one line')
  return usable(line)
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Failure('The password on standard input is not UTF-8 text')
  }
}

function usable(password: string): string {
  if (password === '') throw new Failure('The password is empty')
  return password
}
