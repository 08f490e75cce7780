import { suggest } from '../options/suggest.js'
import { own } from '../options/values.js'
import { check } from './check/check.js'
import { type Command, helpOf, PROGRAM, readArguments } from './command.js'
import { CommandError, EXIT, UsageError } from './command-error.js'
import { hash } from './hash/hash.js'
import { type Io, printable, remark, say } from './io.js'
import { keygen } from './keygen/keygen.js'
import { version } from './version.js'

const COMMANDS: readonly Command[] = [keygen, hash, check]
const NAMES = COMMANDS.map(({ name }) => name)

const HELP = `Usage: ${PROGRAM} COMMAND [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(8)}${summary}`).join('\n')}

  --help     show this help; after a command, show help for the command
  --version  show the version

Exit status: ${EXIT.holds} for success, ${EXIT.fails} for a failure or a failed check, ${EXIT.usage} for incorrect usage.`

/**
 * Runs the command that the arguments name.
 * @returns the exit status
 */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    remark(io, `${PROGRAM}: ${printable(error.message)}`)
    return error instanceof UsageError ? EXIT.usage : EXIT.fails
  }
}

/**
 * Reports that standard output could not be written, because a lost key or report is a failure. A reader that closed the pipe
 * (`… check URL | head`) has read enough, so a closed pipe is a success.
 * @returns the exit status
 */
export function outputFailed({ code, message }: NodeJS.ErrnoException, io: Io): number {
  if (code === 'EPIPE') return EXIT.holds
  remark(io, `${PROGRAM}: standard output: ${message}`)
  return EXIT.fails
}

async function dispatch([first, ...rest]: readonly string[], io: Io): Promise<number> {
  if (first === undefined) {
    remark(io, HELP)
    return EXIT.usage
  }
  const top = own(TOP, first)
  if (top) {
    say(io, top())
    return EXIT.holds
  }
  const command = COMMANDS.find(({ name }) => name === first)
  if (!command) throw new UsageError(unknownCommand(first))
  const given = readArguments(command, rest)
  if (given) return command.run(given.values, given.operand, io)
  say(io, helpOf(command))
  return EXIT.holds
}

const help = () => HELP
const TOP: Readonly<Record<string, () => string>> = {
  '--help': help,
  '-h': help,
  help,
  '--version': version,
  '-v': version,
}

/** Returns the error for an unknown command. Does not repeat the word, because it may be a password. */
function unknownCommand(word: string): string {
  const likely = suggest(word, NAMES)
  return `Unknown command. ${likely ? `Did you mean "${likely}"?` : `Commands: ${NAMES.join(', ')}`}`
}
