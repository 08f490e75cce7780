import { parseArgs } from 'node:util'

const OPTIONS = {
  scale: { type: 'string', default: '1' },
  rounds: { type: 'string', default: '15' },
  node: { type: 'string' },
  write: { type: 'boolean', default: false },
}

/**
 * Reads the parts to run, the scale, the number of rounds, the version of Node, and whether to write the figures to the page.
 * @throws Error that lists the valid arguments
 */
export function readArguments(words, parts) {
  const { values, positionals } = parseArgs({ args: words, allowPositionals: true, options: OPTIONS })
  const unknown = positionals.filter((name) => !parts.includes(name))
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}. There are ${parts.join(', ')}`)
  const scale = Number(values.scale)
  if (!(scale >= 0.001 && scale <= 10)) throw new Error('--scale must be a number from 0.001 to 10')
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 3) throw new Error('--rounds must be a whole number, 3 or more')
  const { node, write } = values
  if (node !== undefined && !/^\d+(\.\d+){0,2}$/.test(node)) throw new Error('--node must be a version, such as 24')
  const asked = positionals.length > 0 ? parts.filter((name) => positionals.includes(name)) : parts
  return { scale, rounds, node, write, parts: asked }
}
