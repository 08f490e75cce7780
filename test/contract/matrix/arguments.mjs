import { parseArgs } from 'node:util'

/** The oldest Node that `engines` allows, and the newest of each later line. */
const NODES = ['20.19.0', '22', '24', '26']
/** The runtimes other than Node. */
const RUNTIMES = ['bun', 'deno']

/**
 * Reads the versions of Node to test, or their beginnings, the other runtimes, and whether to run only the packed consumers.
 * @throws Error that lists the valid arguments
 */
export function readArguments(words) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { consumers: { type: 'boolean', default: false } },
  })
  const runtimes = positionals.filter((word) => RUNTIMES.includes(word))
  const nodes = positionals.filter((word) => !RUNTIMES.includes(word))
  const unknown = nodes.filter((version) => !/^\d+(\.\d+){0,2}$/.test(version))
  if (unknown.length > 0) {
    throw new Error(
      `no version of Node: ${unknown.join(', ')}. Write 22, 22.12 or 22.12.0, or ${RUNTIMES.join(' or ')}`,
    )
  }
  const chosen = positionals.length > 0 ? { nodes, runtimes } : { nodes: NODES, runtimes: RUNTIMES }
  return { consumers: values.consumers, ...chosen }
}
