// Not the global, because checks must continue while a host's tests fake the timers.
import { setImmediate } from 'node:timers'
import { createFairQueue } from '../../waiting/fair-queue.js'

/** The most checks that run at the same time: in total, and for one account store or revocation check. */
const AT_ONCE = { total: 64, perOwner: 32 }

interface ConnectionCheck {
  readonly owner: object
  run(): Promise<void>
}

/** Each connection waits with one check at most. */
const NO_LIMITS = { total: Infinity, perNetwork: Infinity, perConnection: Infinity }
/** The checks that wait, in a lane for each owner. */
const waiting = createFairQueue<ConnectionCheck>(NO_LIMITS, () => {})
const running = new WeakMap<object, number>()
let total = 0
let isScheduled = false

/**
 * Runs a check as soon as a slot is free. A slow owner cannot occupy all slots.
 * @param run a function that does not reject
 * @returns a function that removes the check while it waits
 */
export function runCheck(owner: object, run: () => Promise<void>): () => void {
  const slot = waiting.add({ network: 'all', connection: owner }, { owner, run })
  startAll()
  return () => slot && waiting.remove(slot)
}

const hasSlot = ({ owner }: ConnectionCheck) => (running.get(owner) ?? 0) < AT_ONCE.perOwner

function startAll(): void {
  while (total < AT_ONCE.total) {
    const next = waiting.take(hasSlot)
    if (!next) return
    count(next.owner, 1)
    next.run().finally(() => {
      count(next.owner, -1)
      startLater()
    })
  }
}

function count(owner: object, by: 1 | -1): void {
  running.set(owner, (running.get(owner) ?? 0) + by)
  total += by
}

/** Starts the next checks in another turn of the event loop, so that many short checks do not delay requests. */
function startLater(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    startAll()
  })
}
