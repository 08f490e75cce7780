// Tests testing/store-contract/{code-checks,contract-options}.ts

import { setImmediate as turn } from 'node:timers/promises'
import type { CodeStore, StoredCode } from 'express-token-endpoint'
import { type StoreContractOptions, storeContract } from 'express-token-endpoint/testing'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../../support/failures.js'
import { memoryCodes } from '../../../support/sessions.js'

type GivenCodes = CodeStore | (() => CodeStore)

interface Given extends Omit<StoreContractOptions, 'otherStore'> {
  store: GivenCodes
  otherStore?: GivenCodes
}

/** Returns a store with these codes. */
const partOf = (codes: GivenCodes) => (typeof codes === 'function' ? () => ({ codes: codes() }) : { codes })

/** Runs all checks, and returns the messages of those that failed. */
async function failuresOf({ store, otherStore, ...accounts }: Given): Promise<string[]> {
  const failures: string[] = []
  const options = { ...accounts, otherStore: otherStore && partOf(otherStore) }
  for (const { run } of storeContract(partOf(store), options))
    await run().catch((error: Error) => void failures.push(error.message))
  return failures
}

/** A store whose codes are found by any condition, as in a database. */
function tableOf(rows: StoredCode[]) {
  const remove = (isRemoved: (row: StoredCode) => boolean) => {
    const removed = rows.filter(isRemoved)
    for (const row of removed) rows.splice(rows.indexOf(row), 1)
    return removed[0]
  }
  return { rows, remove }
}

type Table = ReturnType<typeof tableOf>

/** Returns methods that find what they have found before, unless `take` forgets it. */
function cachingFind(
  store: CodeStore,
  forget: (cache: Map<string, StoredCode>, digest: string) => void,
): Partial<CodeStore> {
  const cache = new Map<string, StoredCode>()
  return {
    async find(digest) {
      const found = cache.get(digest) ?? (await store.find(digest))
      if (found) cache.set(digest, found)
      return found
    },
    take(digest) {
      forget(cache, digest)
      return store.take(digest)
    },
  }
}

const right = ({ rows, remove }: Table): CodeStore => ({
  add(code, most, now) {
    const { accountId, purpose } = code
    const same = rows.filter((row) => row.accountId === accountId && row.purpose === purpose && row.expiresAt > now)
    return same.length < most && rows.push(code) > 0
  },
  find: (digest) => rows.find((row) => row.digest === digest),
  take: (digest) => remove((row) => row.digest === digest),
  removeAll: (accountId, purpose) =>
    remove((row) => row.accountId === accountId && (purpose === undefined || row.purpose === purpose)),
})

const WRONG: [mistake: string, message: string, change: (table: Table, store: CodeStore) => Partial<CodeStore>][] = [
  [
    'keeps a code that was taken',
    'take returned a code for a second time',
    ({ rows }) => ({ take: (digest) => rows.find((row) => row.digest === digest) }),
  ],
  [
    'reads a code and then deletes it',
    'take returned a code to 3 of three calls at the same time, instead of one',
    ({ rows }, store) => ({
      async take(digest) {
        const found = rows.find((row) => row.digest === digest)
        await turn()
        await store.take(digest)
        return found
      },
    }),
  ],
  [
    'ignores letter case',
    'returned a code. Compare digests',
    ({ remove }) => ({ take: (digest) => remove((row) => row.digest.toLowerCase() === digest.toLowerCase()) }),
  ],
  [
    'cuts milliseconds',
    'take returned another expiresAt than the stored one',
    (_, store) => ({
      add: (code, ...rest) =>
        store.add({ ...code, expiresAt: new Date(Math.floor(+code.expiresAt / 1000) * 1000) }, ...rest),
    }),
  ],
  [
    'parses the data',
    'take returned another data than the stored one',
    (_, store) => ({
      async take(digest) {
        const code = await store.take(digest)
        return code && { ...code, data: JSON.parse(code.data ?? 'null') }
      },
    }),
  ],
  [
    'uses up a code that it finds',
    'find returned no code. Let find only read',
    (_, store) => ({ find: (digest) => store.take(digest) }),
  ],
  ['finds no code', 'find returned no code. Store the code', () => ({ find: () => undefined })],
  [
    'finds another code',
    'find returned another digest, purpose, data than the stored one',
    ({ rows }) => ({ find: (digest) => rows.findLast((row) => row.digest === digest || row.purpose === 'reset') }),
  ],
  [
    'finds a code by any letter case',
    'returned a code. Compare digests',
    ({ rows }) => ({ find: (digest) => rows.find((row) => row.digest.toLowerCase() === digest.toLowerCase()) }),
  ],
  ['caches what it takes', 'find returned a code after take. Wait for', (_, store) => cachingFind(store, () => false)],
  [
    'caches what it removes',
    'find returned a code after removeAll of its account',
    (_, store) => cachingFind(store, (cache, digest) => cache.delete(digest)),
  ],
  ['cannot find', 'find failed with Error: down', () => ({ find: () => Promise.reject(new Error('down')) })],
  ['has no limit', 'add returned true for a code of a purpose', ({ rows }) => ({ add: (code) => rows.push(code) > 0 })],
  [
    'counts expired codes',
    'add returned false for a code when a code expires at this moment',
    (_, store) => ({ add: (code, most) => store.add(code, most, new Date(0)) }),
  ],
  [
    'counts the codes of all purposes',
    'add returned false for a code after a code was taken',
    ({ rows }) => ({
      add: (code, most, now) =>
        rows.filter((row) => row.accountId === code.accountId && row.expiresAt > now).length < most &&
        rows.push(code) > 0,
    }),
  ],
  [
    'counts codes and then stores one',
    'add stored 8 codes of at most 3',
    ({ rows }) => ({
      async add(code, most, now) {
        const { accountId, purpose } = code
        const same = rows.filter((row) => row.accountId === accountId && row.purpose === purpose && row.expiresAt > now)
        await turn()
        return same.length < most && rows.push(code) > 0
      },
    }),
  ],
  [
    'says that it stored each code',
    'add did not return whether it stored the code',
    (_, store) => ({
      async add(...args) {
        await store.add(...args)
        return true
      },
    }),
  ],
  [
    'returns nothing from add',
    'must return true or false',
    (_, store) => ({ add: (...args) => void store.add(...args) as never }),
  ],
  ['fails', 'take failed with Error: down', () => ({ take: () => Promise.reject(new Error('down')) })],
  ['removes no codes', 'after removeAll', () => ({ removeAll: () => {} })],
  [
    'removes all codes for any purpose',
    'take returned no code',
    (_, store) => ({ removeAll: (accountId) => store.removeAll(accountId) }),
  ],
  [
    'removes the codes of all accounts',
    'take returned no code',
    ({ remove }) => ({ removeAll: () => remove(() => true) }),
  ],
  [
    'removes a page of codes',
    'after removeAll of its account',
    ({ remove }) => ({
      removeAll(accountId, purpose) {
        let left = 10
        remove((row) => row.accountId === accountId && (purpose ?? row.purpose) === row.purpose && left-- > 0)
      },
    }),
  ],
]

describe('storeContract, of codes', () => {
  it('passes for the store in memory and for one like a table, and leaves nothing in it', async () => {
    const table = tableOf([])
    for (const store of [memoryCodes(), right(table), () => right(table)])
      expect(await failuresOf({ store, accountId: 'acc-1', otherAccountId: 'ACC-1' })).toEqual([])
    const data = memoryCodes()
    expect(await failuresOf({ store: data, otherStore: { ...data } })).toEqual([])
    expect(table.rows).toEqual([])
  })

  it.each(WRONG)('fails for a store that %s', async (_, message, change) => {
    const table = tableOf([])
    const store = right(table)
    expect((await failuresOf({ store: { ...store, ...change(table, store) } })).join('\n')).toContain(message)
  })

  it('fails for a store object that does not see the codes of the other one', async () => {
    const failures = await failuresOf({ store: memoryCodes(), otherStore: memoryCodes() })
    expect(failures).toContain('take returned no code. Store the code before add returns, and remove no other code')
  })

  it('throws a TypeError for an option that is not valid', () => {
    expectMisuse(
      () => storeContract({ codes: {} } as never),
      'a store whose "codes" have "add", "find", "take", "removeAll"',
    )
    expectMisuse(() => storeContract(memoryCodes() as never), 'Pass { codes } with this object')
    expectMisuse(() => storeContract({ codes: memoryCodes() }, { accountId: '' }), 'option "accountId"')
  })
})
