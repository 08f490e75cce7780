import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { parseJson } from '../../options/values.js'
import type { Session, SessionChange } from '../../sessions/session.js'
import { fail, LeftOut } from './contract-check.js'
import { clear } from './session-calls.js'
import { newSession } from './session-samples.js'
import type { SessionProbe } from './session-store-probe.js'

/** The length of the column that docs/reference/sessions.md names. */
const LONGEST_STATE = 255
const LONGEST_TERMS = 2048
const longData = JSON.stringify({ name: 'Ann’s 💻 \\ "work"; --', more: 'x'.repeat(4000) })

const SWAP =
  'Compare and change in one statement: UPDATE … SET … WHERE id = ? AND refresh = ?, and return whether it changed a row'
const ONLY = 'Store each text as it is, and set in each method only the members that it names'
const UPDATE =
  'Set data in one statement: UPDATE … SET data = ? WHERE id = ?, and return whether there is such a session'
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

  /** Expects a text of a session, as `find` returns it. */
  async function expectText(
    store: SessionProbe,
    id: string,
    name: 'terms' | 'data' | 'refresh',
    expected: string | null,
    when: string,
  ): Promise<void> {
    for (const { option, findState } of store.readers) {
      const found = await findState(id)
      const text = found?.[name] ?? null
      const isSame =
        name === 'data' && text !== null
          ? isDeepStrictEqual(parseJson(text), parseJson(expected ?? ''))
          : text === expected
      if (!isSame) fail(`find of "${option}" returned another "${name}" ${when}`, ONLY)
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
    'find returns the terms that add has stored, and those that replace has set': withState(
      async (store, session, other) => {
        const terms = 't'.repeat(LONGEST_TERMS)
        const withTerms = newSession(accountId, start, 2, { refresh: 'State.1', terms })
        await store.add(withTerms)
        await expectText(store, withTerms.id, 'terms', terms, 'after add')
        await expectText(store, other.id, 'terms', null, 'after add of a session without them')
        await store.replace(withTerms.id, 'State.1', changeTo('State.2'))
        await expectText(store, withTerms.id, 'terms', terms, 'after replace without them')
        await store.replace(session.id, 'State.1', { ...changeTo('State.1'), terms })
        await expectText(store, session.id, 'terms', terms, 'after replace with them')
      },
    ),
    'update sets data, and nothing else, and no change of the session loses it': withState(
      async (store, session, other) => {
        if (!store.canUpdate) throw new LeftOut('the store has no "update", which auth.sessions.update needs')
        for (const data of ['{"a":1}', longData]) {
          if (!(await store.update(session.id, data))) fail('update returned false for a session', UPDATE)
          await expectText(store, session.id, 'data', data, 'after update')
        }
        await expectText(store, other.id, 'data', null, 'of another session after update')
        await expectState(store, session, 'after update')
        await store.touch(session.id, new Date(start + 90_001))
        await Promise.all([
          store.replace(session.id, 'State.1', changeTo('State.2')),
          store.update(session.id, '{"b":2}'),
          store.touch(session.id, new Date(start + 90_002)),
        ])
        await expectText(store, session.id, 'data', '{"b":2}', 'after update and replace at the same time')
        await expectText(store, session.id, 'refresh', 'State.2', 'after update and replace at the same time')
      },
    ),
    'update does not bring a removed session back': withState(async (store, session) => {
      if (!store.canUpdate) throw new LeftOut('the store has no "update", which auth.sessions.update needs')
      await store.remove(session.id, accountId)
      if (await store.update(session.id, '{}')) fail('update returned true for a removed session', UPDATE)
      if (await store.find(session.id)) fail('find returned a session after remove and update', UPDATE)
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
