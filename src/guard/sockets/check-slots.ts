// Not the global, because checks must continue while a host's tests fake the timers.
import { setImmediate } from 'node:timers'
import { createGate, type Leave, NOWHERE } from '../../concurrency/gate.js'

/** Each connection waits with one check at most. */
const EVERY_CONNECTION = { total: Infinity, perNetwork: Infinity, perConnection: Infinity }

/** The checks that run at the same time: at most 64 in total, and 32 of one account store or revocation check. */
const checks = createGate({ total: 64, perConnection: 32 }, { queue: EVERY_CONNECTION })

/**
 * Runs a check as soon as there is room. A slow owner cannot occupy all of it.
 * @param run a function that does not reject
 * @returns a function that removes the check while it waits
 */
export function runCheck(owner: object, run: () => Promise<void>): () => void {
  const source = { ...NOWHERE, connection: owner }
  async function runInside(leave: Leave): Promise<void> {
    await run()
    // In another turn of the event loop, so that many short checks do not delay requests.
    setImmediate(leave)
  }
  const leave = checks.tryEnter(source)
  if (leave) {
    void runInside(leave)
    return () => {}
  }
  const canceled = new AbortController()
  // A check that was removed has nothing to report.
  checks.enter({ source, signal: canceled.signal }).then(runInside, () => {})
  return () => canceled.abort()
}
