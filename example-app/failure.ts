/** What whoever runs the program can put right. Shown as one line. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** That a part behind this app does not answer. It is no bug of ours, and the client may try again. */
export class Outage extends Error {
  override readonly name = 'Outage'
}

/** The line to show for an error, or its stack when it is a bug of ours. */
export function explain(error: unknown): string {
  if (!(error instanceof Error) || error instanceof Failure || error instanceof Outage) return messageOf(error)
  // Errors of the operating system and of the database carry a code, and say themselves what is wrong.
  return 'code' in error ? messageOf(error) : (error.stack ?? error.message)
}

/** Never more than the message: what a Redis client throws also holds the command, and with it the password. */
export function messageOf(error: unknown): string {
  // None of a host name's addresses answers: the message is empty.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
