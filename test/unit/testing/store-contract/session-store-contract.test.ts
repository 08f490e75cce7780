import { memorySessions, type Session, type SessionStore } from 'express-token-endpoint'
import { sessionStoreContract } from 'express-token-endpoint/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../support/failures.js'

/** Runs all checks, and returns the names of those that failed, with their messages. */
async function failuresOf(store: SessionStore, options = {}): Promise<Record<string, string>> {
  const failures: Record<string, string> = {}
  for (const { name, run } of sessionStoreContract({ store, ...options })) {
    await run().catch((error: Error) => {
      failures[name] = error.message
    })
  }
  return failures
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A store with one mistake. */
const wrong = (mistake: (store: SessionStore) => Partial<SessionStore>): SessionStore => {
  const store = memorySessions()
  return { ...store, ...mistake(store) }
}
const listed = async (store: SessionStore, accountId: string) => [...(await store.list(accountId))]
const onlySeconds = (date: Date) => new Date(Math.floor(date.getTime() / 1000) * 1000)

const FIND = 'find and list return what add has stored, to the millisecond'
const UNKNOWN = 'find returns null or undefined for an id that no session has'
const LIST = 'list returns all sessions of the account, and no other'
const AT_ONCE = 'add keeps all of several sessions that are added at once'
const REMOVE = 'remove removes one session'
const FOREIGN = 'remove leaves the session of another account'
const REMOVE_ALL = 'removeAll removes all sessions of the account, and leaves the others'
const KEEP = 'removeAll keeps the session that it has to keep'
const SAYS = 'remove and removeAll return whether they removed a session'
const TOUCH = 'touch sets lastUsedAt, and nothing else'
const GONE = 'touch does not bring a removed session back'

describe('sessionStoreContract', () => {
  it('passes for the store in memory, and leaves nothing in it', async () => {
    const store = memorySessions()
    expect(await failuresOf(store, { accountId: 'acc-1', otherAccountId: 'ACC-1' })).toEqual({})
    expect([...(await listed(store, 'acc-1')), ...(await listed(store, 'ACC-1'))]).toEqual([])
    expect(await failuresOf((() => store) as never)).toEqual({})
    expect(await failuresOf(store, { accountId: '1' })).toEqual({})
  })

  it.each<[mistake: string, checks: string[], make: (store: SessionStore) => Partial<SessionStore>]>([
    [
      'writes the whole session when it is touched, and so brings it back',
      [GONE],
      (store) => {
        const known = new Map<string, Session>()
        return {
          add: (session) => store.add(known.set(session.id, session).get(session.id) ?? session),
          touch: (id, lastUsedAt) => known.has(id) && store.add({ ...(known.get(id) as Session), lastUsedAt }),
        }
      },
    ],
    [
      'removes a session of any account',
      [FOREIGN, SAYS],
      (store) => ({ remove: async (id) => store.remove(id, (await store.find(id))?.accountId ?? '') }),
    ],
    [
      'returns how many sessions it removed',
      [REMOVE, FOREIGN, SAYS, GONE],
      (store) => ({ remove: async (...args) => Number(await store.remove(...args)) as never }),
    ],
    [
      'returns nothing from removeAll',
      [REMOVE_ALL, SAYS, KEEP],
      (store) => ({ removeAll: async (...args) => void (await store.removeAll(...args)) as never }),
    ],
    [
      'looks the session up, and then removes it',
      [SAYS],
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
      'always says that it removed a session',
      [SAYS],
      (store) => ({ removeAll: async (...args) => (await store.removeAll(...args)) || true }),
    ],
    [
      'ignores the session to keep',
      [KEEP, SAYS],
      (store) => ({ removeAll: (accountId) => store.removeAll(accountId) }),
    ],
    [
      'keeps one session per account',
      [FIND, LIST, REMOVE, FOREIGN, REMOVE_ALL, SAYS, KEEP, TOUCH, GONE],
      (store) => ({
        async add(session) {
          await store.removeAll(session.accountId)
          await store.add(session)
        },
      }),
    ],
    [
      'reads the list, and then writes it with the new session',
      [AT_ONCE],
      (store) => ({
        async add(session) {
          const others = await listed(store, session.accountId)
          await turn()
          await store.removeAll(session.accountId)
          for (const one of [...others, session]) await store.add(one)
        },
      }),
    ],
    [
      'stores whole seconds',
      [FIND, TOUCH],
      (store) => ({
        add: ({ createdAt, expiresAt, lastUsedAt, ...session }) =>
          store.add({
            ...session,
            createdAt: onlySeconds(createdAt),
            expiresAt: onlySeconds(expiresAt),
            lastUsedAt: onlySeconds(lastUsedAt),
          }),
      }),
    ],
    [
      'returns null for an absent text as text',
      [FIND],
      (store) => ({ add: (one) => store.add({ ...one, label: String(one.label) }) }),
    ],
    [
      'compares ids without regard to letter case',
      [UNKNOWN],
      (store) => ({ find: (id) => store.find(id.toLowerCase()) }),
    ],
    [
      'fails on an id that is no UUID',
      [UNKNOWN],
      (store) => ({ find: (id) => (/^[\da-fA-F-]{35,37}$/.test(id) ? store.find(id) : expect.fail('no UUID')) }),
    ],
    [
      'caches what it has found',
      [REMOVE, REMOVE_ALL, KEEP, TOUCH, GONE],
      (store) => {
        const cache = new Map<string, Session>()
        return {
          async add(session) {
            cache.set(session.id, session)
            await store.add(session)
          },
          find: (id) => cache.get(id),
        }
      },
    ],
    [
      'returns the sessions of all accounts',
      [LIST, REMOVE, FOREIGN, REMOVE_ALL, KEEP, GONE],
      (store) => {
        const accounts = new Set<string>()
        return {
          add: (session) => accounts.add(session.accountId) && store.add(session),
          list: async () => (await Promise.all([...accounts].map((id) => listed(store, id)))).flat(),
        }
      },
    ],
    [
      'lists sessions without regard to the letter case of the account',
      [LIST],
      (store) => ({ list: async (id) => listed(store, id.toLowerCase()) }),
    ],
    [
      'removes all without regard to the letter case of the account',
      [REMOVE_ALL],
      (store) => ({ removeAll: (id, ...rest) => store.removeAll(id.toLowerCase(), ...rest) }),
    ],
    ['touches nothing', [TOUCH], () => ({ touch() {} })],
    [
      'returns times as texts',
      [FIND, REMOVE, FOREIGN, REMOVE_ALL, KEEP, TOUCH],
      (store) => ({ find: async (id) => JSON.parse(JSON.stringify((await store.find(id)) ?? null)) }),
    ],
  ])('a store that %s fails %j', async (_mistake, checks, make) => {
    expect(Object.keys(await failuresOf(wrong(make))).sort()).toEqual([...checks].sort())
  })

  it('says which method failed, hung or returned something else', async () => {
    const check = (store: Partial<SessionStore>) =>
      sessionStoreContract({ store: { ...memorySessions(), ...store } })[2]
    const messageOf = async (store: Partial<SessionStore>) =>
      ((await rejectionOf(check(store)?.run() ?? Promise.resolve())) as Error).message
    expect(await messageOf({ add: () => Promise.reject(new Error('no table')) })).toBe(
      'add failed with Error: no table',
    )
    expect(await messageOf({ list: () => ({}) as never })).toMatch(/^list\("acc-.*\) did not return an array$/)
    expect(await messageOf({ list: () => [null as never] })).toMatch(/^list\(.*\) returned null in its array$/)
    expect(await messageOf({ list: () => [{} as never] })).toMatch(/^list\(.*\): "id" must be a non-empty string/)
  })

  it('refuses what is no store, and production', () => {
    expectMisuse(
      () => sessionStoreContract({ store: 7 as never }),
      'sessionStoreContract: option "store" must be memorySessions()',
    )
    expectMisuse(
      () => sessionStoreContract({ store: memorySessions(), accountId: '' }),
      '"accountId" must be a non-empty',
    )
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    expectMisuse(() => sessionStoreContract({ store: memorySessions() }), 'is only for tests')
  })
})
