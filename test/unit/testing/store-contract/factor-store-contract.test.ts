// Tests testing/store-contract/factor-checks.ts

import { setImmediate as turn } from 'node:timers/promises'
import type { FactorStore, StoredFactor } from 'express-token-endpoint'
import { storeContract } from 'express-token-endpoint/testing'
import { describe, expect, it } from 'vitest'
import { memoryFactors } from '../../../support/sessions.js'

/** Runs all checks of factors, and returns the messages of those that failed. */
async function failuresOf(store: FactorStore, otherStore?: FactorStore, ids = {}): Promise<string[]> {
  const failures: string[] = []
  const options = { ...ids, otherStore: otherStore && { factors: otherStore } }
  for (const { run } of storeContract({ factors: store }, options))
    await run().catch((error: Error) => void failures.push(error.message))
  return failures
}

/** The factors of a store that are found by any condition, as in a database. */
function tableOf() {
  let rows: StoredFactor[] = []
  return {
    get rows() {
      return rows
    },
    remove(isRemoved: (row: StoredFactor) => boolean): boolean {
      const before = rows.length
      rows = rows.filter((row) => !isRemoved(row))
      return rows.length < before
    },
  }
}

type Table = ReturnType<typeof tableOf>

const isValid = ({ expiresAt }: StoredFactor, now: Date) => expiresAt === null || expiresAt > now
const countIn = (rows: readonly StoredFactor[], { accountId, kind }: StoredFactor, now: Date) =>
  rows.filter((row) => row.accountId === accountId && row.kind === kind && isValid(row, now)).length
const lower = (text: string) => text.trimEnd().toLowerCase()

const right = (table: Table): FactorStore => ({
  add(factor, most, now) {
    if (table.rows.some(({ id }) => id === factor.id) || countIn(table.rows, factor, now) >= most) return false
    return table.rows.push({ ...factor }) > 0
  },
  find: (id) => table.rows.find((row) => row.id === id),
  list: (accountId) => table.rows.filter((row) => row.accountId === accountId),
  replace(id, from, to) {
    const row = table.rows.find((one) => one.id === id)
    if (row?.data !== from) return false
    table.rows[table.rows.indexOf(row)] = { ...row, data: to }
    return true
  },
  remove: (id, accountId) => table.remove((row) => row.id === id && row.accountId === accountId),
  removeAll: (accountId, kinds) => table.remove((row) => row.accountId === accountId && kinds.includes(row.kind)),
})

const WRONG: [mistake: string, message: string, change: (table: Table, store: FactorStore) => Partial<FactorStore>][] =
  [
    ['finds nothing', 'find returned no factor. Store the factor', () => ({ find: () => null })],
    ['lists nothing', 'list returned 0 factors of an account that has', () => ({ list: () => [] })],
    ['lists no array', 'list did not return an array', () => ({ list: () => ({}) as never })],
    ['lists the factors of all accounts', 'factors of an account that has', (table) => ({ list: () => table.rows })],
    [
      'cuts milliseconds',
      'find returned another expiresAt than the stored one. Store texts as they are',
      (_, store) => ({
        add: (one, ...rest) =>
          store.add(
            { ...one, expiresAt: one.expiresAt && new Date(Math.floor(+one.expiresAt / 1000) * 1000) },
            ...rest,
          ),
      }),
    ],
    [
      'stores JSON as an object',
      'find returned another data than the stored one',
      (_, store) => ({
        add: (one, ...rest) => store.add({ ...one, data: JSON.stringify(JSON.parse(one.data)) }, ...rest),
      }),
    ],
    [
      'keeps null as a date',
      'find returned another expiresAt',
      (_, store) => ({
        add: (one, ...rest) => store.add({ ...one, expiresAt: one.expiresAt ?? new Date(8e15) }, ...rest),
      }),
    ],
    [
      'finds an id in any letter case',
      'returned a factor. Compare ids',
      (table) => ({ find: (id) => table.rows.find((row) => lower(row.id) === lower(id)) }),
    ],
    [
      'replaces by any letter case of the id',
      'returned true. Compare ids',
      (table, store) => ({
        replace: (id, ...rest) =>
          store.replace(table.rows.find((row) => lower(row.id) === lower(id))?.id ?? '', ...rest),
      }),
    ],
    [
      'removes by any letter case of the id',
      'returned true. Compare ids',
      (table) => ({ remove: (id) => table.remove((row) => lower(row.id) === lower(id)) }),
    ],
    [
      'has no limit',
      'add returned true for a factor of a kind',
      (_, store) => ({ add: (one, __, now) => store.add(one, 999, now) }),
    ],
    [
      'counts expired factors',
      'add returned false for a factor when a factor expires at this moment',
      (_, store) => ({ add: (one, most) => store.add(one, most, new Date(0)) }),
    ],
    [
      'counts the factors of all kinds',
      'add returned false for a factor after a factor was removed',
      (table, store) => ({
        add: (one, most, now) =>
          table.rows.filter((row) => row.accountId === one.accountId && isValid(row, now)).length < most &&
          store.add(one, most, now),
      }),
    ],
    [
      'counts no factors that do not expire',
      'add returned true for a factor of a kind',
      (table, store) => ({
        add: (one, most, now) =>
          table.rows.filter(({ accountId, expiresAt }) => accountId === one.accountId && expiresAt).length < most &&
          store.add(one, 999, now),
      }),
    ],
    [
      'takes null for a time that is over',
      'find returned no factor. Keep the factors that do not expire',
      (table, store) => ({
        add(one, most, now) {
          if (+now > Date.now() + 7_200_000) table.remove(({ expiresAt }) => expiresAt === null)
          return store.add(one, most, now)
        },
      }),
    ],
    [
      'counts factors and then stores one',
      'add stored 8 factors of at most 3',
      (table, store) => ({
        async add(one, most, now) {
          const count = countIn(table.rows, one, now)
          await turn()
          return count < most && store.add(one, 999, now)
        },
      }),
    ],
    [
      'says that it stored each factor',
      'add did not return whether it stored the factor',
      (_, store) => ({
        async add(...args) {
          await store.add(...args)
          return true
        },
      }),
    ],
    [
      'returns nothing from add',
      'add must return true or false',
      (_, store) => ({ add: (...args) => void store.add(...args) as never }),
    ],
    [
      'replaces a factor of the same id',
      'add returned true for an id that a factor has',
      (table, store) => ({
        add(one, most, now) {
          const isStored = countIn(table.rows, one, now) < most
          if (isStored) table.remove(({ id }) => id === one.id)
          return store.add(one, most, now)
        },
      }),
    ],
    [
      'has one id for each account',
      'add returned true for an id that a factor has',
      (table) => ({
        add(one, most, now) {
          const isThere = table.rows.some(({ id, accountId }) => id === one.id && accountId === one.accountId)
          return !isThere && countIn(table.rows, one, now) < most && table.rows.push(one) > 0
        },
      }),
    ],
    [
      'looks for the id and then stores the factor',
      'add returned true to 3 of three calls with one id, instead of one',
      (table) => ({
        async add(one, most, now) {
          const isThere = table.rows.some(({ id }) => id === one.id)
          await turn()
          if (isThere || countIn(table.rows, one, now) >= most) return false
          table.remove(({ id }) => id === one.id)
          return table.rows.push(one) > 0
        },
      }),
    ],
    [
      'replaces without a look',
      'replace returned true for other data: another hash',
      (table, store) => ({
        replace: (id, _, to) => store.replace(id, table.rows.find((row) => row.id === id)?.data ?? '', to),
      }),
    ],
    [
      'compares data in any letter case',
      'replace returned true for other data: the hash in the other letter case',
      (table, store) => ({
        replace(id, from, to) {
          const row = table.rows.find((one) => one.id === id)
          return row !== undefined && row.data.toLowerCase() === from.toLowerCase() && store.replace(id, row.data, to)
        },
      }),
    ],
    [
      'compares data and then replaces it',
      'replace returned true to 3 of three calls at the same time, instead of one',
      (table, store) => ({
        async replace(id, from, to) {
          const row = table.rows.find((one) => one.id === id)
          await turn()
          return row?.data === from && store.replace(id, table.rows.find((one) => one.id === id)?.data ?? '', to)
        },
      }),
    ],
    ['replaces nothing', 'replace returned false for the stored data', () => ({ replace: () => false })],
    [
      'only says that it replaced the data',
      'find returned another data than the stored one. Wait for the write',
      (table) => ({ replace: (id, from) => table.rows.some((row) => row.id === id && row.data === from) }),
    ],
    [
      'replaces the data of all factors',
      'list returned another data than the stored one',
      (table, store) => ({
        replace(id, from, to) {
          if (!store.replace(id, from, to)) return false
          for (const row of table.rows) row.data = to
          return true
        },
      }),
    ],
    [
      'brings a removed factor back',
      'replace brought a removed factor back',
      (table, store) => {
        const removed = new Map<string, StoredFactor>()
        return {
          remove(id, accountId) {
            const row = table.rows.find((one) => one.id === id)
            if (row) removed.set(id, row)
            return store.remove(id, accountId)
          },
          replace(id, from, to) {
            const row = removed.get(id)
            if (row) table.rows.push({ ...row, data: to })
            return row === undefined && store.replace(id, from, to)
          },
        }
      },
    ],
    [
      'removes the factors of other accounts',
      'remove returned true for the factor of another account',
      (table) => ({ remove: (id) => table.remove((row) => row.id === id) }),
    ],
    [
      'compares only the start of an account’s id',
      'remove returned true for the account',
      (table) => ({
        remove: (id, accountId) => table.remove((row) => row.id === id && row.accountId.startsWith(accountId)),
      }),
    ],
    [
      'says that each call removed the factor',
      'remove returned true for 3 of three calls at the same time, instead of one',
      (table, store) => ({
        async remove(id, accountId) {
          const isThere = table.rows.some((row) => row.id === id && row.accountId === accountId)
          await turn()
          await store.remove(id, accountId)
          return isThere
        },
      }),
    ],
    ['removes nothing', 'remove returned true for 0 of three calls', () => ({ remove: () => false })],
    [
      'only says that it removed the factor',
      'find returned a factor after remove. Wait for the write',
      (table) => {
        const removed = new Set<string>()
        return {
          remove(id, accountId) {
            const isThere = table.rows.some((row) => row.id === id && row.accountId === accountId)
            return isThere && !removed.has(id) && removed.add(id) !== undefined
          },
        }
      },
    ],
    [
      'does not take an id again',
      'add returned false for one of 1 factors',
      (_, store) => {
        const known = new Set<string>()
        return {
          add(one, most, now) {
            if (known.has(one.id)) return false
            return store.add(one, most, now) && known.add(one.id) !== undefined
          },
        }
      },
    ],
    [
      'removes no kinds',
      'list returned 25 factors of an account that has 1',
      (_, store) => ({
        removeAll: (accountId, kinds) => kinds.length === 3 && store.removeAll(accountId, kinds),
      }),
    ],
    [
      'removes all kinds',
      'list returned 0 factors of an account that has 25. Compare ids, kinds',
      (table) => ({ removeAll: (accountId) => table.remove((row) => row.accountId === accountId) }),
    ],
    [
      'compares kinds in any letter case',
      'factors of an account that has 25. Compare ids, kinds',
      (table) => ({
        removeAll: (accountId, kinds) =>
          table.remove((row) => row.accountId === accountId && kinds.some((kind) => lower(kind) === row.kind)),
      }),
    ],
    [
      'removes the kinds of all accounts',
      'list returned 0 factors',
      (table) => ({ removeAll: (_, kinds) => table.remove((row) => kinds.includes(row.kind)) }),
    ],
    [
      'removes only the first kind',
      'Remove all factors of these kinds',
      (_, store) => ({
        removeAll: (accountId, kinds) => store.removeAll(accountId, kinds.length === 3 ? kinds : kinds.slice(0, 1)),
      }),
    ],
    [
      'removes a page of factors',
      'Remove all factors of these kinds, not a page of them',
      (table, store) => ({
        removeAll(accountId, kinds) {
          if (kinds.length === 3) return store.removeAll(accountId, kinds)
          let left = 10
          return table.remove((row) => row.accountId === accountId && kinds.includes(row.kind) && left-- > 0)
        },
      }),
    ],
    ['fails', 'list failed with Error: down', () => ({ list: () => Promise.reject(new Error('down')) })],
  ]

describe('storeContract, of factors', () => {
  it('passes for the store in memory and for one like a table, and leaves nothing in it', async () => {
    const table = tableOf()
    for (const store of [memoryFactors(), right(table)])
      expect(await failuresOf(store, undefined, { accountId: 'acc-1', otherAccountId: 'ACC-1' })).toEqual([])
    const data = memoryFactors()
    expect(await failuresOf(data, { ...data })).toEqual([])
    expect(table.rows).toEqual([])
  })

  it.each(WRONG)('fails for a store that %s', async (_, message, change) => {
    const table = tableOf()
    const store = right(table)
    expect((await failuresOf({ ...store, ...change(table, store) })).join('\n')).toContain(message)
  })

  it('fails for a store object that does not see the factors of the other one', async () => {
    expect((await failuresOf(memoryFactors(), memoryFactors())).join('\n')).toContain('find returned no factor')
  })

  it('skips its checks for a store without factors', async () => {
    const skipped: unknown[] = []
    for (const { run } of storeContract({
      codes: { add: () => true, find: () => null, take: () => null, removeAll() {} },
    }))
      await run({ skip: (reason) => void skipped.push(reason) }).catch(() => {})
    expect(skipped.filter((reason) => reason === 'the store has no "factors"').length).toBeGreaterThan(5)
  })
})
