import { AuthError } from '../refusals/auth-error.js'
import type { QueueLimits, Source } from './fair-queue.js'

/** A request that waits for its task. `end` is removed after the task, because Node may collect this object much later than the request. */
interface Wait {
  /** Ends the wait. The task continues. Null when no other request may end the wait any more, undefined after it. */
  end: (() => void) | null | undefined
}

/**
 * Creates a limit for running tasks: in total, for one client network, and for one connection. Running tasks cannot give way, so a
 * network may have at most as many as are still free. When a connection exceeds its limit, all its requests get their response at
 * once, because responses leave a connection in order and later ones would stay in memory. Their tasks continue, and still count.
 */
export function createHostCallLimit({ total, perNetwork, perConnection }: QueueLimits) {
  let held = 0
  const networks = new Map<string, number>()
  const connections = new WeakMap<object, Set<Wait>>()

  function enter({ network, connection }: Source, entering: Wait): boolean {
    const ofConnection = connection && connections.get(connection)
    if (ofConnection && ofConnection.size >= perConnection) {
      for (const wait of ofConnection) {
        wait.end?.()
        // Each further request of the connection would create an error for every wait again.
        wait.end &&= undefined
      }
      return false
    }
    const ofNetwork = networks.get(network) ?? 0
    if (ofNetwork >= Math.min(perNetwork, total - held)) return false
    held++
    networks.set(network, ofNetwork + 1)
    if (ofConnection) ofConnection.add(entering)
    else if (connection) connections.set(connection, new Set([entering]))
    return true
  }

  function leave({ network, connection }: Source, wait: Wait): void {
    wait.end = undefined
    held--
    const ofNetwork = (networks.get(network) ?? 0) - 1
    if (ofNetwork > 0) networks.set(network, ofNetwork)
    else networks.delete(network)
    connections.get(connection as object)?.delete(wait)
  }

  /**
   * Runs a task that counts against the limit until it has settled. The task receives a function that returns whether the request still
   * waits. From the first call on, no other request ends the wait.
   * @throws AuthError `overloaded` when a limit is reached; what the task rejects with
   */
  return <T>(source: Source, task: (isWanted: () => boolean) => PromiseLike<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const overloaded = () => reject(new AuthError('overloaded'))
      const wait: Wait = { end: overloaded }
      if (!enter(source, wait)) return overloaded()
      const isWanted = () => {
        wait.end &&= null
        return wait.end === null
      }
      const run = async () => task(isWanted)
      // Leaves first, because the request may enter again for its next task.
      run()
        .finally(() => leave(source, wait))
        .then(resolve, reject)
    })
}
