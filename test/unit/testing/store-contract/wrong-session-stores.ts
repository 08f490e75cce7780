import type { Session, SessionStore } from 'express-token-endpoint'
import { expect } from 'vitest'
import { memorySessions } from '../../../support/sessions.js'

export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

type Change = (store: SessionStore) => Partial<SessionStore>

/** The sessions of a store whose `add` replaces a session with the same id, so that a mistake can change any member. */
export const replacing = (store: SessionStore): SessionStore => ({
  ...store,
  add(session) {
    store.remove(session.id, session.accountId)
    return store.add(session)
  },
})

/** Creates a store with one mistake. */
export const wrong = (change: Change): SessionStore => {
  const store = memorySessions()
  return { ...store, ...change(replacing(store)) }
}

/** Creates a store that changes each session when it is added, as a column may. */
const storing =
  (change: (session: Session) => Partial<Session>): Change =>
  (store) => ({ add: (session) => store.add({ ...session, ...change(session) }) })

const listed = async (store: SessionStore, accountId: string) => [...(await store.list(accountId))]
const seconds = (date: Date) => new Date(Math.floor(date.getTime() / 1000) * 1000)
const hoursLater = (date: Date, hours: number) => new Date(date.getTime() + hours * 3_600_000)
const times = (change: (date: Date) => Date): Change =>
  storing(({ createdAt, expiresAt, lastUsedAt }) => ({
    createdAt: change(createdAt),
    expiresAt: change(expiresAt),
    lastUsedAt: change(lastUsedAt),
  }))

/** Creates a column of limited length, in characters. The database refuses longer texts. */
const column = (name: 'address' | 'userAgent' | 'label', most: number): Change =>
  storing((session) => {
    if ([...(session[name] ?? '')].length > most) throw new Error(`value too long for type character varying(${most})`)
    return {}
  })

/** Sets the whole session after a look at the stored one. Another process can remove the session in between. */
const readAndWrite =
  (wait: () => Promise<void>): Change =>
  (store) => {
    const sessions = new Map<string, Session>()
    return {
      add: (session) => store.add(sessions.set(session.id, session).get(session.id) ?? session),
      async touch(id, lastUsedAt) {
        const session = sessions.get(id)
        if (!session || !(await store.find(id))) return
        await wait()
        store.add({ ...session, lastUsedAt })
      },
    }
  }

/** Keeps what it has found, until `clears` says that this store object has changed something. */
const caching =
  (clears: boolean): Change =>
  (store) => {
    const cache = new Map<string, Awaited<ReturnType<SessionStore['find']>>>()
    const changed = <T>(result: T): T => {
      if (clears) cache.clear()
      return result
    }
    return {
      async find(id) {
        if (!cache.get(id)) cache.set(id, await store.find(id))
        return cache.get(id)
      },
      add: (session) => changed(store.add(session)),
      remove: (...args) => changed(store.remove(...args)),
      removeAll: (...args) => changed(store.removeAll(...args)),
      touch: (...args) => changed(store.touch(...args)),
      replace: (...args) => changed(replaceIn(store, ...args)),
      update: (...args) => changed(store.update?.(...args) ?? false),
    }
  }
/** Stores with a cache that only their own changes clear. */
export const cachingForItself = caching(true)

/** Changes the sessions of an account as one document, which it reads and then writes. */
async function rewrite(store: SessionStore, accountId: string, change: (sessions: Session[]) => Session[]) {
  const changed = change(await listed(store, accountId))
  await turn()
  await store.removeAll(accountId)
  for (const session of changed) await store.add(session)
}

/** Sessions of all accounts, for stores that forget to ask for the account. */
const withAccounts = (make: (store: SessionStore, all: () => Promise<Session[]>) => Partial<SessionStore>): Change => {
  return (store) => {
    const accounts = new Set<string>()
    return {
      add: (session) => store.add(accounts.add(session.accountId) && session),
      ...make(store, async () => (await Promise.all([...accounts].map((id) => listed(store, id)))).flat()),
    }
  }
}
/** Finds the sessions whose account a test accepts. */
const listing = (accepts: (stored: string, asked: string) => boolean) =>
  withAccounts((_store, all) => ({
    list: async (asked) => (await all()).filter(({ accountId }) => accepts(accountId, asked)),
  }))
const removing = (accepts: (stored: string, asked: string) => boolean) =>
  withAccounts((store, all) => ({
    async removeAll(asked, exceptId) {
      const found = (await all()).filter(({ id, accountId }) => id !== exceptId && accepts(accountId, asked))
      for (const { id, accountId } of found) await store.remove(id, accountId)
      return found.length > 0
    },
  }))

/** Finds by a pattern of SQL. */
const like = (stored: string, pattern: string) =>
  new RegExp(
    `^${pattern
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    's',
  ).test(stored)
const finding = (accepts: (stored: string, asked: string) => boolean) =>
  withAccounts((_store, all) => ({ find: async (asked) => (await all()).find(({ id }) => accepts(id, asked)) }))

const isSameLetters = (stored: string, asked: string) => stored.toLowerCase() === asked.toLowerCase()

/** Keeps the sessions as `add` has stored them. */
function firstOnes(store: SessionStore) {
  const sessions = new Map<string, Session>()
  return {
    of: (id: string) => sessions.get(id),
    add: (session: Session) => store.add(sessions.set(session.id, session).get(session.id) ?? session),
  }
}

/** Finds all members of a session. */
async function whole(store: SessionStore, id: string): Promise<Session | undefined> {
  const found = await store.find(id)
  return found ? (await listed(store, found.accountId)).find((one) => one.id === id) : undefined
}

const touching =
  (touch: (store: SessionStore, id: string, lastUsedAt: Date) => Promise<void>): Change =>
  (store) => ({ touch: (id, lastUsedAt) => touch(store, id, lastUsedAt) })

/** Lists copies that are kept apart from the sessions. */
const listedAs =
  (copyOf: (session: Session, first: Session) => Session): Change =>
  (store) => {
    const first = firstOnes(store)
    return {
      add: first.add,
      list: async (accountId) =>
        (await listed(store, accountId)).map((one) => copyOf(one, first.of(one.id) as Session)),
    }
  }

/** Keeps the list of each account until one of the methods is called. */
const cachingList =
  (cleared: string): Change =>
  (store) => {
    const lists = new Map<string, Session[]>()
    const clearing = Object.entries(store)
      .filter(([name]) => cleared.split(' ').includes(name))
      .map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          lists.clear()
          return method(...args)
        },
      ])
    return {
      ...Object.fromEntries(clearing),
      async list(accountId) {
        const known = lists.get(accountId) ?? (await listed(store, accountId))
        lists.set(accountId, known)
        return [...known]
      },
    }
  }

type Marked = ReturnType<typeof markedStore>

/** Marks removed sessions in place of a deletion. Each method ignores marked ones, and each `…Marked` does not. */
function markedStore(store: SessionStore) {
  const marks = new Map<string, 'one' | 'all'>()
  const mark = (sessions: readonly Session[], how: 'one' | 'all'): boolean => {
    for (const { id } of sessions) marks.set(id, how)
    return sessions.length > 0
  }
  const list = async (accountId: string) => (await listed(store, accountId)).filter(({ id }) => !marks.has(id))
  const own: SessionStore = {
    add: store.add,
    list,
    find: (id) => (marks.has(id) ? undefined : store.find(id)),
    remove: async (id, accountId) =>
      mark(
        (await list(accountId)).filter((one) => one.id === id && !marks.has(id)),
        'one',
      ),
    removeAll: async (accountId, exceptId) =>
      mark(
        (await list(accountId)).filter(({ id }) => id !== exceptId),
        'all',
      ),
    touch: (id, lastUsedAt) => (marks.has(id) ? undefined : store.touch(id, lastUsedAt)),
    replace: (id, ...change) => !marks.has(id) && replaceIn(store, id, ...change),
  }
  return {
    ...own,
    marks,
    findMarked: store.find,
    listMarked: store.list,
    replaceMarked: (...change: Parameters<NonNullable<SessionStore['replace']>>) => replaceIn(store, ...change),
  }
}

const marking =
  (change: (marked: Marked) => Partial<SessionStore>): Change =>
  (store) => {
    const { marks, findMarked, listMarked, replaceMarked, ...own } = markedStore(store)
    return { ...own, ...change({ marks, findMarked, listMarked, replaceMarked, ...own }) }
  }

/** Runs one task after the other, as a lock in the memory of one process does. */
function createLock() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task)
    last = done.catch(() => {})
    return done
  }
}

/** Two processes on the same data, each with its own lock around the statements that it needs for a change. */
const locking = (...methods: ('remove' | 'replace')[]): Change => {
  return (store) => {
    const lock = createLock()
    const locked: Partial<SessionStore> = {
      remove: (id, accountId) =>
        lock(async () => {
          const found = await store.find(id)
          await turn()
          await store.remove(id, accountId)
          return found?.accountId === accountId
        }),
      replace: (id, from, to) =>
        lock(async () => {
          const session = await whole(store, id)
          await turn()
          if (session?.refresh !== from) return false
          store.add({ ...session, ...to })
          return true
        }),
    }
    return Object.fromEntries(methods.map((name) => [name, locked[name]]))
  }
}

/** Mistakes that one store object does not show, but a second one on the same data does. */
export const WRONG_PAIRS: readonly [mistake: string, says: string, change: Change][] = [
  [
    'locks in the process in place of a compare and swap',
    'replace returned true for 2 of five calls at the same time, instead of one. Compare and change in one statement',
    locking('replace'),
  ],
  [
    'locks in the process in place of one statement that deletes',
    'remove returned true for 2 of three calls at the same time, instead of one',
    locking('remove'),
  ],
  [
    'locks removals and changes in the process',
    'find returned the session after remove and replace at the same time',
    locking('remove', 'replace'),
  ],
  [
    'caches the list of an account until its own process changes something',
    'list of "otherStore" returned',
    cachingList('add remove removeAll touch replace'),
  ],
  ['caches the sessions until its own process changes something', 'find of "otherStore" returned', cachingForItself],
]

/** Stores with one mistake each, and words of the message that names it. */
export const WRONG_STORES: readonly [mistake: string, says: string, change: Change][] = [
  // add
  [
    'replaces a session with the same id',
    'find returned another lastUsedAt, expiresAt than the stored one, after add of another session with its id',
    ({ add }) => ({ add }),
  ],
  // find
  ['caches what it has found', 'find returned the session after remove', caching(false)],
  [
    'caches that it has found nothing',
    'find returned no session',
    (store) => {
      const unknown = new Set<string>()
      return {
        async find(id) {
          const session = unknown.has(id) ? undefined : await store.find(id)
          if (!session) unknown.add(id)
          return session
        },
      }
    },
  ],
  ['compares ids in another letter case as equal', 'found a session', finding(isSameLetters)],
  ['finds by pattern', 'found a session', finding(like)],
  ['finds by the start of an id', 'found a session', finding((stored, asked) => stored.startsWith(asked))],
  [
    'fails on an id that is not a UUID',
    'failed with AssertionError: not a UUID',
    (store) => ({ find: (id) => (/^[\da-f-]{36}$/.test(id) ? store.find(id) : expect.fail('not a UUID')) }),
  ],
  [
    'returns dates as text',
    '"lastUsedAt" must be a valid Date',
    (store) => ({ find: async (id) => JSON.parse(JSON.stringify((await store.find(id)) ?? null)) }),
  ],
  // add
  ['stores whole seconds', 'find returned another lastUsedAt, expiresAt than the stored one', times(seconds)],
  [
    'writes the local time and reads UTC',
    'find returned another lastUsedAt, expiresAt than the stored one',
    times((date) => hoursLater(date, 2)),
  ],
  [
    'stores null as text',
    'list returned another label than the stored one',
    storing(({ label }) => ({ label: String(label) })),
  ],
  [
    'has a label column of utf8mb3',
    'Incorrect string value',
    storing(({ label }) => (/[\u{10000}-\u{10ffff}]/u.test(label ?? '') ? expect.fail('Incorrect string value') : {})),
  ],
  [
    'has a label column that loses emoji',
    'list returned another label than the stored one',
    storing(({ label }) => ({ label: label?.replace(/[\u{10000}-\u{10ffff}]/gu, '?') ?? null })),
  ],
  ['has a userAgent column of 255 characters', 'A userAgent has up to 256 characters', column('userAgent', 255)],
  ['has an address column of 45 characters', 'An address has up to 64 characters', column('address', 45)],
  ['has a label column of 63 characters', 'A label has up to 64 characters', column('label', 63)],
  [
    'has a label column of 64 UTF-16 units',
    'A label has up to 64 characters',
    storing(({ label }) => (label && label.length > 64 ? expect.fail('String or binary data would be truncated') : {})),
  ],
  [
    'cuts a long userAgent',
    'list returned another userAgent than the stored one',
    storing(({ userAgent }) => ({ userAgent: userAgent?.slice(0, 191) ?? null })),
  ],
  [
    'hides the error of a long text',
    'find returned no session',
    (store) => ({
      add: (session) => (session.userAgent?.length ?? 0) > 255 || store.add(session),
    }),
  ],
  [
    'returns before the session is stored',
    'find returned no session after add',
    (store) => ({
      add(session) {
        turn().then(() => store.add(session))
      },
    }),
  ],
  [
    'keeps one session per account',
    'list returned 1 sessions of the account instead of 3',
    (store) => ({
      async add(session) {
        await store.removeAll(session.accountId)
        await store.add(session)
      },
    }),
  ],
  [
    'reads the list, and then writes it with the new session',
    'of 8 that were added at the same time',
    (store) => ({
      add: (session) => rewrite(store, session.accountId, (sessions) => [...sessions, session]),
    }),
  ],
  // list
  ['lists the sessions of all accounts', 'list returned 4 sessions of the account instead of 3', listing(() => true)],
  ['lists accounts without regard to letter case', 'whose id differs', listing(isSameLetters)],
  ['lists accounts by pattern', 'whose id differs', listing(like)],
  [
    'lists accounts whose id has the same start',
    'whose id differs',
    listing((stored, asked) => stored.startsWith(asked)),
  ],
  [
    'lists only the first 100 sessions',
    'list returned 100 of 101 sessions',
    (store) => ({
      list: async (accountId) => (await listed(store, accountId)).slice(0, 100),
    }),
  ],
  // remove
  [
    'removes a session of any account',
    'find returned no session of another account after remove',
    (store) => ({
      remove: async (id) => store.remove(id, (await store.find(id))?.accountId ?? ''),
    }),
  ],
  [
    'returns the number of removed sessions',
    'remove must return true or false, but the result is a number',
    (store) => ({
      remove: async (...args) => Number(await store.remove(...args)) as never,
    }),
  ],
  [
    'returns before the session is removed',
    'find returned the session after remove',
    (store) => ({
      async remove(id, accountId) {
        const session = await store.find(id)
        turn().then(() => store.remove(id, accountId))
        return session?.accountId === accountId
      },
    }),
  ],
  [
    'looks the session up, and then removes it',
    'remove returned true for 3 of three calls at the same time',
    (store) => ({
      async remove(id, accountId) {
        const found = await store.find(id)
        await turn()
        await store.remove(id, accountId)
        return found?.accountId === accountId
      },
    }),
  ],
  [
    'reads the list, and then writes it without the removed session',
    'after several calls of remove at the same time',
    (store) => ({
      async remove(id, accountId) {
        if ((await store.find(id))?.accountId !== accountId) return false
        await rewrite(store, accountId, (sessions) => sessions.filter((one) => one.id !== id))
        return true
      },
    }),
  ],
  // removeAll
  [
    'always says that it removed a session',
    'removeAll returned true when it had nothing to remove',
    (store) => ({
      removeAll: async (...args) => (await store.removeAll(...args)) || true,
    }),
  ],
  [
    'returns nothing from removeAll',
    'removeAll must return true or false',
    (store) => ({
      removeAll: async (...args) => void (await store.removeAll(...args)) as never,
    }),
  ],
  [
    'ignores the session to keep',
    'list returned 0 sessions of the account instead of 1',
    (store) => ({
      removeAll: (accountId) => store.removeAll(accountId),
    }),
  ],
  [
    'compares ids with NULL, so that nothing is removed',
    'find returned the session after removeAll',
    (store) => ({
      removeAll: (accountId, exceptId) => exceptId !== undefined && store.removeAll(accountId, exceptId),
    }),
  ],
  [
    'removes the sessions of all accounts',
    'find returned no session of another account after removeAll',
    removing(() => true),
  ],
  [
    'removes all sessions of all accounts when it has none to keep',
    'find returned no session of another account after removeAll',
    withAccounts((store, all) => ({
      async removeAll(accountId, exceptId) {
        if (exceptId !== undefined) return store.removeAll(accountId, exceptId)
        const sessions = await all()
        for (const one of sessions) await store.remove(one.id, one.accountId)
        return sessions.length > 0
      },
    })),
  ],
  [
    'removes accounts without regard to letter case',
    'after removeAll of an account whose id differs',
    removing(isSameLetters),
  ],
  ['removes accounts by pattern', 'after removeAll of an account whose id differs', removing(like)],
  [
    'removes only the first 25 sessions',
    'find returned the session after removeAll of 101 sessions',
    (store) => ({
      async removeAll(accountId, exceptId) {
        const first = (await listed(store, accountId)).filter(({ id }) => id !== exceptId).slice(0, 25)
        for (const { id } of first) await store.remove(id, accountId)
        return first.length > 0
      },
    }),
  ],
  // touch
  ['touches nothing', 'find returned another lastUsedAt than the stored one', () => ({ touch() {} })],
  [
    'moves the expiration when it is touched',
    'find returned another expiresAt than the stored one',
    (store) => ({
      async touch(id, lastUsedAt) {
        const { accountId } = (await store.find(id)) ?? {}
        const session = (await listed(store, accountId ?? '')).find((one) => one.id === id)
        if (session) store.add({ ...session, lastUsedAt, expiresAt: hoursLater(lastUsedAt, 1) })
      },
    }),
  ],
  [
    'adds a session when it is touched',
    'after remove and touch',
    (store) => {
      const sessions = new Map<string, Session>()
      return {
        add: (session) => store.add(sessions.set(session.id, session).get(session.id) ?? session),
        touch: (id, lastUsedAt) => sessions.has(id) && store.add({ ...(sessions.get(id) as Session), lastUsedAt }),
      }
    },
  ],
  [
    'reads, and then writes the touched session',
    'after touch and remove at the same time',
    readAndWrite(async () => {}),
  ],
  ['reads, and writes the touched session a turn later', 'after touch and remove at the same time', readAndWrite(turn)],
  [
    'removes in two steps, and touches in two steps',
    'after touch and remove at the same time',
    (store) => ({
      ...readAndWrite(turn)(store),
      async remove(id, accountId) {
        for (let i = 0; i < 5; i++) await turn()
        return store.remove(id, accountId)
      },
    }),
  ],
  [
    'marks a removed session, reads the mark, and then writes the touched session, unless one session is removed',
    'after touch and removeAll at the same time',
    (store) => {
      const removed = new Set<string>()
      const { add, touch } = readAndWrite(turn)(store)
      return {
        add,
        async touch(id, lastUsedAt) {
          await touch?.(id, lastUsedAt)
          const session = removed.has(id) ? await store.find(id) : undefined
          if (session) await store.remove(id, session.accountId)
        },
        remove(id, accountId) {
          removed.add(id)
          return store.remove(id, accountId)
        },
      }
    },
  ],
  // replace
  [
    'returns no refresh',
    'find of "store" returned another "refresh"',
    (store) => ({
      find: async (id) => {
        const found = await store.find(id)
        return found && { accountId: found.accountId, lastUsedAt: found.lastUsedAt }
      },
    }),
  ],
  [
    'cuts the refresh of a session',
    'find of "store" returned another "refresh" after add of a long text',
    storing(({ refresh }) => ({ refresh: refresh?.slice(0, 191) ?? null })),
  ],
  [
    'changes a session whatever it holds',
    'which is not the stored text',
    (store) => ({
      async replace(id, _from, to) {
        const refresh = (await store.find(id))?.refresh
        return refresh ? replaceIn(store, id, refresh, to) : false
      },
    }),
  ],
  [
    'compares the refresh in another letter case as equal',
    'which is not the stored text',
    (store) => ({
      async replace(id, from, to) {
        const refresh = (await store.find(id))?.refresh ?? ''
        return isSameLetters(refresh, from) && replaceIn(store, id, refresh, to)
      },
    }),
  ],
  ['replaces nothing', 'replace returned false for the stored text', () => ({ replace: () => false })],
  [
    'replaces the refresh only',
    'returned another "expiresAt"',
    (store) => ({
      async replace(id, from, { refresh, lastUsedAt }) {
        const found = await store.find(id)
        return replaceIn(store, id, from, { refresh, lastUsedAt, expiresAt: found?.expiresAt ?? lastUsedAt })
      },
    }),
  ],
  [
    'compares the refresh, and writes it later',
    'replace returned true for 5 of five calls',
    (store) => ({
      async replace(id, from, to) {
        const refresh = (await store.find(id))?.refresh
        await turn()
        return refresh === from && replaceIn(store, id, (await store.find(id))?.refresh ?? '', to)
      },
    }),
  ],
  [
    'writes a session that was removed while it was replaced',
    'find returned the session after remove and replace at the same time',
    (store) => {
      const sessions = new Map<string, Session>()
      return {
        add: (session) => store.add(sessions.set(session.id, session).get(session.id) ?? session),
        async replace(id, from, to) {
          if (replaceIn(store, id, from, to)) return true
          const session = sessions.get(id)
          if (from === 'State.1' || from === 'State.2') if (session) store.add({ ...session, ...to })
          return false
        },
      }
    },
  ],
  // terms and data
  [
    'drops the terms of a session',
    'find of "store" returned another "terms" after add',
    storing(() => ({ terms: null })),
  ],
  [
    'loses the data at a refresh',
    'find of "store" returned another "data" after update and replace at the same time',
    (store) => ({
      async replace(id, from, to) {
        await turn()
        const isReplaced = replaceIn(store, id, from, to)
        if (isReplaced) store.update?.(id, '{}')
        return isReplaced
      },
    }),
  ],
  [
    'writes the whole session with its data',
    'find returned a session after remove and update',
    (store) => {
      const sessions = new Map<string, Session>()
      return {
        add: (session) => store.add(sessions.set(session.id, session).get(session.id) ?? session),
        update(id, data) {
          const session = sessions.get(id)
          if (session) store.add({ ...session, data })
          return false
        },
      }
    },
  ],
  // the end of a session that replace has moved
  [
    'moves the end only in the session, and not in the list of its account',
    'list of "store" returned another "expiresAt" after replace',
    listedAs((session, first) => ({ ...session, expiresAt: first.expiresAt })),
  ],
  [
    'keeps the time to live that add has set',
    'find returned no session after the end that it had before replace',
    (store) => {
      const first = firstOnes(store)
      const isGone = (id: string) => +(first.of(id)?.expiresAt ?? 0) <= Date.now()
      return {
        add: first.add,
        find: async (id) => (isGone(id) ? undefined : store.find(id)),
        list: async (accountId) => (await listed(store, accountId)).filter(({ id }) => !isGone(id)),
      }
    },
  ],
  [
    'lists by the end that add has set',
    'list of "store" returned another "createdAt", "expiresAt", "lastUsedAt", "address", "userAgent", "label" after the end that it had',
    (store) => {
      const first = firstOnes(store)
      const isGone = ({ id }: Session) => +(first.of(id)?.expiresAt ?? 0) <= Date.now()
      return {
        add: first.add,
        list: async (accountId) => (await listed(store, accountId)).filter((one) => !isGone(one)),
      }
    },
  ],
  [
    'moves the end of a session only to a later time',
    'find of "store" returned another "expiresAt" after replace with earlier times',
    (store) => ({
      async replace(id, from, to) {
        const { expiresAt } = (await store.find(id)) ?? {}
        return replaceIn(store, id, from, { ...to, expiresAt: new Date(Math.max(+to.expiresAt, +(expiresAt ?? 0))) })
      },
    }),
  ],
  // a touch that undoes a replace
  [
    'writes back the session of add when it is touched',
    'another "refresh", "expiresAt" after replace and touch',
    readAndWrite(async () => {}),
  ],
  [
    'writes back the session of its last touch',
    'another "refresh", "expiresAt" after replace and touch',
    (store) => {
      const first = firstOnes(store)
      return {
        add: first.add,
        async touch(id, lastUsedAt) {
          if (first.of(id) && (await store.find(id))) store.add({ ...(first.of(id) as Session), lastUsedAt })
        },
      }
    },
  ],
  [
    'reads the session when it is touched, and writes it back a turn later',
    'after touch and replace at the same time',
    touching(async (store, id, lastUsedAt) => {
      const session = await whole(store, id)
      await turn()
      if (session && (await store.find(id))) store.add({ ...session, lastUsedAt })
    }),
  ],
  [
    'writes back the refresh that it has read when it is touched',
    'after touch and replace at the same time',
    touching(async (store, id, lastUsedAt) => {
      const { refresh } = (await store.find(id)) ?? {}
      await turn()
      const session = await whole(store, id)
      if (session) store.add({ ...session, refresh: refresh ?? null, lastUsedAt })
    }),
  ],
  [
    'moves the end back when it is touched',
    'another "expiresAt" after replace and touch',
    (store) => {
      const first = firstOnes(store)
      return {
        add: first.add,
        async touch(id, lastUsedAt) {
          const session = await whole(store, id)
          if (session) store.add({ ...session, lastUsedAt, expiresAt: (first.of(id) as Session).expiresAt })
        },
      }
    },
  ],
  // soft deletion
  [
    'marks a removed session, which replace still changes',
    'replace returned true for a session that remove has removed',
    marking(({ replaceMarked }) => ({ replace: replaceMarked })),
  ],
  [
    'marks the sessions of removeAll, which replace still changes',
    'replace returned true for a session that removeAll has removed',
    marking(({ marks, replaceMarked }) => ({
      replace: (id, from, to) => (marks.get(id) === 'one' ? false : replaceMarked(id, from, to)),
    })),
  ],
  [
    'marks a removed session, which find still finds',
    'find returned the session after remove',
    marking(({ findMarked }) => ({ find: findMarked })),
  ],
  [
    'marks the sessions of removeAll, which find still finds',
    'find returned the session after removeAll',
    marking(({ marks, findMarked, find }) => ({ find: (id) => (marks.get(id) === 'all' ? findMarked(id) : find(id)) })),
  ],
  [
    'marks a removed session, which list still returns',
    'sessions of the account instead of 2, after remove',
    marking(({ listMarked }) => ({ list: listMarked })),
  ],
  [
    'removes the mark of a removed session when it is touched',
    'find returned the session after remove and touch',
    marking(({ marks, touch }) => ({
      touch(id, lastUsedAt) {
        marks.delete(id)
        return touch(id, lastUsedAt)
      },
    })),
  ],
  // a stale list
  [
    'caches the list of an account until a session is added or removed',
    'list of "store" returned another "expiresAt", "lastUsedAt" after replace',
    cachingList('add remove removeAll touch'),
  ],
  [
    'caches the list of an account until a session is added, removed or replaced',
    'list returned another lastUsedAt than the stored one, after touch',
    cachingList('add remove removeAll replace'),
  ],
  [
    'caches the list of an account until a session is added or touched',
    'list returned 3 sessions of the account instead of 2, after remove',
    cachingList('add touch replace'),
  ],
  // members that are lost
  [
    'loses the name of the device when it replaces the refresh',
    'list of "store" returned another "label" after replace',
    (store) => ({
      async replace(id, from, to) {
        const session = await whole(store, id)
        if (session?.refresh !== from) return false
        store.add({ ...session, ...to, label: null })
        return true
      },
    }),
  ],
  [
    'loses the address and the browser when it replaces the refresh',
    'list of "store" returned another "address", "userAgent" after replace',
    (store) => ({
      async replace(id, from, to) {
        const session = await whole(store, id)
        if (session?.refresh !== from) return false
        store.add({ ...session, ...to, address: null, userAgent: null })
        return true
      },
    }),
  ],
  [
    'loses the name of the device when it is touched',
    'list returned another label than the stored one, after touch',
    touching(async (store, id, lastUsedAt) => {
      const session = await whole(store, id)
      if (session) store.add({ ...session, lastUsedAt, label: null })
    }),
  ],
  [
    'sets the time of the sign-in when it replaces the refresh',
    'another "createdAt" after replace',
    (store) => ({
      async replace(id, from, to) {
        const session = await whole(store, id)
        if (session?.refresh !== from) return false
        store.add({ ...session, ...to, createdAt: to.lastUsedAt })
        return true
      },
    }),
  ],
  [
    'changes all sessions with the same refresh',
    'of another session with the same refresh after replace',
    withAccounts((store, all) => ({
      async replace(id, from, to) {
        const same = (await all()).filter(({ refresh }) => refresh === from)
        if (!same.some((one) => one.id === id)) return false
        for (const one of same) replaceIn(store, one.id, from, to)
        return true
      },
    })),
  ],
]

const replaceIn = (store: SessionStore, ...change: Parameters<NonNullable<SessionStore['replace']>>): boolean =>
  store.replace?.(...change) === true
