import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type FoundSession, readFound, readSession, type Session, type SessionStore } from '../../sessions/session.js'
import { storeObject } from '../../sessions/sessions.js'
import { PAGE } from '../../shared/misuse.js'
import { text } from '../../shared/options/checks.js'
import { type Check, named, optional, readOptions } from '../../shared/options/read.js'
import { testsOnly } from '../tests-only.js'
import { type ContractCheck, contractChecks, fail } from './contract-check.js'
import { swapCase } from './odd-text.js'
import { answerOf, booleanFrom, shown } from './store-probe.js'

/** The options of `sessionStoreContract`. */
export interface SessionStoreContractOptions {
  /** The store, or a function that returns a store. Every check calls the function. */
  store: SessionStore | (() => SessionStore | Promise<SessionStore>)
  /** An account of the sessions that the checks add and remove. Needed where the store knows the accounts. Default: a random id. */
  accountId?: string | undefined
  /** Another account. Default: a random id. */
  otherAccountId?: string | undefined
}

const caller = 'sessionStoreContract'
const id = text('a non-empty string')
const schema = {
  store: ((value) => (typeof value === 'function' ? value : storeObject(value))) as Check<
    SessionStoreContractOptions['store']
  >,
  accountId: optional(id),
  otherAccountId: optional(id),
}

/** A moment that a column of whole seconds cannot hold. */
const START = Math.floor(Date.now() / 1000) * 1000 + 123
const HOUR = 3_600_000

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

type Probe = ReturnType<typeof probe>

/** Returns the methods of a store, each with a timeout and a check of what it returns. */
function probe(store: SessionStore) {
  named(`${caller}: the store`, storeObject, store, PAGE.sessions)
  return {
    add: (session: Session) => answerOf('add', () => store.add(session)),
    async find(id: string): Promise<FoundSession | undefined> {
      const call = `find(${shown(id)})`
      return readFound(call, await answerOf(call, () => store.find(id)))
    },
    async list(accountId: string): Promise<Session[]> {
      const call = `list(${shown(accountId)})`
      const listed = await answerOf(call, () => store.list(accountId))
      if (!Array.isArray(listed)) return fail(`${call} did not return an array`)
      const sessions = listed.map((one) => readSession(call, one) ?? fail(`${call} returned null in its array`))
      return sessions.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
    },
    remove: (id: string, accountId: string) => booleanFrom('remove', () => store.remove(id, accountId)),
    removeAll: (accountId: string, exceptId?: string) =>
      booleanFrom('removeAll', () => store.removeAll(accountId, exceptId)),
    touch: (id: string, time: Date) => answerOf('touch', () => store.touch(id, time)),
  }
}

const idsOf = (sessions: readonly Session[]) => sessions.map(({ id }) => id)

/**
 * Returns the requirements for a session store as checks for any test runner:
 * `for (const { name, run } of sessionStoreContract({ store })) test(name, run)`. The checks remove the sessions that they add.
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function sessionStoreContract(options: SessionStoreContractOptions): ContractCheck[] {
  testsOnly(caller)
  const read = readOptions<SessionStoreContractOptions, typeof schema>(caller, options, schema, { sessions: 'store' })
  const { store: given, accountId = `acc-${randomUUID()}`, otherAccountId = `acc-${randomUUID()}` } = read

  /** An account without sessions. Accounts without letters have no other case. */
  const inOtherCase = [swapCase(accountId), randomUUID()].find(
    (one) => one !== accountId && one !== otherAccountId,
  ) as string

  const newOne = (age = 0, more: Partial<Session> = {}): Session => ({
    id: randomUUID(),
    accountId,
    createdAt: new Date(START + age),
    expiresAt: new Date(START + age + HOUR),
    lastUsedAt: new Date(START + age),
    address: '2001:db8::1',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
    label: 'Ann’s 💻 \\ "work"; --',
    ...more,
  })

  /** Runs a check with sessions in the store: three of the account, and one of another account. */
  const withSessions =
    (check: (store: Probe, own: [Session, Session, Session], theirs: Session) => Promise<void>) =>
    async (store: Probe) => {
      const own: [Session, Session, Session] = [newOne(0), newOne(1), newOne(2)]
      const theirs = newOne(1, { accountId: otherAccountId })
      try {
        for (const session of [...own, theirs]) await store.add(session)
        await check(store, own, theirs)
      } finally {
        // The test reports the check's own error.
        await store.removeAll(accountId).catch(() => {})
        await store.removeAll(otherAccountId).catch(() => {})
      }
    }

  async function expectListed(store: Probe, when: string, sessions: readonly Session[], account = accountId) {
    const listed = idsOf(await store.list(account))
    if (!isDeepStrictEqual(listed, idsOf(sessions))) {
      fail(`list returned ${listed.length} sessions of the account instead of ${sessions.length}, or others, ${when}`)
    }
  }

  async function expectGone(store: Probe, session: Session, when: string) {
    if (await store.find(session.id)) fail(`find still returned the session ${when}`)
  }

  async function expectThere(store: Probe, session: Session, when: string) {
    if (!(await store.find(session.id))) fail(`find returned no session ${when}`)
  }

  /** Compares what `find` and `list` return of a session with the session. */
  async function expectSame(store: Probe, session: Session, than: string) {
    const found = (await store.find(session.id)) ?? fail('find returned no session after add')
    const listed = (await store.list(accountId)).find(({ id }) => id === session.id)
    for (const [method, one] of Object.entries({
      find: found,
      list: listed ?? fail('list lacks a session after add'),
    })) {
      const wrong = Object.entries(one).filter(
        ([name, value]) => !isDeepStrictEqual(value, session[name as keyof Session]),
      )
      if (wrong.length > 0)
        fail(`${method} returned another value than ${than}: ${wrong.map(([name]) => name).join(', ')}`)
    }
  }

  const checks: Record<string, (store: Probe) => Promise<void>> = {
    'find and list return what add has stored, to the millisecond': withSessions(async (store, own) => {
      const none = newOne(3, { address: null, userAgent: null, label: null })
      await store.add(none)
      for (const session of [...own, none]) await expectSame(store, session, 'add has stored')
    }),
    'find returns null or undefined for an id that no session has': withSessions(async (store, [own]) => {
      for (const odd of [randomUUID(), own.id.toUpperCase(), own.id.slice(0, -1), `${own.id}0`, ...ODD_IDS]) {
        if (await store.find(odd)) fail(`find(${shown(odd)}) found a session`)
      }
    }),
    'list returns all sessions of the account, and no other': withSessions(async (store, own, theirs) => {
      await expectListed(store, 'after add', own)
      await expectListed(store, 'of the other account after add', [theirs], otherAccountId)
      await expectListed(store, 'of an account without sessions', [], `acc-${randomUUID()}`)
      await expectListed(store, 'of an account in the other letter case', [], inOtherCase)
    }),
    'add keeps all of several sessions that are added at once': withSessions(async (store) => {
      const added = Array.from({ length: 8 }, (_, i) => newOne(10 + i))
      await Promise.all(added.map((session) => store.add(session)))
      const listed = idsOf(await store.list(accountId))
      const lost = added.filter((session) => !listed.includes(session.id))
      if (lost.length > 0) fail(`list returned ${added.length - lost.length} of ${added.length} added at once`)
    }),
    'remove removes one session': withSessions(async (store, [first, second, third]) => {
      await store.remove(second.id, accountId)
      await expectGone(store, second, 'after remove')
      await expectThere(store, first, 'of the account, which remove should have left')
      await expectListed(store, 'after remove', [first, third])
      // Two requests may end the same session.
      await store.remove(second.id, accountId)
    }),
    'remove leaves the session of another account': withSessions(async (store, own, theirs) => {
      await store.remove(theirs.id, accountId)
      await expectThere(store, theirs, 'of another account after remove')
      await expectListed(store, 'of the other account after remove', [theirs], otherAccountId)
      await expectListed(store, 'after remove of a session of another account', own)
    }),
    'remove and removeAll return whether they removed a session': withSessions(
      async (store, [first, second], theirs) => {
        const results = await Promise.all([1, 2, 3].map(() => store.remove(first.id, accountId)))
        const removed = results.filter(Boolean).length
        if (removed !== 1) fail(`remove returned true for ${removed} of three calls at once, instead of one`)
        const wrong = [
          ['remove returned true for a removed session', await store.remove(first.id, accountId)],
          ['remove returned true for the session of another account', await store.remove(theirs.id, accountId)],
          [
            'removeAll returned false for a session that it did not have to keep',
            !(await store.removeAll(accountId, second.id)),
          ],
          ['removeAll returned true when it had nothing to remove', await store.removeAll(accountId, second.id)],
          ['removeAll returned false for a session', !(await store.removeAll(accountId))],
          ['removeAll returned true for no session', await store.removeAll(accountId)],
        ] as const
        for (const [message, isWrong] of wrong) if (isWrong) fail(message)
      },
    ),
    'removeAll removes all sessions of the account, and leaves the others': withSessions(async (store, own, theirs) => {
      await store.removeAll(inOtherCase)
      await expectListed(store, 'after removeAll of an account in the other letter case', own)
      await store.removeAll(accountId)
      for (const session of own) await expectGone(store, session, 'after removeAll')
      await expectListed(store, 'after removeAll', [])
      await expectThere(store, theirs, 'of another account after removeAll')
    }),
    'removeAll keeps the session that it has to keep': withSessions(async (store, [first, second, third], theirs) => {
      await store.removeAll(accountId, second.id)
      for (const session of [first, third]) await expectGone(store, session, 'after removeAll with another id to keep')
      await expectListed(store, 'after removeAll with an id to keep', [second])
      await expectThere(store, theirs, 'of another account after removeAll')
      // The id of another account keeps nothing.
      await store.removeAll(accountId, theirs.id)
      await expectListed(store, 'after removeAll with the id of another account', [])
    }),
    'touch sets lastUsedAt, and nothing else': withSessions(async (store, [first, second]) => {
      const lastUsedAt = new Date(START + 90_001)
      await store.touch(first.id, lastUsedAt)
      for (const session of [{ ...first, lastUsedAt }, second]) await expectSame(store, session, 'touch should leave')
    }),
    'touch does not bring a removed session back': withSessions(async (store, [first, second]) => {
      await store.remove(first.id, accountId)
      await store.touch(first.id, new Date(START + 60_000))
      await expectGone(store, first, 'after remove and touch: a session that was ended would be live again')
      await store.touch(randomUUID(), new Date(START + 60_000))
      const listed = idsOf(await store.list(accountId))
      if (listed.includes(first.id) || !listed.includes(second.id) || listed.length !== 2) {
        fail('list returned other sessions than the live ones after remove and touch')
      }
    }),
  }

  return contractChecks(caller, checks, async () => probe(typeof given === 'function' ? await given() : given))
}
