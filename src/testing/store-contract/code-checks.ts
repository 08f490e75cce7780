import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CodeStore, StoredCode } from '../../codes/codes.js'
import { isPlainObject } from '../../options/values.js'
import { fail } from './contract-check.js'
import type { ContractAccounts } from './contract-options.js'
import { otherIds, swapCase } from './odd-text.js'
import { booleanFrom, resultOf, shown } from './store-probe.js'

const HOUR = 3_600_000
/** The most codes of the account and purpose, where the limit does not matter. */
const MOST = 100

const FIND_KEEPS = 'Let find only read'
const ONE_TAKES = 'Return the code only to the call whose statement deleted it'
const EXACTLY = 'Compare digests, purposes and account ids exactly, letter by letter'
const COUNT =
  'Count the codes of this account and this purpose that expire later than "now", and store the next one in one step'

type CodeProbe = ReturnType<typeof probeCodes>

/** Returns the methods of two store objects on the same data, each with a timeout. */
export const probeCodes = (store: CodeStore, other = store) => ({
  add: (...args: Parameters<CodeStore['add']>) => booleanFrom('add', () => store.add(...args)),
  find: (digest: string) => resultOf('find', () => store.find(digest)),
  findElsewhere: (digest: string) => resultOf('find', () => other.find(digest)),
  take: (digest: string) => resultOf('take', () => store.take(digest)),
  takeElsewhere: (digest: string) => resultOf('take', () => other.take(digest)),
  removeAll: (...args: Parameters<CodeStore['removeAll']>) => resultOf('removeAll', () => store.removeAll(...args)),
})

type CodeCheck = (store: CodeProbe) => Promise<void>

/** Returns the checks by their names. */
export function codeChecks({ accountId, otherAccountId }: ContractAccounts): Record<string, CodeCheck> {
  const now = new Date()
  const newCode = (more: Partial<StoredCode> = {}): StoredCode => ({
    digest: randomBytes(32).toString('base64url'),
    purpose: 'verify',
    accountId,
    // A moment that a column of whole seconds cannot hold.
    expiresAt: new Date(Math.floor(now.getTime() / 1000) * 1000 + HOUR + 123),
    data: null,
    ...more,
  })

  /** Runs a check in a store without codes of the accounts. */
  const clean =
    (check: CodeCheck): CodeCheck =>
    async (store) => {
      const clear = async () => {
        for (const id of [accountId, otherAccountId]) await store.removeAll(id).catch(() => {})
      }
      await clear()
      await check(store).finally(clear)
    }

  async function add(store: CodeProbe, ...codes: StoredCode[]): Promise<void> {
    for (const code of codes)
      if (!(await store.add(code, MOST, now))) fail(`add returned false for one of ${codes.length} codes`, COUNT)
  }

  return {
    'take returns once what add has stored, to the millisecond': clean(async (store) => {
      const codes = [
        newCode(),
        newCode({ purpose: 'änder email', data: '{"email":"ann’s 💻 \\\\ \\"work\\"; --"}' }),
        newCode({ data: '[1, {"a": "\\u0000"}]' }),
        newCode({ data: JSON.stringify('é'.repeat(4094)) }),
      ]
      await add(store, ...codes)
      for (const code of codes) {
        expectSame(await store.takeElsewhere(code.digest), code)
        if (await store.take(code.digest)) fail('take returned a code for a second time', ONE_TAKES)
      }
    }),
    'find returns what add has stored, and take does after it': clean(async (store) => {
      const codes = [newCode(), newCode({ purpose: 'reset', data: '{"email":"ann’s 💻"}' })]
      await add(store, ...codes)
      for (const code of codes) {
        expectSame(await store.findElsewhere(code.digest), code, 'find')
        expectSame(await store.find(code.digest), code, 'find', FIND_KEEPS)
        expectSame(await store.take(code.digest), code, 'take', FIND_KEEPS)
      }
    }),
    'find returns null or undefined for a code that was taken or removed': clean(async (store) => {
      const [taken, removed] = [newCode(), newCode()]
      await add(store, taken, removed)
      for (const { digest } of [taken, removed]) await store.findElsewhere(digest)
      await store.take(taken.digest)
      await expectGone(store, taken.digest, 'find returned a code after take')
      await store.removeAll(accountId)
      await expectGone(store, removed.digest, 'find returned a code after removeAll of its account')
    }),
    'find and take return null or undefined for a digest that no code has': clean(async (store) => {
      const code = newCode()
      await add(store, code)
      const { digest } = code
      const odd = [newCode().digest, swapCase(digest), `${digest} `, ...otherIds(digest).map(([, id]) => id), "'", '%']
      for (const other of odd) {
        if (await store.find(other)) fail(`find(${shown(other)}) returned a code`, EXACTLY)
        if (await store.take(other)) fail(`take(${shown(other)}) returned a code`, EXACTLY)
      }
      expectSame(await store.take(digest), code)
    }),
    'take returns a code to one of several calls at the same time': clean(async (store) => {
      for (let round = 0; round < 10; round++) {
        const code = newCode()
        await add(store, code)
        const { digest } = code
        const taken = await Promise.all([store.take(digest), store.takeElsewhere(digest), store.take(digest)])
        const count = taken.filter(Boolean).length
        if (count !== 1)
          fail(`take returned a code to ${count} of three calls at the same time, instead of one`, ONE_TAKES)
      }
    }),
    'add refuses more codes than the account may have of a purpose, until one is taken or expires': clean(
      async (store) => {
        const [first, second] = [newCode(), newCode({ expiresAt: new Date(now.getTime() + HOUR / 2) })]
        await add(store, first, second, newCode({ purpose: 'reset' }), newCode({ accountId: otherAccountId }))
        await expectAdded(store, false, 'of a purpose that has as many codes as it may have')
        await store.takeElsewhere(first.digest)
        await expectAdded(store, true, 'after a code was taken')
        await expectAdded(store, false, 'of a purpose that has as many codes again')
        await expectAdded(store, true, 'when a code expires at this moment', second.expiresAt)
      },
    ),
    'add stores no more codes than the account may have when several are added at the same time': clean(
      async (store) => {
        const codes = Array.from({ length: 8 }, () => newCode())
        const stored = await Promise.all(codes.map((code) => store.add(code, 3, now)))
        const taken = await Promise.all(codes.map(async ({ digest }) => Boolean(await store.takeElsewhere(digest))))
        const count = taken.filter(Boolean).length
        if (count > 3) fail(`add stored ${count} codes of at most 3 that were added at the same time`, COUNT)
        if (!isDeepStrictEqual(stored, taken)) fail('add did not return whether it stored the code', COUNT)
      },
    ),
    'removeAll removes the codes of one purpose, or all codes of the account': clean(async (store) => {
      const [verify, reset, theirs] = [newCode(), newCode({ purpose: 'reset' }), newCode({ accountId: otherAccountId })]
      await add(store, verify, reset, theirs)
      for (const [, id] of otherIds(accountId)) if (id !== otherAccountId) await store.removeAll(id)
      await store.removeAll(accountId, swapCase(reset.purpose))
      await store.removeAll(accountId, reset.purpose)
      if (await store.takeElsewhere(reset.digest)) fail('take returned a code after removeAll of its purpose', EXACTLY)
      expectSame(await store.takeElsewhere(verify.digest), verify)
      const more = Array.from({ length: 12 }, (_, i) => newCode({ purpose: `purpose ${i % 3}` }))
      await add(store, ...more)
      await store.removeAll(accountId)
      for (const { digest } of more)
        if (await store.takeElsewhere(digest))
          fail('take returned a code after removeAll of its account', 'Remove all codes, not a page of them')
      expectSame(await store.takeElsewhere(theirs.digest), theirs)
    }),
  }

  /** Expects that no store object finds a code. */
  async function expectGone(store: CodeProbe, digest: string, wrong: string): Promise<void> {
    for (const found of [await store.find(digest), await store.findElsewhere(digest)])
      if (found) fail(wrong, 'Wait for the write, and cache no codes')
  }

  /** Expects what `add` returns for a code when the account may have two of the purpose. */
  async function expectAdded(store: CodeProbe, isExpected: boolean, when: string, at = now): Promise<void> {
    const isAdded = await store.add(newCode({ expiresAt: new Date(at.getTime() + HOUR) }), 2, at)
    if (isAdded !== isExpected) fail(`add returned ${isAdded} for a code ${when}`, COUNT)
  }
}

/** Expects that a store returned a code as it was added. */
function expectSame(
  found: unknown,
  code: StoredCode,
  method: 'find' | 'take' = 'take',
  advice = 'Store the code before add returns, and remove no other code',
): void {
  if (!isPlainObject(found)) fail(`${method} returned no code`, advice)
  const wrong = Object.entries(code).filter(([member, value]) => !isDeepStrictEqual(found[member], value))
  const names = wrong.map(([member]) => member).join(', ')
  if (wrong.length > 0)
    fail(
      `${method} returned another ${names} than the stored one`,
      'Store texts as they are, dates with milliseconds, and null as null',
    )
}
