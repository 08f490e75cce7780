import { startClient } from '../../client/start-client.mjs'
import { CLIENT_CORE, SERVER_CORE, start } from '../../processes.mjs'

/** Milliseconds of warm-up for each load of a new server. */
const WARM_UP = 300
/** Short slices, so that a disturbance of the machine affects both slices of a pair. */
const SLICE = 40
const CONNECTIONS = 32

/** Starts a measured server. It sends `{ port, … }` first, and responds to the message 'cpu' with `process.cpuUsage()`. */
export const startServer = (file, options) => start(new URL(file, import.meta.url), { ...options, core: SERVER_CORE })

/**
 * Measures two loads in turn, in the order ABBA.
 * @param sides the base, and the load to compare. Each has its server, and its requests as texts
 * @returns the pairs. Each has, for both sides, the responses per second and the microseconds of processor time for each response
 */
export async function inPairs(count, sides, warmUp = WARM_UP) {
  const client = await startClient({ core: CLIENT_CORE })
  const connections = new Map()
  const loads = []
  for (const { server, texts } of sides) {
    if (!connections.has(server)) connections.set(server, await client.connect(server.first.port, CONNECTIONS))
    loads.push(await connections.get(server).load(texts))
  }
  for (const load of loads) await load.run(warmUp)

  async function slice(side) {
    const { server } = sides[side]
    const before = await server.ask('cpu')
    const { perSecond, total, statuses } = await loads[side].run(SLICE)
    const after = await server.ask('cpu')
    if (statuses[200] !== total) throw new Error(`a measured server returned ${Object.keys(statuses)}`)
    return { perSecond, processor: (after.user + after.system - before.user - before.system) / total }
  }

  const pairs = []
  while (pairs.length < count) {
    const pair = []
    for (const side of pairs.length % 2 ? [1, 0] : [0, 1]) pair[side] = await slice(side)
    pairs.push({ base: pair[0], held: pair[1] })
  }
  client.stop()
  return pairs
}
