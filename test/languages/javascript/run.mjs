// Loads a program of this folder, and verifies the tokens that it reads as lines of JSON. Prints a verdict for each of them.
import { createInterface } from 'node:readline'

const { verify } = await import(new URL(process.argv[2], import.meta.url))

for await (const line of createInterface({ input: process.stdin })) {
  const verdict = await Promise.resolve()
    .then(() => verify(JSON.parse(line).token))
    .then(
      ({ sub, scope }) => ({ accepted: true, sub, scope }),
      (error) => ({ accepted: false, why: `${error.name}: ${error.message}` }),
    )
  process.stdout.write(`${JSON.stringify(verdict)}\n`)
}
