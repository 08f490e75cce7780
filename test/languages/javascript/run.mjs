// Verifies the tokens that it reads as lines of JSON, by a library and in a mode. Prints a verdict for each of them.
import { createInterface } from 'node:readline'

const [library, mode] = process.argv.slice(2)
const { verify } =
  mode === 'strict'
    ? await import(`./${library}-strict.mjs`)
    : { verify: (await import('./defaults.mjs')).defaults[library] }

for await (const line of createInterface({ input: process.stdin })) {
  const verdict = await Promise.resolve()
    .then(() => verify(JSON.parse(line).token))
    .then(
      ({ sub, scope }) => ({ accepted: true, sub, scope }),
      (error) => ({ accepted: false, why: `${error.name}: ${error.message}` }),
    )
  process.stdout.write(`${JSON.stringify(verdict)}\n`)
}
