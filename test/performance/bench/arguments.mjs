import { parseArgs } from 'node:util'

/** The newest Node of each line, with the line of the documentation first. */
export const LINES = ['24', '26', '22', '20']
const DEFAULT_ROUNDS = 7
const QUICK_ROUNDS = 3

/**
 * Reads the parts to run, the Node lines to run them on, and the number of rounds.
 * @throws Error that lists the valid arguments
 */
export function readArguments(words, parts) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { node: { type: 'string' }, rounds: { type: 'string' }, quick: { type: 'boolean', default: false } },
  })
  const unknown = positionals.filter((name) => !parts.includes(name))
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}. There are ${parts.join(', ')}`)
  const lines = values.node?.split(',') ?? LINES
  if (!lines.every((line) => LINES.includes(line))) throw new Error(`--node must be some of ${LINES.join(',')}`)
  const rounds = Number(values.rounds ?? (values.quick ? QUICK_ROUNDS : DEFAULT_ROUNDS))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number, 1 or more')
  return {
    quick: values.quick,
    rounds,
    lines,
    parts: positionals.length > 0 ? parts.filter((name) => positionals.includes(name)) : parts,
  }
}
