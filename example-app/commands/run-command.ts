import { explain, LaterError, UsageError } from '../errors.js'
import { complain, say } from '../output.js'

/** Runs a command, and prints the text that it returns. After an error, prints the error and sets the exit status. */
export async function runCommand(usage: string, command: () => Promise<string> | string): Promise<void> {
  try {
    say(await command())
  } catch (error) {
    complain(explain(error))
    if (error instanceof UsageError) complain(`\n${usage}`)
    process.exitCode = error instanceof UsageError ? 2 : error instanceof LaterError ? 3 : 1
  }
}
