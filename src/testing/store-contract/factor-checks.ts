import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FactorStore, StoredFactor } from '../../factors/factor-store.js'
import { isPlainObject } from '../../options/values.js'
import { fail } from './contract-check.js'
import type { ContractAccounts } from './contract-options.js'
import { otherHashes, otherIds, swapCase } from './odd-text.js'
import { booleanFrom, resultOf, shown } from './store-probe.js'

const HOUR = 3_600_000
/** The most factors of the account and kind, where the limit does not matter. */
const MOST = 100
/** The kinds of what the checks add. */
const KINDS = ['totp', 'recovery', 'passkey']

const COUNT =
  'Count the factors of this account and this kind that expire later than "now" or never, and store the next one in one step'
const UNIQUE = 'Make the id unique in the whole store, and return true only to the call that stored the factor'
const ONE_REPLACES = 'Compare the stored data with "from" and replace it in one statement'
const ONE_REMOVES = 'Return true only to the call whose statement deleted the factor'
const EXACTLY = 'Compare ids, kinds and account ids exactly, letter by letter'
const STORE = 'Store the factor before add returns, and remove no other factor'
const NO_CACHE = 'Wait for the write, and cache no factors'
const AS_THEY_ARE = 'Store texts as they are, dates with milliseconds, and null as null'

type FactorProbe = ReturnType<typeof probeFactors>

/** Returns the methods of two store objects on the same data, each with a timeout. The second one reads and writes too. */
export function probeFactors(store: FactorStore, other = store) {
  const methodsOf = (one: FactorStore) => ({
    add: (...args: Parameters<FactorStore['add']>) => booleanFrom('add', () => one.add(...args)),
    find: (id: string) => resultOf('find', () => one.find(id)),
    async list(accountId: string) {
      const listed = await resultOf('list', () => one.list(accountId))
      return Array.isArray(listed) ? (listed as unknown[]) : fail('list did not return an array', 'Return an array')
    },
    replace: (...args: Parameters<FactorStore['replace']>) => booleanFrom('replace', () => one.replace(...args)),
    remove: (...args: Parameters<FactorStore['remove']>) => booleanFrom('remove', () => one.remove(...args)),
    removeAll: (...args: Parameters<FactorStore['removeAll']>) => resultOf('removeAll', () => one.removeAll(...args)),
  })
  return { ...methodsOf(store), elsewhere: methodsOf(other) }
}

type FactorCheck = (store: FactorProbe) => Promise<void>

/** Returns the checks by their names. */
export function factorChecks({ accountId, otherAccountId }: ContractAccounts): Record<string, FactorCheck> {
  const now = new Date()
  // A moment that a column of whole seconds cannot hold.
  const end = new Date(Math.floor(now.getTime() / 1000) * 1000 + HOUR + 123)
  const newFactor = (more: Partial<StoredFactor> = {}): StoredFactor => ({
    id: randomBytes(32).toString('base64url'),
    accountId,
    kind: 'totp',
    expiresAt: null,
    data: '{}',
    ...more,
  })

  /** Runs a check in a store without factors of the accounts. */
  const clean =
    (check: FactorCheck): FactorCheck =>
    async (store) => {
      const clear = async () => {
        for (const id of [accountId, otherAccountId]) await store.removeAll(id, KINDS).catch(() => {})
      }
      await clear()
      await check(store).finally(clear)
    }

  async function add(store: FactorProbe, ...factors: StoredFactor[]): Promise<void> {
    for (const factor of factors)
      if (!(await store.add(factor, MOST, now))) fail(`add returned false for one of ${factors.length} factors`, COUNT)
  }

  return {
    'find and list return what add has stored, to the millisecond': clean(async (store) => {
      const theirs = newFactor({ accountId: otherAccountId })
      const factors = [newFactor(), newFactor({ expiresAt: end, kind: 'recovery' }), ...ODD_DATA.map(withData)]
      await add(store, theirs, ...factors)
      for (const one of [store, store.elsewhere]) {
        for (const factor of [theirs, ...factors]) expectSame('find', await one.find(factor.id), factor)
        await expectListed(one, accountId, factors)
        await expectListed(one, otherAccountId, [theirs])
      }
    }),
    'find returns null or undefined for an id that no factor has, and no call changes another factor': clean(
      async (store) => {
        const factor = newFactor()
        await add(store, factor)
        const { id } = factor
        const odd = [newFactor().id, swapCase(id), `${id} `, ...otherIds(id).map(([, one]) => one), "'", '__proto__']
        for (const other of odd) {
          if (await store.find(other)) fail(`find(${shown(other)}) returned a factor`, EXACTLY)
          if (await store.replace(other, factor.data, '[]')) fail(`replace(${shown(other)}) returned true`, EXACTLY)
          if (await store.remove(other, accountId)) fail(`remove(${shown(other)}) returned true`, EXACTLY)
        }
        for (const [, other] of otherIds(accountId)) {
          if (other !== otherAccountId) await expectListed(store, other, [])
        }
        expectSame('find', await store.elsewhere.find(id), factor)
      },
    ),
    'add refuses more factors than the account may have of a kind, until one is removed or expires': clean(
      async (store) => {
        const [first, second] = [newFactor(), newFactor({ expiresAt: end })]
        const passkey = newFactor({ kind: 'passkey' })
        await add(store, first, second, passkey, newFactor({ accountId: otherAccountId }))
        await expectAdded(store, false, 'of a kind that has as many factors as it may have')
        await store.elsewhere.remove(first.id, accountId)
        await expectAdded(store, true, 'after a factor was removed')
        await expectAdded(store, false, 'of a kind that has as many factors again')
        await expectAdded(store, true, 'when a factor expires at this moment', end)
        await store.add(newFactor(), MOST, new Date(end.getTime() + 1000 * HOUR))
        expectSame('find', await store.elsewhere.find(passkey.id), passkey, 'Keep the factors that do not expire')
      },
    ),
    'add stores no more factors than the account may have when several are added at the same time': clean(
      async (store) => {
        const factors = Array.from({ length: 8 }, () => newFactor())
        const stored = await Promise.all(factors.map((factor, i) => writerOf(store, i).add(factor, 3, now)))
        const found = await Promise.all(factors.map(async ({ id }) => Boolean(await store.elsewhere.find(id))))
        const count = found.filter(Boolean).length
        if (count > 3) fail(`add stored ${count} factors of at most 3 that were added at the same time`, COUNT)
        if (!isDeepStrictEqual(stored, found)) fail('add did not return whether it stored the factor', COUNT)
      },
    ),
    'add refuses an id that a factor has, also that of another account': clean(async (store) => {
      const factor = newFactor({ data: '[1]' })
      await add(store, factor)
      const { id } = factor
      for (const same of [factor, newFactor({ id, kind: 'passkey' }), newFactor({ id, accountId: otherAccountId })])
        if (await store.elsewhere.add({ ...same, data: '[2]' }, MOST, now))
          fail('add returned true for an id that a factor has', UNIQUE)
      expectSame('find', await store.find(id), factor, UNIQUE)
      await expectListed(store, accountId, [factor])
      await expectListed(store, otherAccountId, [])
      for (let round = 0; round < 10; round++) {
        const one = newFactor({ kind: 'recovery' })
        const added = await Promise.all([0, 1, 2].map((i) => writerOf(store, i).add(one, MOST, now)))
        const count = added.filter(Boolean).length
        if (count !== 1) fail(`add returned true to ${count} of three calls with one id, instead of one`, UNIQUE)
        expectSame('find', await store.elsewhere.find(one.id), one, UNIQUE)
      }
    }),
    'replace replaces only the data, and only while it is as it was': clean(async (store) => {
      const [factor, other] = [
        newFactor({ data: '{"step":"Abc"}', expiresAt: end }),
        newFactor({ data: '{"step":"Abc"}' }),
      ]
      await add(store, factor, other)
      const { id, data } = factor
      for (const [what, from] of otherHashes(data))
        if (await store.replace(id, from, '[]')) fail(`replace returned true for other data: ${what}`, ONE_REPLACES)
      expectSame('find', await store.elsewhere.find(id), factor, ONE_REPLACES)
      let from = data
      for (const to of [swapCase(data), `${data} `, ...ODD_DATA, '{}']) {
        if (!(await store.replace(id, from, to)))
          fail(`replace returned false for the stored data ${shown(from)}`, ONE_REPLACES)
        for (const one of [store, store.elsewhere])
          expectSame('find', await one.find(id), { ...factor, data: to }, NO_CACHE)
        from = to
      }
      await expectListed(store, accountId, [{ ...factor, data: from }, other])
      await store.remove(id, accountId)
      if (await store.replace(id, from, '[]')) fail('replace returned true for a removed factor', ONE_REPLACES)
      if (await store.find(id)) fail('replace brought a removed factor back', ONE_REPLACES)
    }),
    'replace returns true to one of several calls at the same time': clean(async (store) => {
      const factor = newFactor({ data: '0' })
      await add(store, factor)
      for (let round = 0; round < 10; round++) {
        // Texts that a database may take for equal.
        const texts = [`${round + 1}`, `${round + 1} `, `"${round + 1}"`]
        const from = Object(await store.find(factor.id)).data as string
        const results = await Promise.all(texts.map((to, i) => writerOf(store, i).replace(factor.id, from, to)))
        const count = results.filter(Boolean).length
        if (count !== 1)
          fail(`replace returned true to ${count} of three calls at the same time, instead of one`, ONE_REPLACES)
        const data = texts[results.indexOf(true)] as string
        expectSame('find', await store.elsewhere.find(factor.id), { ...factor, data }, ONE_REPLACES)
      }
    }),
    'remove removes a factor of this account, and returns that once': clean(async (store) => {
      const [first, second, theirs] = [newFactor(), newFactor(), newFactor({ accountId: otherAccountId })]
      await add(store, first, second, theirs)
      if (await store.remove(theirs.id, accountId))
        fail('remove returned true for the factor of another account', EXACTLY)
      for (const [, id] of otherIds(accountId))
        if (id !== otherAccountId && (await store.remove(first.id, id)))
          fail(`remove returned true for the account ${shown(id)}`, EXACTLY)
      for (const factor of [first, theirs]) expectSame('find', await store.elsewhere.find(factor.id), factor, EXACTLY)
      const removed = await Promise.all([0, 1, 2].map((i) => writerOf(store, i).remove(first.id, accountId)))
      const count = removed.filter(Boolean).length
      if (count !== 1)
        fail(`remove returned true for ${count} of three calls at the same time, instead of one`, ONE_REMOVES)
      await expectGone(store, first, 'remove')
      await expectListed(store.elsewhere, accountId, [second])
      await expectListed(store, otherAccountId, [theirs])
      // A passkey can be registered again.
      await add(store, first)
      expectSame('find', await store.elsewhere.find(first.id), first)
    }),
    'removeAll removes the factors of some kinds': clean(async (store) => {
      const [kept, theirs] = [newFactor({ kind: 'passkey' }), newFactor({ accountId: otherAccountId })]
      const removed = Array.from({ length: 24 }, (_, i) => newFactor({ kind: i % 2 ? 'totp' : 'recovery' }))
      await add(store, kept, theirs, ...removed)
      for (const kinds of [[], ['TOTP', 'totp ', 'toto', '%', 'tot_', '*', "'"]])
        await store.removeAll(accountId, kinds)
      for (const [, id] of otherIds(accountId)) if (id !== otherAccountId) await store.removeAll(id, KINDS)
      await expectListed(store, accountId, [kept, ...removed], EXACTLY)
      await store.removeAll(accountId, ['totp', 'recovery'])
      await expectListed(store.elsewhere, accountId, [kept], 'Remove all factors of these kinds, not a page of them')
      for (const factor of removed) await expectGone(store, factor, 'removeAll')
      expectSame('find', await store.find(kept.id), kept, EXACTLY)
      await expectListed(store, otherAccountId, [theirs], EXACTLY)
    }),
  }

  function withData(data: string): StoredFactor {
    return newFactor({ data, kind: 'passkey' })
  }

  /** Expects what `add` returns for a factor when the account may have two of the kind. */
  async function expectAdded(store: FactorProbe, isExpected: boolean, when: string, at = now): Promise<void> {
    const isAdded = await store.add(newFactor(), 2, at)
    if (isAdded !== isExpected) fail(`add returned ${isAdded} for a factor ${when}`, COUNT)
  }
}

/** Data that a store may change: as JSON, in another character set, or because it is long. */
const ODD_DATA = [
  '{"name":"ann’s 💻 \\\\ \\"work\\"; --","b":[1.0, 1e2]}',
  '[1, {"a": "\\u0000"}]',
  JSON.stringify('é'.repeat(8190)),
  JSON.stringify('"'.repeat(4095)),
  'null',
]

/** Returns the methods of one of the two store objects, in turns. */
const writerOf = (store: FactorProbe, i: number) => (i % 2 ? store.elsewhere : store)

/** Expects that no store object finds a factor. */
async function expectGone(store: FactorProbe, { id }: StoredFactor, after: string): Promise<void> {
  for (const found of [await store.find(id), await store.elsewhere.find(id)])
    if (found) fail(`find returned a factor after ${after}`, NO_CACHE)
}

/** Expects that an account has these factors, in any order. */
async function expectListed(
  store: Pick<FactorProbe, 'list'>,
  accountId: string,
  factors: readonly StoredFactor[],
  advice = STORE,
): Promise<void> {
  const listed = await store.list(accountId)
  if (listed.length !== factors.length)
    fail(`list returned ${listed.length} factors of an account that has ${factors.length}`, advice)
  for (const factor of factors)
    expectSame(
      'list',
      listed.find((one) => Object(one).id === factor.id),
      factor,
      advice,
    )
}

/** Expects that a store returned a factor as it was stored. */
function expectSame(method: 'find' | 'list', found: unknown, factor: StoredFactor, advice = STORE): void {
  if (!isPlainObject(found)) fail(`${method} returned no factor`, advice)
  const wrong = Object.entries(factor).filter(([member, value]) => !isDeepStrictEqual(found[member], value))
  const names = wrong.map(([member]) => member).join(', ')
  if (wrong.length > 0)
    fail(`${method} returned another ${names} than the stored one`, advice === STORE ? AS_THEY_ARE : advice)
}
