// Without a listener, a closed pipe (`npm start | head`) would end the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

/** Prints a line to standard output. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints a line to standard error. */
export function complain(line: string): void {
  process.stderr.write(`${line}\n`)
}
