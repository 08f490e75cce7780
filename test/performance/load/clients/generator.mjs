import { startClient } from '../../client/start-client.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'

/** Starts a load generator, which is stopped at the end. */
export async function startOwnClient() {
  const client = await startClient()
  ownChild(client.child)
  atEnd(() => client.stop())
  return client
}

/**
 * Runs a load whose responses must all be 200.
 * @throws Error for any other response and for a closed connection
 */
export async function runOk(load, milliseconds) {
  const found = await load.run(milliseconds)
  if (found.statuses[200] !== found.total || found.closed > 0) {
    throw new Error(`responses: ${JSON.stringify(found.statuses)}, closed connections: ${found.closed}`)
  }
  return found
}
