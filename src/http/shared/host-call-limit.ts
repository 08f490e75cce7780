import { AuthError } from '../../shared/errors.js'
import type { QueueLimits, Source } from '../../shared/queues/fair-queue.js'

/**
 * Runs a task that counts against a limit until it has settled.
 * @throws AuthError `overloaded` when a limit is reached; what the task rejects with
 */
export type LimitHostCalls = <T>(source: Source, task: () => PromiseLike<T>) => Promise<T>

/** Ends the wait of a request. Its task continues. */
type EndWait = () => void

/**
 * Creates a limit for running tasks: in total, for one client network, and for one connection. When a connection exceeds its limit, all
 * its requests get their response at once, because responses leave a connection in order and later ones would stay in memory. Their
 * tasks continue, and still count.
 */
export function createHostCallLimit({ total, perNetwork, perConnection }: QueueLimits): LimitHostCalls {
  let held = 0
  const networks = new Map<string, number>()
  const connections = new Map<object, Set<EndWait>>()

  function enter({ network, connection }: Source, endWait: EndWait): boolean {
    const ofConnection = connection && connections.get(connection)
    if (ofConnection && ofConnection.size >= perConnection) {
      for (const end of ofConnection) end()
      return false
    }
    const ofNetwork = networks.get(network) ?? 0
    if (held >= total || ofNetwork >= perNetwork) return false
    held++
    networks.set(network, ofNetwork + 1)
    if (ofConnection) ofConnection.add(endWait)
    else if (connection) connections.set(connection, new Set([endWait]))
    return true
  }

  function leave({ network, connection }: Source, endWait: EndWait): void {
    held--
    const ofNetwork = (networks.get(network) ?? 0) - 1
    if (ofNetwork > 0) networks.set(network, ofNetwork)
    else networks.delete(network)
    const ofConnection = connection && connections.get(connection)
    ofConnection?.delete(endWait)
    if (connection && ofConnection?.size === 0) connections.delete(connection)
  }

  return (source, task) =>
    new Promise((resolve, reject) => {
      let hasEnded = false
      // Creates one error. On a connection at its limit, each further request ends every wait again.
      const overloaded = () => {
        if (hasEnded) return
        hasEnded = true
        reject(new AuthError('overloaded'))
      }
      if (!enter(source, overloaded)) return overloaded()
      const run = async () => task()
      run()
        .then(resolve, reject)
        .finally(() => leave(source, overloaded))
    })
}
