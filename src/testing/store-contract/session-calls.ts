// Not the global, because a host's tests may fake the timers.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Session } from '../../sessions/session.js'
import type { SessionProbe } from './session-store-probe.js'

/** Reads sessions as guards and users do. Ignores errors and results, because the checks of `find` and `list` report them. */
export async function readAll({ readers }: SessionProbe, sessions: readonly Session[]): Promise<void> {
  for (const { find, list } of readers) {
    for (const { id, accountId } of sessions) await Promise.all([find(id), list(accountId)]).catch(() => {})
  }
}

/** Returns a store object for one of several calls at the same time, in turn, because processes do not share a lock. */
export const writerOf = ({ writers }: SessionProbe, call: number) =>
  writers[call % writers.length] as SessionProbe['writers'][number]

/** Removes the sessions of an account. Ignores errors, because the test reports the check's own error. */
export async function clear({ list, remove, removeAll }: SessionProbe, accountId: string): Promise<void> {
  await removeAll(accountId).catch(() => {})
  // A store whose removeAll is wrong must not fail the next checks too.
  for (const { id } of await list(accountId).catch(() => [])) await remove(id, accountId).catch(() => {})
}

/** The most calls of `touch` for one session at the same time, as `createAuth` makes them, and in total. */
const TOUCHES = { atOnce: 4, inTotal: 200 }

/**
 * Ends or changes sessions while they are touched again and again, from different turns of the event loop. At any time, one of the calls is between its
 * statements, if it has several.
 */
export async function whileTouched(store: SessionProbe, sessions: readonly Session[], end: () => Promise<unknown>) {
  let hasEnded = false
  async function touchAgain({ id, lastUsedAt }: Session, phase: number): Promise<void> {
    for (let turn = 0; turn < phase; turn++) await nextTurn()
    for (let call = 0; !hasEnded && call < TOUCHES.inTotal / TOUCHES.atOnce; call++) {
      await store.touch(id, new Date(lastUsedAt.getTime() + 60_000 + call))
      await nextTurn()
    }
  }
  const touching = sessions.flatMap((session) =>
    Array.from({ length: TOUCHES.atOnce }, (_, phase) => touchAgain(session, phase)),
  )
  const ending = end().finally(() => {
    hasEnded = true
  })
  const results = await Promise.allSettled([ending, ...touching])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
