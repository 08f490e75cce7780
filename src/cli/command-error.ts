/** An error that the user of the command can fix, printed as one line. Never holds a password, a token or a key. */
export class CommandError extends Error {
  override readonly name: string = 'Failure'
}

/** The command line is wrong. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

/** The exit statuses of a command. */
export const EXIT = { holds: 0, fails: 1, usage: 2 } as const
