/** What whoever runs the command can put right: told in one line. Never holds a password, a token or a key. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
}

/** The command line is wrong. */
export class UsageError extends Failure {
  override readonly name = 'UsageError'
}

/** What a command ends with. */
export const EXIT = { holds: 0, fails: 1, usage: 2 } as const
