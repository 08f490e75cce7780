import { requestText } from '../../support/plain-js/http-client.mjs'
import { start } from './processes.mjs'

/**
 * Starts a load generator in its own process, with the options of `start`. Wait for the result of one call before the next one.
 * @returns `open`, which opens the connections of a load and returns its function `run`, and `stop`
 */
export async function startLoadClient(options) {
  const { ask, stop } = await start('load-client.mjs', options)
  async function order(message) {
    const { error, result } = await ask(message)
    if (error) throw new Error(`load generator: ${error}`)
    return result
  }
  return {
    stop,
    /** Opens kept connections that send requests in turn. */
    async open(port, requests, { connections = 32 } = {}) {
      const load = await order({ order: 'open', port, texts: requests.map(requestText), connections })
      /** Returns `{ total, perSecond, statuses }` of the responses. */
      return { run: (milliseconds) => order({ order: 'run', load, milliseconds }) }
    },
  }
}
