// Not the global, because checks must continue while a host's tests fake the timers.
import { setImmediate } from 'node:timers'

/** The most checks that run at the same time: in total, and for one account store or revocation check. */
const AT_ONCE = { total: 64, perOwner: 32 }

type Check = () => Promise<void>

interface Owner {
  running: number
  /** The checks that wait, in the order in which they became due. */
  readonly waiting: Set<Check>
}

/** The owners that have checks. The first is the next to serve. */
const owners = new Map<object, Owner>()
let running = 0
let isScheduled = false

/**
 * Runs a check as soon as a slot is free. A slow owner cannot occupy all slots.
 * @param check a function that does not reject
 * @returns a function that removes the check while it waits
 */
export function runCheck(key: object, check: Check): () => void {
  const owner = owners.get(key) ?? { running: 0, waiting: new Set() }
  owners.set(key, owner)
  owner.waiting.add(check)
  startAll()
  return () => {
    owner.waiting.delete(check)
    forgetIdle(key, owner)
  }
}

function startAll(): void {
  for (let next = nextOwner(); next; next = nextOwner()) {
    const [key, owner] = next
    const [check] = owner.waiting
    if (check) start(key, owner, check)
  }
}

function nextOwner(): [object, Owner] | undefined {
  if (running >= AT_ONCE.total) return undefined
  for (const entry of owners) {
    const [, owner] = entry
    if (owner.waiting.size > 0 && owner.running < AT_ONCE.perOwner) return entry
  }
  return undefined
}

function start(key: object, owner: Owner, check: Check): void {
  owner.waiting.delete(check)
  owner.running++
  running++
  // The owners take turns.
  owners.delete(key)
  owners.set(key, owner)
  check().finally(() => {
    owner.running--
    running--
    forgetIdle(key, owner)
    startLater()
  })
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

function forgetIdle(key: object, owner: Owner): void {
  if (owner.running === 0 && owner.waiting.size === 0 && owners.get(key) === owner) owners.delete(key)
}
