/** What whoever runs the program can put right. Shown as one line. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** The line to show for an error, or its stack when it is a bug of ours. */
export function explain(error: unknown): string {
  if (error instanceof Failure) return error.message
  if (!(error instanceof Error)) return String(error)
  // Errors of the operating system and of the database carry a code, and say themselves what is wrong.
  return 'code' in error ? error.message : (error.stack ?? error.message)
}
