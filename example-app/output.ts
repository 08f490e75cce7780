/** A reader that has gone away (`npm start | head`) must not take the server with it. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** To standard output: what was asked for. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** To standard error: what went wrong. */
export function complain(line: string): void {
  process.stderr.write(`${line}\n`)
}
