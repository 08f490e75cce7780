import { start } from '../processes.mjs'

/** Starts a load generator in its own process, with the options of `start`. It runs one load at a time. */
export async function startClient(options) {
  const { child, ask } = await start(new URL('client.mjs', import.meta.url), options)
  const order = async (message) => {
    const { error, result } = await ask(message)
    if (error) throw new Error(`load generator: ${error}`)
    return result
  }
  return {
    child,
    /** Opens `connections` to a port, from the client's own address where `localAddress` is given. */
    async connect(port, connections, { localAddress } = {}) {
      const group = await order({ order: 'connect', port, count: connections, localAddress })
      return {
        /**
         * Prepares a load of these connections. `texts` are complete requests, sent in turn. `depth` is the number of requests in one
         * write, and `pause` the milliseconds between a response and the next request.
         */
        async load(texts, { depth = 1, pause = 0 } = {}) {
          const load = await order({ order: 'prepare', group, texts, depth, pause })
          return {
            /** Returns `{ total, perSecond, statuses, times, closed, seconds, cpu }` of the responses. */
            run: (milliseconds) => order({ order: 'run', load, milliseconds }),
            start: () => order({ order: 'start', load }),
            /** Ends a started load. Returns what `run` returns. */
            stop: () => order({ order: 'stop', load }),
          }
        },
        close: () => order({ order: 'close', group }),
      }
    },
    stop: () => child.disconnect(),
  }
}
