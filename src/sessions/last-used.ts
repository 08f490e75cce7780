// Not the global, because a host's tests may fake the timers.
import { setImmediate } from 'node:timers'
import { withDeadline } from '../waiting/host-call.js'
import type { FoundSession, SessionStore } from './session.js'

/** The time between two writes of one session, in milliseconds. */
const EVERY = 60_000

/**
 * The most sessions that are written in that time, and the most writes under way, in total and of one account. A write is under way until the
 * store settles it. A later request writes what was skipped.
 */
const MOST_WRITES = { perMinute: 10_000, atOnce: 64, ofAccount: 4 }

interface Writing {
  store: SessionStore
  now: () => number
  /** The time limit for a write, in milliseconds. */
  timeout: number
  failed(error: unknown): void
}

/**
 * Creates the function that notes the use of a session. It writes in another turn of the event loop and nobody waits for it, so a slow
 * store delays no request.
 */
export function createLastUsed({ store, now, timeout, failed }: Writing): (id: string, session: FoundSession) => void {
  /** The writes of the last minute, oldest first. A replica of a database may return an old `lastUsedAt` after a write. */
  const written = new Map<string, number>()
  /** The account of each write under way. */
  const writing = new Map<symbol, string>()

  async function write(id: string, time: number, place: symbol): Promise<void> {
    const touched = (async () => store.touch(id, new Date(time)))()
    await withDeadline(timeout, touched).catch(failed)
    await touched.catch(() => {})
    writing.delete(place)
  }

  return function noteUse(id, { accountId, lastUsedAt }) {
    const time = now()
    // A clock that was set back must not stop the writes.
    const isRecent = (at: number) => Math.abs(time - at) < EVERY
    if (isRecent(lastUsedAt.getTime()) || isRecent(written.get(id) ?? Number.NEGATIVE_INFINITY)) return
    for (const [old, at] of written) {
      if (isRecent(at)) break
      written.delete(old)
    }
    if (writing.size >= MOST_WRITES.atOnce || written.size >= MOST_WRITES.perMinute) return
    if ([...writing.values()].filter((one) => one === accountId).length >= MOST_WRITES.ofAccount) return
    const place = Symbol()
    writing.set(place, accountId)
    written.set(id, time)
    setImmediate(write, id, time, place)
  }
}
