import { requestText } from '../../support/plain-js/http-client.mjs'
import { start } from './processes.mjs'

/**
 * Starts a load generator in its own process, with the options of `start`. Wait for the result of one call before the next one.
 * @returns `open`, which opens the connections of a load and returns its functions, and `stop`
 */
export async function startLoadClient(options) {
  const { pid, ask, stop } = await start('load-client.mjs', options)
  async function order(message) {
    const { error, result } = await ask(message)
    if (error) throw new Error(`load generator: ${error}`)
    return result
  }
  return {
    pid,
    stop,
    /**
     * Opens kept connections that send requests in turn.
     * @param options `depth` is the number of requests in one write, `pause` the milliseconds between a response and the next request,
     *   and `localAddress` the client's own address
     */
    async open(port, requests, { connections = 32, depth = 1, pause = 0, localAddress } = {}) {
      const texts = requests.map(requestText)
      const load = await order({ order: 'open', port, texts, connections, depth, pause, localAddress })
      return {
        /** Returns `{ total, perSecond, statuses, times, closed, seconds }` of the responses. */
        run: (milliseconds) => order({ order: 'run', load, milliseconds }),
        begin: () => order({ order: 'begin', load }),
        /** Ends a load after `begin`. Returns what `run` returns. */
        stop: () => order({ order: 'stop', load }),
      }
    },
  }
}
