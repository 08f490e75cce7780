import { randomUUID } from 'node:crypto'
import { LONGEST_TEXTS, type Session } from '../../sessions/session.js'
import { fail } from './contract-check.js'
import type { ContractAccounts } from './contract-options.js'
import { otherIds, swapCase } from './odd-text.js'
import { clear, readAll, whileTouched, writerOf } from './session-calls.js'
import { expectGone, expectListed, expectSame, expectThere } from './session-expectations.js'
import { LONGEST, newSession } from './session-samples.js'
import type { SessionProbe } from './session-store-probe.js'
import { shown } from './store-probe.js'

/** More sessions than `createAuth` allows by default. A method that reads or removes them in pages must read all pages. */
const MANY = 101

/** The calls that a check makes at the same time, fewer than the connections of most pools. */
const AT_ONCE = 8

const KEEP_STORED = 'Insert the session, and neither replace nor update one with this id'
const KEEP_OTHERS = 'Remove only the session with this id and this account, in one statement'
const KEEP_OTHER_ACCOUNTS = 'Remove only sessions of this account, also when there is no session to keep'
const TOUCH_ADVICE =
  'Set lastUsedAt in one statement that changes only a session that exists. Do not read the session and write it back'

type SessionCheck = (store: SessionProbe) => Promise<void>

/** Returns the checks by their names. */
export function sessionChecks({ accountId, otherAccountId }: ContractAccounts): Record<string, SessionCheck> {
  // A moment that a column of whole seconds cannot hold.
  const start = Math.floor(Date.now() / 1000) * 1000 + 123
  const newOne = (age: number, more?: Partial<Session>) => newSession(accountId, start, age, more)
  const someAccounts = [...otherIds(accountId), ['in the other letter case', swapCase(accountId)] as const].filter(
    ([, id]) => id !== accountId && id !== otherAccountId,
  )

  /**
   * Runs a check with sessions in the store: three of the account, and one of another account. They are read before and after their
   * addition, because a store may cache what it has read.
   */
  function withSessions(
    check: (store: SessionProbe, ofAccount: [Session, Session, Session], theirs: Session) => Promise<void>,
  ) {
    return async (store: SessionProbe) => {
      const ofAccount: [Session, Session, Session] = [newOne(0), newOne(1), newOne(2)]
      const theirs = newSession(otherAccountId, start, 1)
      const all = [...ofAccount, theirs]
      try {
        await readAll(store, all)
        for (const session of all) await store.add(session)
        await readAll(store, all)
        await check(store, ofAccount, theirs)
      } finally {
        for (const id of [accountId, otherAccountId]) await clear(store, id)
      }
    }
  }

  return {
    'find and list return what add has stored, to the millisecond': withSessions(async (store, ofAccount) => {
      const none = newOne(3, { address: null, userAgent: null, label: null })
      await store.add(none)
      for (const session of [...ofAccount, none]) await expectSame(store, session, 'after add')
    }),
    'add stores texts of the maximum length': withSessions(async (store) => {
      for (const [age, name] of (['address', 'userAgent', 'label'] as const).entries()) {
        const [article, text] = LONGEST[name]
        const session = newOne(10 + age, { [name]: text })
        await store.add(session).catch((error: Error) => {
          const most = LONGEST_TEXTS[name]
          fail(error.message, `${article} ${name} has up to ${most} characters. Give its column this length`)
        })
        await expectSame(store, session, `after add with a long ${name}`)
      }
    }),
    'find returns null or undefined for an id that no session has': withSessions(async (store, [first]) => {
      for (const odd of [randomUUID(), first.id.toUpperCase(), ...otherIds(first.id).map(([, id]) => id), ...ODD_IDS]) {
        if (await store.find(odd)) fail(`find(${shown(odd)}) found a session`, 'Compare ids exactly, letter by letter')
      }
    }),
    'list returns all sessions of the account, and no other': withSessions(async (store, ofAccount, theirs) => {
      await expectListed(store, accountId, ofAccount, 'after add')
      await expectListed(store, otherAccountId, [theirs], 'of the other account after add')
      await expectListed(store, `acc-${randomUUID()}`, [], 'of an account without sessions')
      for (const [what, id] of someAccounts) {
        await expectListed(store, id, [], `of an account whose id differs (${what})`)
      }
    }),
    'list and removeAll reach all sessions of an account that has many': withSessions(async (store, ofAccount) => {
      const added = Array.from({ length: MANY - ofAccount.length }, (_, i) => newOne(10 + i))
      for (let i = 0; i < added.length; i += AT_ONCE) {
        await Promise.all(added.slice(i, i + AT_ONCE).map((session) => store.add(session)))
      }
      const { length } = await store.list(accountId)
      if (length !== MANY)
        fail(`list returned ${length} of ${MANY} sessions`, 'Return all sessions, not a page of them')
      await store.removeAll(accountId)
      for (const session of [...ofAccount, ...added]) {
        await expectGone(
          store,
          session,
          `after removeAll of ${MANY} sessions`,
          'Remove all sessions, not a page of them',
        )
      }
    }),
    'add keeps all of several sessions that are added at the same time': withSessions(async (store) => {
      const added = Array.from({ length: AT_ONCE }, (_, i) => newOne(10 + i))
      await Promise.all(added.map((session) => store.add(session)))
      const listed = await store.list(accountId)
      const kept = added.filter((session) => listed.some(({ id }) => id === session.id))
      if (kept.length === added.length) return
      const wrong = `list returned ${kept.length} of ${added.length} that were added at the same time`
      fail(wrong, 'Add each session in one statement. Do not read the sessions of the account and write them back')
    }),
    'add keeps the stored session when the store has the id': withSessions(async (store, [first]) => {
      // Two processes may start the session of one old refresh token at the same time.
      const other = {
        ...first,
        label: 'another',
        lastUsedAt: new Date(start + 5),
        expiresAt: new Date(+first.expiresAt + 5),
      }
      await store.add(other).catch(() => {})
      await expectSame(store, first, 'after add of another session with its id', KEEP_STORED)
    }),
    'remove removes one session': withSessions(async (store, [first, second, third]) => {
      await store.remove(second.id, accountId)
      await expectGone(store, second, 'after remove')
      await expectThere(store, first, 'of the account after remove of another session', KEEP_OTHERS)
      await expectListed(store, accountId, [first, third], 'after remove')
      // Two requests may end the same session.
      await store.remove(second.id, accountId)
    }),
    'remove removes each of several sessions that end at the same time': withSessions(async (store, ofAccount) => {
      await Promise.all(ofAccount.map(({ id }) => store.remove(id, accountId)))
      for (const session of ofAccount) {
        const when = 'after several calls of remove at the same time'
        await expectGone(
          store,
          session,
          when,
          `${KEEP_OTHERS}. Do not read the sessions of the account and write them back`,
        )
      }
    }),
    'remove leaves the session of another account': withSessions(async (store, ofAccount, theirs) => {
      await store.remove(theirs.id, accountId)
      await expectThere(store, theirs, 'of another account after remove', KEEP_OTHERS)
      await expectListed(store, otherAccountId, [theirs], 'of the other account after remove')
      await expectListed(store, accountId, ofAccount, 'after remove of a session of another account')
    }),
    'remove and removeAll return whether they removed a session': withSessions(returnsWhetherRemoved),
    'removeAll removes all sessions of the account, and leaves the others': withSessions(
      async (store, ofAccount, theirs) => {
        await store.removeAll(accountId)
        for (const session of ofAccount) await expectGone(store, session, 'after removeAll')
        await expectListed(store, accountId, [], 'after removeAll')
        await expectThere(store, theirs, 'of another account after removeAll', KEEP_OTHER_ACCOUNTS)
      },
    ),
    'removeAll compares the id of the account exactly': withSessions(async (store, ofAccount) => {
      for (const [what, id] of someAccounts) {
        await store.removeAll(id)
        await expectListed(store, accountId, ofAccount, `after removeAll of an account whose id differs (${what})`)
      }
    }),
    'removeAll keeps the session that it has to keep': withSessions(async (store, [first, second, third], theirs) => {
      await store.removeAll(accountId, second.id)
      for (const session of [first, third]) await expectGone(store, session, 'after removeAll with another id to keep')
      await expectListed(store, accountId, [second], 'after removeAll with an id to keep')
      await expectThere(store, theirs, 'of another account after removeAll', KEEP_OTHER_ACCOUNTS)
      // The id of another account keeps nothing.
      await store.removeAll(accountId, theirs.id)
      await expectListed(store, accountId, [], 'after removeAll with the id of another account')
    }),
    'touch sets lastUsedAt, and nothing else': withSessions(async (store, [first, second]) => {
      const lastUsedAt = new Date(start + 90_001)
      await store.touch(first.id, lastUsedAt)
      for (const session of [{ ...first, lastUsedAt }, second]) await expectSame(store, session, 'after touch')
    }),
    'touch does not bring a removed session back': withSessions(async (store, [first, second, third]) => {
      await store.remove(first.id, accountId)
      await store.touch(first.id, new Date(start + 60_000))
      await expectGone(store, first, 'after remove and touch', TOUCH_ADVICE)
      await store.touch(randomUUID(), new Date(start + 60_000))
      await expectListed(store, accountId, [second, third], 'after touch of a removed and an unknown session')
    }),
    'touch brings no session back that ends at the same time': withSessions(async (store, [first, second, third]) => {
      await whileTouched(store, [first], () => store.remove(first.id, accountId))
      await expectGone(store, first, 'after touch and remove at the same time', TOUCH_ADVICE)
      await whileTouched(store, [second, third], () => store.removeAll(accountId))
      for (const session of [second, third]) {
        await expectGone(store, session, 'after touch and removeAll at the same time', TOUCH_ADVICE)
      }
      await expectListed(store, accountId, [], 'after touch and removeAll at the same time')
    }),
  }
}

/** Ids of no session. Anyone who is signed in can send one, so a query must not fail on it. */
const ODD_IDS = [
  "'",
  "' OR '1'='1",
  '%',
  '_',
  '*',
  '.*',
  '\\',
  '$ne',
  '__proto__',
  'constructor',
  'not-a-uuid',
  'x'.repeat(255),
]

async function returnsWhetherRemoved(store: SessionProbe, [first, second]: readonly Session[], theirs: Session) {
  const { id, accountId } = first as Session
  const results = await Promise.all([0, 1, 2].map((i) => writerOf(store, i).remove(id, accountId)))
  const removed = results.filter(Boolean).length
  const advice = 'Return true only to the call whose statement deleted a row'
  if (removed !== 1) fail(`remove returned true for ${removed} of three calls at the same time, instead of one`, advice)
  const faults = [
    ['remove returned true for a removed session', await store.remove(id, accountId)],
    ['remove returned true for the session of another account', await store.remove(theirs.id, accountId)],
    [
      'removeAll returned false for a session that it did not have to keep',
      !(await store.removeAll(accountId, second?.id)),
    ],
    ['removeAll returned true when it had nothing to remove', await store.removeAll(accountId, second?.id)],
    ['removeAll returned false for a session', !(await store.removeAll(accountId))],
    ['removeAll returned true for no session', await store.removeAll(accountId)],
  ] as const
  for (const [wrong, isWrong] of faults) if (isWrong) fail(wrong, advice)
}
