import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Failure } from './failure.js'

export type PasswordSource = NodeJS.ReadableStream & { isTTY?: boolean }

/** OWASP ASVS 5, 6.2.1; and well below what the token endpoint reads of a body. */
const LENGTH = { min: 8, max: 1000 }

/**
 * A new password: asked for twice, without echo, on a terminal; else the one line that comes in.
 * @throws Failure when it is not usable
 */
export async function readNewPassword(input: PasswordSource, terminal: NodeJS.WritableStream): Promise<string> {
  const password = input.isTTY ? await askTwice(input, terminal) : oneLine(await buffer(input))
  const length = [...password].length
  if (length < LENGTH.min || length > LENGTH.max) {
    throw new Failure(`A password has ${LENGTH.min} to ${LENGTH.max} characters, but this one has ${length}.`)
  }
  return password
}

async function askTwice(input: PasswordSource, terminal: NodeJS.WritableStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // From here on the terminal echoes nothing: before the first question, and between the two.
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  // Ctrl-C and Ctrl-D close it, and leave the question without an answer.
  const cancelled = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Failure('Cancelled. Nothing was changed.')))
  })
  const ask = (question: string) => {
    const answer = Promise.race([cancelled, lines.question('')])
    terminal.write(question)
    return answer.finally(() => terminal.write('\n'))
  }
  try {
    const password = await ask('Password: ')
    if (password !== (await ask('The same again: ')))
      throw new Failure('The two are not the same. Nothing was changed.')
    return password
  } finally {
    lines.close()
  }
}

function oneLine(bytes: Buffer): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Failure('The password on standard input is not UTF-8 text.')
  }
  const line = text.replace(/\r?\n$/, '')
  if (/[\r\n]/.test(line)) throw new Failure('Standard input must hold the password alone, on one line.')
  return line
}
