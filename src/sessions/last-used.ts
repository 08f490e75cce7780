// Not the global, because a host's tests may fake the timers.
import { setImmediate } from 'node:timers'
import { withDeadline } from '../shared/host/host-call.js'
import type { Session, SessionStore } from './session.js'

/** The time between two writes of one session, in milliseconds. */
const EVERY = 60_000

/** The most sessions that are written in that time, and the most writes under way. A later request writes what was skipped. */
export const MOST_WRITES = { perMinute: 10_000, atOnce: 64 }

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
export function createLastUsed({ store, now, timeout, failed }: Writing): (session: Session) => void {
  /** The writes of the last minute, oldest first. A replica of a database may return an old `lastUsedAt` after a write. */
  const written = new Map<string, number>()
  let writing = 0

  async function write(id: string, time: number): Promise<void> {
    try {
      await withDeadline(timeout, store.touch(id, new Date(time)))
    } catch (error) {
      failed(error)
    }
    writing--
  }

  return function noteUse({ id, lastUsedAt }) {
    const time = now()
    if (time - Math.max(lastUsedAt.getTime(), written.get(id) ?? 0) < EVERY) return
    for (const [old, at] of written) {
      if (time - at < EVERY) break
      written.delete(old)
    }
    if (writing >= MOST_WRITES.atOnce || written.size >= MOST_WRITES.perMinute) return
    written.set(id, time)
    writing++
    setImmediate(write, id, time)
  }
}
