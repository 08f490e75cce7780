/** An error that the person who runs the program can fix. The program prints its message on one line. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** Wrong arguments of a command. The command prints its usage and exits with 2. */
export class UsageError extends OperatorError {}

/** A failure that may end without a change of the settings. The command exits with 3. */
export class LaterError extends OperatorError {}

/** PostgreSQL or Redis is unreachable. The client gets 503 and can retry. */
export class Outage extends Error {
  override readonly name = 'Outage'
}

/** Returns one line for an expected error, and the stack for a bug in this app. */
export function explain(error: unknown): string {
  if (!(error instanceof Error) || error instanceof OperatorError || error instanceof Outage) return messageOf(error)
  // Errors of the operating system and of the databases have a code and a message that explains them.
  return 'code' in error ? messageOf(error) : (error.stack ?? error.message)
}

/** Returns only the message, because other members of a Redis client's error can contain the password. */
export function messageOf(error: unknown): string {
  // The message is empty when a host name has several addresses and all refuse the connection.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
