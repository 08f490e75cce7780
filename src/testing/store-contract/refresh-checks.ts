import { randomUUID } from 'node:crypto'
import type { Session, SessionChange } from '../../sessions/session.js'
import { fail, LeftOut } from './contract-check.js'
import { clear } from './session-calls.js'
import { newSession } from './session-samples.js'
import type { SessionProbe } from './session-store-probe.js'

/** The length of the column that docs/reference/sessions.md names. */
const LONGEST_STATE = 255

const SWAP =
  'Compare and change in one statement: UPDATE … SET … WHERE id = ? AND refresh = ?, and return whether it changed a row'
const EXACT = 'Store and compare the text exactly, letter by letter, with room for 255 characters'

/** Returns the checks of `replace`, which the option `refresh` of `createAuth` needs, by their names. */
export function refreshChecks(accountId: string): Record<string, (store: SessionProbe) => Promise<void>> {
  const start = Math.floor(Date.now() / 1000) * 1000 + 123
  const changeTo = (refresh: string): SessionChange => ({
    refresh,
    expiresAt: new Date(start + 86_400_321),
    lastUsedAt: new Date(start + 60_213),
  })

  /** Runs a check with one session that has a state and one that has none. */
  function withState(check: (store: SessionProbe, session: Session, other: Session) => Promise<void>) {
    return async (store: SessionProbe) => {
      if (!store.canReplace) throw new LeftOut('the store has no "replace", which the option "refresh" needs')
      const session = newSession(accountId, start, 0, { refresh: 'State.1' })
      const other = newSession(accountId, start, 1, { refresh: null })
      try {
        for (const one of [session, other]) await store.add(one)
        await check(store, session, other)
      } finally {
        await clear(store, accountId)
      }
    }
  }

  async function expectState(store: SessionProbe, session: Session, when: string): Promise<void> {
    for (const { option, findState } of store.readers) {
      const found = await findState(session.id)
      const faults = (['refresh', 'createdAt', 'expiresAt', 'lastUsedAt'] as const).filter(
        (name) => String(found?.[name]?.valueOf() ?? null) !== String(session[name]?.valueOf() ?? null),
      )
      if (faults.length > 0) fail(`find of "${option}" returned another "${faults.join('", "')}" ${when}`, EXACT)
    }
  }

  return {
    'find returns the refresh that add has stored, and null for none': withState(async (store, session, other) => {
      await expectState(store, session, 'after add')
      await expectState(store, other, 'after add of a session without it')
      const long = newSession(accountId, start, 2, { refresh: 'r'.repeat(LONGEST_STATE) })
      await store.add(long)
      await expectState(store, long, 'after add of a long text')
    }),
    'replace changes refresh, expiresAt and lastUsedAt, and nothing else': withState(async (store, session, other) => {
      const change = changeTo('State.2')
      if (!(await store.replace(session.id, 'State.1', change)))
        fail('replace returned false for the stored text', SWAP)
      await expectState(store, { ...session, ...change }, 'after replace')
      await expectState(store, other, 'of another session after replace')
    }),
    'replace changes nothing when the stored text is another one': withState(async (store, session, other) => {
      const calls: [id: string, from: string][] = [
        [session.id, 'State.0'],
        [session.id, 'state.1'],
        [session.id, 'State.1 '],
        [session.id, 'State'],
        [session.id, ''],
        [other.id, 'null'],
        [other.id, ''],
        [randomUUID(), 'State.1'],
      ]
      for (const [id, from] of calls) {
        const isSwapped = await store.replace(id, from, changeTo('State.9'))
        if (isSwapped) fail(`replace returned true for ${JSON.stringify(from)}, which is not the stored text`, EXACT)
      }
      for (const one of [session, other]) await expectState(store, one, 'after replace with another text')
    }),
    'replace lets one of several calls at the same time win': withState(async (store, session) => {
      const results = await Promise.all(
        [2, 3, 4, 5, 6].map((i) => store.replace(session.id, 'State.1', changeTo(`State.${i}`))),
      )
      const winners = results.filter(Boolean).length
      if (winners !== 1)
        fail(`replace returned true for ${winners} of five calls at the same time, instead of one`, SWAP)
      await expectState(
        store,
        { ...session, ...changeTo(`State.${results.indexOf(true) + 2}`) },
        'after five calls of replace',
      )
    }),
    'replace does not bring a removed session back': withState(async (store, session) => {
      await Promise.all([
        store.replace(session.id, 'State.1', changeTo('State.2')),
        store.remove(session.id, accountId),
        store.replace(session.id, 'State.2', changeTo('State.3')),
      ])
      await store.replace(session.id, 'State.2', changeTo('State.4'))
      if (await store.find(session.id)) fail('find returned a session after remove and replace at the same time', SWAP)
      const listed = await store.list(accountId)
      if (listed.some(({ id }) => id === session.id)) fail('list returned a session after remove and replace', SWAP)
    }),
  }
}
