// Tests testing/store-contract/{refresh-checks,session-calls,session-checks,session-expectations,session-samples,session-store-probe,store-contract}.ts

import type { Session, SessionStore } from 'express-token-endpoint'
import { type StoreContractOptions, storeContract } from 'express-token-endpoint/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../support/failures.js'
import { memorySessions } from '../../../support/sessions.js'
import { cachingForItself, replacing, turn, WRONG_PAIRS, WRONG_STORES, wrong } from './wrong-session-stores.js'

type GivenSessions = SessionStore | (() => SessionStore)

interface Given extends Omit<StoreContractOptions, 'otherStore'> {
  store: GivenSessions
  otherStore?: GivenSessions
}

/** Returns a store with these sessions. */
const partOf = (sessions: GivenSessions) =>
  typeof sessions === 'function' ? () => ({ sessions: sessions() }) : { sessions }

/** Returns the checks of sessions. */
const checksOf = (sessions: SessionStore) =>
  storeContract({ sessions }).slice(
    0,
    storeContract({ sessions }).findIndex(({ name }) => name.startsWith('take ')),
  )

/** Runs all checks, and returns the messages of those that failed. */
async function failuresOf({ store, otherStore, ...accounts }: Given): Promise<Record<string, string>> {
  const failures: Record<string, string> = {}
  const options = { ...accounts, otherStore: otherStore && partOf(otherStore) }
  for (const { name, run } of storeContract(partOf(store), options)) {
    await run().catch((error: Error) => {
      failures[name] = error.message
    })
  }
  return failures
}

const failures = new Map<string, Promise<Record<string, string>>>()

/** Runs the checks of all wrong stores once, and at the same time, because one check waits for the end of a session. */
function failuresOfWrong([mistake]: (typeof WRONG_STORES)[number]) {
  if (failures.size === 0)
    for (const [one, , change] of WRONG_STORES) failures.set(one, failuresOf({ store: wrong(change) }))
  return failures.get(mistake) as Promise<Record<string, string>>
}

/** Creates two store objects on the same data. */
function twoObjects(change: (store: SessionStore) => Partial<SessionStore>) {
  const data = memorySessions()
  function create(): SessionStore {
    const made: SessionStore = { ...data, ...change(replacing(data)) }
    return { ...made, add: (session) => (data.find(session.id) ? undefined : made.add(session)) }
  }
  return { store: create(), otherStore: create() }
}

describe('storeContract, of sessions', () => {
  it.concurrent('passes for the store in memory, and leaves nothing in it', async () => {
    const store = memorySessions()
    expect(await failuresOf({ store, accountId: 'acc-1', otherAccountId: 'ACC-1' })).toEqual({})
    for (const accountId of ['acc-1', 'ACC-1']) expect(await store.list(accountId)).toEqual([])
    expect(await failuresOf({ store: () => store })).toEqual({})
    expect(await failuresOf({ store, accountId: '1' })).toEqual({})
    expect(await failuresOf({ store, otherStore: { ...store } })).toEqual({})
  })

  it.concurrent('passes for a store whose methods take several turns, and which changes a session in one statement', async () => {
    const store = memorySessions()
    const slow =
      <Args extends unknown[], T>(call: (...args: Args) => T) =>
      async (...args: Args): Promise<Awaited<T>> => {
        await turn()
        const result = await call(...args)
        await turn()
        return result
      }
    const { add, find, list, remove, removeAll, touch, replace, update } = store
    const slowStore = {
      add: slow(add),
      find: slow(find),
      list: slow(list),
      remove: slow(remove),
      removeAll: slow(removeAll),
      touch: slow(touch),
      replace: slow(replace),
      update: slow(update),
    }
    expect(await failuresOf({ store: slowStore, otherStore: store })).toEqual({})
  })

  it.concurrent('passes for a store that returns an empty text for null, which the package reads as null', async () => {
    const memory = memorySessions()
    const store = { ...memory, add: (session: Session) => memory.add({ ...session, label: session.label ?? '' }) }
    expect(await failuresOf({ store })).toEqual({})
  })

  it('skips the checks of replace for a store without it', async () => {
    const { replace: _, update: __, ...store } = memorySessions()
    const skipped: string[] = []
    for (const { name, run } of checksOf(store)) {
      await run({ skip: (reason) => skipped.push(`${name}: ${reason}`) })
    }
    expect(skipped).toHaveLength(10)
    for (const line of skipped) expect(line).toMatch(/replace|refresh/)
  })

  it.concurrent.each(WRONG_STORES)('names the mistake of a store that %s: %s', async (...row) => {
    const messages = Object.values(await failuresOfWrong(row))
    const [, says] = row
    expect(messages.join('\n')).toContain(says)
    // A message says what is wrong, and then what to do. A store that throws says itself what is wrong.
    for (const message of messages) expect(message).toMatch(/\. [A-Z]|failed with |must be a/)
  })

  it.concurrent.each(WRONG_PAIRS)(
    'names with a second store object the mistake of a store that %s: %s',
    async (_, says, change) => {
      const { store, otherStore } = twoObjects(change)
      expect(await failuresOf({ store })).toEqual({})
      expect(Object.values(await failuresOf({ store, otherStore })).join('\n')).toContain(says)
    },
  )

  it.concurrent('finds a mistake with every check', async () => {
    const failed = new Set<string>()
    for (const row of WRONG_STORES) {
      for (const name of Object.keys(await failuresOfWrong(row))) failed.add(name)
    }
    expect([...failed].sort()).toEqual(
      checksOf(memorySessions())
        .map(({ name }) => name)
        .sort(),
    )
  })

  it.concurrent('finds with a second store object what only another process sees: a cache', async () => {
    const { store, otherStore } = twoObjects(cachingForItself)
    expect(await failuresOf({ store })).toEqual({})
    expect(Object.values(await failuresOf({ store, otherStore })).join('\n')).toContain(
      'find of "otherStore" returned the session after remove. Finish the deletion before the method returns, cache no sessions',
    )
  })

  it.concurrent('finds with a second store object a replica that lags', async () => {
    const [store, replica] = [memorySessions(), memorySessions()]
    const later = (change: () => unknown) => void turn().then(change)
    const primary: SessionStore = {
      ...store,
      add(session) {
        store.add(session)
        later(() => replica.add(session))
      },
      remove(...args) {
        later(() => replica.remove(...args))
        return store.remove(...args)
      },
    }
    expect(await failuresOf({ store: primary })).toEqual({})
    expect(Object.values(await failuresOf({ store: primary, otherStore: () => replica })).join('\n')).toContain(
      'of "otherStore" returned no session',
    )
  })

  it('says which method failed or returned something else', async () => {
    const name = 'list returns all sessions of the account, and no other'
    const messageOf = async (change: Partial<SessionStore>) => {
      const check = checksOf(wrong(() => change)).find((one) => one.name === name)
      return ((await rejectionOf(check?.run() ?? Promise.resolve())) as Error).message
    }
    expect(await messageOf({ add: () => Promise.reject(new Error('no table')) })).toBe(
      'add failed with Error: no table',
    )
    expect(await messageOf({ list: () => ({}) as never })).toMatch(/^list\("acc-.*\) did not return an array\. Return/)
    expect(await messageOf({ list: () => [null as never] })).toMatch(/^list\(.*\) returned null in its array\. Return/)
    expect(await messageOf({ list: () => [{} as never] })).toMatch(/^list\(.*\): "id" must be a non-empty string/)
  })

  it('refuses what is no store, and production', () => {
    const of =
      (store: unknown, options: object = {}) =>
      () =>
        storeContract(store as never, options)
    const store = { sessions: memorySessions() }
    expectMisuse(of(7), 'storeContract: the store must be memoryStore()')
    expectMisuse(of(memorySessions()), 'Pass { sessions } with this object')
    expectMisuse(of(store, { otherStore: {} }), 'storeContract: option "otherStore" must be memoryStore()')
    expectMisuse(of(store, { accountId: '' }), '"accountId" must be a non-empty')
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    expectMisuse(of(store), 'is only for tests')
  })
})
