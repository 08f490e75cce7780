import { startClient } from '../../client/start-client.mjs'
import { ownFork } from '../cleanup.mjs'

/** Starts a load generator, which is stopped at the end. */
export async function startOwnClient() {
  const client = await startClient()
  ownFork(client.child)
  return client
}

/**
 * Runs a load whose responses must all be 200. Closed connections are right, because nginx closes each one after 1,000 requests.
 * @throws Error for any other response
 */
export async function runOk(load, milliseconds) {
  const found = await load.run(milliseconds)
  if (found.statuses[200] !== found.total) throw new Error(`responses by status: ${JSON.stringify(found.statuses)}`)
  return found
}
