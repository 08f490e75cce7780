// Not the global, because a host's tests may fake the timers.
import { setImmediate } from 'node:timers'
import { withDeadline } from '../concurrency/host-call.js'
import { createLimit, type End } from '../concurrency/limit.js'
import type { SessionFacts, SessionStore } from './session.js'

/** The time between two writes of one session, in milliseconds. */
const EVERY = 60_000

/** The most sessions that are written in that time. A later request writes what was skipped. */
const MOST_WRITES = 10_000

/** The most writes under way, in total and of one account. A write is under way until the store settles it. */
const AT_ONCE = { total: 64, perNetwork: 4 }

interface Writing {
  store: SessionStore
  /** The time limit for a write, in milliseconds. */
  timeout: number
  failed(error: unknown): void
}

/** The writes of the last minute, oldest first. A replica of a database may return an old `lastUsedAt` after a write. */
const newWrites = () => ({ written: new Map<string, number>(), beginWrite: createLimit(AT_ONCE) })

/** The writes of each store, which all guards with this store share. */
const writesOf = new WeakMap<object, ReturnType<typeof newWrites>>()

/**
 * Creates the function that notes the use of a session. It writes in another turn of the event loop, and no request waits for it, so
 * a slow store delays none.
 */
export function createLastUsed({ store, timeout, failed }: Writing) {
  const writes = writesOf.get(store) ?? newWrites()
  writesOf.set(store, writes)
  const { written, beginWrite } = writes

  async function write(id: string, time: number, end: End): Promise<void> {
    const touched = (async () => store.touch(id, new Date(time)))()
    await withDeadline(timeout, touched).catch(failed)
    await touched.catch(() => {})
    end()
  }

  return function noteUse(id: string, { accountId, lastUsedAt }: SessionFacts, time: number): void {
    // A clock that was set back must not stop the writes.
    const isRecent = (at: number) => Math.abs(time - at) < EVERY
    if (isRecent(lastUsedAt.getTime()) || isRecent(written.get(id) ?? Number.NEGATIVE_INFINITY)) return
    for (const [old, at] of written) {
      if (isRecent(at)) break
      written.delete(old)
    }
    if (written.size >= MOST_WRITES) return
    const end = beginWrite(accountId)
    if (!end) return
    written.set(id, time)
    setImmediate(write, id, time, end)
  }
}
