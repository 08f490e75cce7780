import { parseArgs } from 'node:util'

/**
 * Reads the parts to run, the scale and the number of rounds.
 * @throws Error that lists the valid arguments
 */
export function readArguments(words, parts) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { scale: { type: 'string', default: '1' }, rounds: { type: 'string', default: '15' } },
  })
  const unknown = positionals.filter((name) => !parts.includes(name))
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}. There are ${parts.join(', ')}`)
  const scale = Number(values.scale)
  if (!(scale >= 0.001 && scale <= 10)) throw new Error('--scale must be a number from 0.001 to 10')
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 3) throw new Error('--rounds must be a whole number, 3 or more')
  return { scale, rounds, parts: positionals.length > 0 ? parts.filter((name) => positionals.includes(name)) : parts }
}
