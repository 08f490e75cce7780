import { randomUUID } from 'node:crypto'
// Not the global, because a host's tests may fake the timers.
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { parseJson } from '../../options/values.js'
import type { Session, SessionChange } from '../../sessions/session.js'
import { fail, LeftOut } from './contract-check.js'
import { clear, readAll, whileTouched, writerOf } from './session-calls.js'
import { expectGone, expectThere } from './session-expectations.js'
import { newSession } from './session-samples.js'
import type { SessionProbe } from './session-store-probe.js'

/** The length of the column that docs/reference/sessions.md names. */
const LONGEST_STATE = 255
const LONGEST_TERMS = 2048
const longData = JSON.stringify({ name: 'Ann’s 💻 \\ "work"; --', more: 'x'.repeat(4000) })

const SWAP =
  'Compare and change in one statement: UPDATE … SET … WHERE id = ? AND refresh = ?, and return whether it changed a row. A lock in the process does not reach other processes'
const ONLY = 'Store each text as it is, and set in each method only the members that it names'
const UPDATE =
  'Set data in one statement: UPDATE … SET data = ? WHERE id = ?, and return whether there is such a session'
const NO_UPDATE = 'the store has no "update", which auth.sessions.update needs. Add the method to the store'
const EXACT = 'Store and compare the text exactly, letter by letter, with room for 255 characters'
const ALL_OF_IT =
  'Change refresh, expiresAt and lastUsedAt wherever the store has them: in the session, in the list of its account, in a cache and in the time to live. Change nothing else'
const TOUCH_ONE =
  'Set only lastUsedAt, in one statement. Do not write back what touch, or an earlier call, has read of the session'

/** The time from an addition to the end of its session, in milliseconds. Longer after a try in which the store needed longer. */
const SHORT_TIMES = [1100, 4000]

/** A time by which clocks and rounded times to live differ, in milliseconds. */
const LATE = 150

/** Returns the checks of `replace`, which the option `refresh` of `createAuth` needs, by their names. */
export function refreshChecks(accountId: string): Record<string, (store: SessionProbe) => Promise<void>> {
  const start = Math.floor(Date.now() / 1000) * 1000 + 123
  const changeTo = (refresh: string): SessionChange => ({
    refresh,
    expiresAt: new Date(start + 86_400_321),
    lastUsedAt: new Date(start + 60_213),
  })

  type Sessions = [session: Session, other: Session, same: Session]

  /** Runs a check with a session that has a state, one that has none, and one with the same state. They are read before, as a cache does. */
  function withState(check: (store: SessionProbe, ...sessions: Sessions) => Promise<void>) {
    return async (store: SessionProbe) => {
      if (!store.canReplace) throw new LeftOut('the store has no "replace", which the option "refresh" needs')
      const sessions: Sessions = [
        newSession(accountId, start, 0, { refresh: 'State.1' }),
        newSession(accountId, start, 1, { refresh: null }),
        newSession(accountId, start, 2, { refresh: 'State.1' }),
      ]
      try {
        for (const one of sessions) await store.add(one)
        await readAll(store, sessions)
        await check(store, ...sessions)
      } finally {
        await clear(store, accountId)
      }
    }
  }

  async function expectState(
    store: SessionProbe,
    session: Session,
    when: string,
    advice: { find: string; list: string } = { find: EXACT, list: ALL_OF_IT },
  ): Promise<void> {
    for (const { option, findState, list } of store.readers) {
      const [found, listed] = [
        await findState(session.id),
        (await list(session.accountId)).find(({ id }) => id === session.id),
      ]
      const differing = (result: object | null | undefined, names: readonly (keyof Session)[]) =>
        names.filter((name) => textOf((result as Partial<Session> | undefined)?.[name]) !== textOf(session[name]))
      const wrongIn = {
        find: differing(found, ['refresh', 'createdAt', 'expiresAt', 'lastUsedAt']),
        list: differing(listed, ['createdAt', 'expiresAt', 'lastUsedAt', 'address', 'userAgent', 'label']),
      }
      for (const [method, names] of Object.entries(wrongIn) as ['find' | 'list', string[]][]) {
        if (names.length > 0)
          fail(`${method} of "${option}" returned another "${names.join('", "')}" ${when}`, advice[method])
      }
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
      const long = newSession(accountId, start, 3, { refresh: 'r'.repeat(LONGEST_STATE) })
      await store.add(long)
      await expectState(store, long, 'after add of a long text')
    }),
    'replace changes refresh, expiresAt and lastUsedAt, and nothing else': withState(
      async (store, session, other, same) => {
        const advice = { find: ALL_OF_IT, list: ALL_OF_IT }
        const change = changeTo('State.2')
        if (!(await store.replace(session.id, 'State.1', change)))
          fail('replace returned false for the stored text', SWAP)
        await expectState(store, { ...session, ...change }, 'after replace', advice)
        await expectState(store, other, 'of another session after replace', advice)
        await expectState(store, same, 'of another session with the same refresh after replace', advice)
        const earlier = { refresh: 'State.3', expiresAt: new Date(start + 3_600_321), lastUsedAt: new Date(start) }
        if (!(await store.replace(session.id, 'State.2', earlier)))
          fail('replace returned false for the text that replace has stored', SWAP)
        await expectState(store, { ...session, ...earlier }, 'after replace with earlier times', advice)
      },
    ),
    'replace moves the end of a session, so that it stays after its first end': withState(async (store) => {
      for (const time of SHORT_TIMES) {
        const end = Date.now() + time
        const session = newSession(accountId, Date.now(), 0, { refresh: 'State.1', expiresAt: new Date(end) })
        const change = changeTo('State.2')
        await store.add(session)
        const isReplaced = await store.replace(session.id, 'State.1', change)
        // Or the store had deleted the session already, as it may.
        if (Date.now() > end - LATE) continue
        if (!isReplaced) fail('replace returned false for the stored text of a session that ends soon', SWAP)
        await setTimeout(end + LATE - Date.now())
        const when = 'after the end that it had before replace'
        await expectThere(store, session, when, ALL_OF_IT)
        await expectState(store, { ...session, ...change }, when, { find: ALL_OF_IT, list: ALL_OF_IT })
        return
      }
      fail(`add and replace took ${SHORT_TIMES.at(-1)} ms`, 'Test with a database that is nearer')
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
    'replace lets one of several calls at the same time win, also in several processes': withState(
      async (store, session) => {
        const results = await Promise.all(
          [2, 3, 4, 5, 6].map((i) => writerOf(store, i).replace(session.id, 'State.1', changeTo(`State.${i}`))),
        )
        const winners = results.filter(Boolean).length
        if (winners !== 1)
          fail(`replace returned true for ${winners} of five calls at the same time, instead of one`, SWAP)
        await expectState(
          store,
          { ...session, ...changeTo(`State.${results.indexOf(true) + 2}`) },
          'after five calls of replace',
        )
      },
    ),
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
        if (!store.canUpdate) throw new LeftOut(NO_UPDATE)
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
      if (!store.canUpdate) throw new LeftOut(NO_UPDATE)
      await store.remove(session.id, accountId)
      if (await store.update(session.id, '{}')) fail('update returned true for a removed session', UPDATE)
      if (await store.find(session.id)) fail('find returned a session after remove and update', UPDATE)
    }),
    'replace does not bring a removed session back, and returns false for it': withState(
      async (store, session, _other, same) => {
        await Promise.all([
          writerOf(store, 0).replace(session.id, 'State.1', changeTo('State.2')),
          writerOf(store, 1).remove(session.id, accountId),
          writerOf(store, 0).replace(session.id, 'State.2', changeTo('State.3')),
        ])
        const after = 'after remove and replace at the same time'
        await expectGone(store, session, after, SWAP)
        await store.removeAll(accountId, session.id)
        for (const [{ id }, how] of [
          [session, 'remove'],
          [same, 'removeAll'],
        ] as const) {
          for (const from of ['State.1', 'State.2', 'State.3']) {
            if (await store.replace(id, from, changeTo('State.4')))
              fail(
                `replace returned true for a session that ${how} has removed`,
                `${SWAP}. A refresh of an ended session would succeed`,
              )
          }
        }
        for (const one of [session, same]) await expectGone(store, one, `${after}, and replace again`, SWAP)
        const listed = await store.list(accountId)
        if (listed.some(({ id }) => id === session.id || id === same.id))
          fail('list returned a session after remove and replace', SWAP)
      },
    ),
    'touch does not undo a replace': withState(async (store, session) => {
      const advice = { find: TOUCH_ONE, list: TOUCH_ONE }
      const change = changeTo('State.2')
      await store.touch(session.id, new Date(start + 1000))
      await store.replace(session.id, 'State.1', change)
      const lastUsedAt = new Date(start + 120_000)
      await store.touch(session.id, lastUsedAt)
      await expectState(store, { ...session, ...change, lastUsedAt }, 'after replace and touch', advice)
      for (let i = 2; i < 12; i++) {
        const to = changeTo(`State.${i + 1}`)
        let isReplaced = false
        await whileTouched(store, [session], async () => {
          for (let turn = 0; turn < i; turn++) await nextTurn()
          isReplaced = await store.replace(session.id, `State.${i}`, to)
        })
        const when = 'after touch and replace at the same time'
        if (!isReplaced) fail(`replace returned false for the text that replace has stored, ${when}`, TOUCH_ONE)
        await store.touch(session.id, to.lastUsedAt)
        await expectState(store, { ...session, ...to }, when, advice)
      }
    }),
  }
}

/** Compares dates by their time, and a missing member as null. */
const textOf = (value: unknown) => String((value as Date | null | undefined)?.valueOf() ?? null)
