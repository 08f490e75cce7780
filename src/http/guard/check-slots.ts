// Not the global, because checks must continue while a host's tests fake the timers.
import { setImmediate } from 'node:timers'

/** The most checks that run at the same time: in total, and for one account store or revocation check. */
const AT_ONCE = { total: 64, perOwner: 32 }

type Check = () => Promise<void>

/** The checks that wait, in the order in which they became due. The first owner is the next to serve. */
const waiting = new Map<object, Set<Check>>()
const running = new WeakMap<object, number>()
let total = 0
let isScheduled = false

/**
 * Runs a check as soon as a slot is free. A slow owner cannot occupy all slots.
 * @param check a function that does not reject
 * @returns a function that removes the check while it waits
 */
export function runCheck(owner: object, check: Check): () => void {
  const checks = waiting.get(owner) ?? new Set()
  waiting.set(owner, checks.add(check))
  startAll()
  return () => {
    if (checks.delete(check) && checks.size === 0) waiting.delete(owner)
  }
}

function startAll(): void {
  for (let next = nextOwner(); next; next = nextOwner()) startFirst(...next)
}

function nextOwner(): [owner: object, checks: Set<Check>] | undefined {
  if (total >= AT_ONCE.total) return undefined
  for (const entry of waiting) if ((running.get(entry[0]) ?? 0) < AT_ONCE.perOwner) return entry
  return undefined
}

function startFirst(owner: object, checks: Set<Check>): void {
  const check = checks.values().next().value as Check
  checks.delete(check)
  // The owners take turns.
  waiting.delete(owner)
  if (checks.size > 0) waiting.set(owner, checks)
  count(owner, 1)
  check().finally(() => {
    count(owner, -1)
    startLater()
  })
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
