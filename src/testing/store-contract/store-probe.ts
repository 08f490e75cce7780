import {
  type Account,
  type AccountStore,
  type LookUpResult,
  type NewAccount,
  readAccount,
} from '../../accounts/account.js'
import { withDeadline } from '../../concurrency/host-call.js'
import { misuse, PAGE } from '../../options/misuse.js'
import { describe } from '../../options/read-options.js'
import { isPlainObject } from '../../options/values.js'
import { fail } from './contract-check.js'

/** The time limit for a call of the store, in milliseconds. */
const TIMEOUT_MS = 5000

const NO_REQUEST = { tenant: undefined, req: { headers: {} } }

/** The methods that a store may omit. */
const OPTIONAL = ['findById', 'replacePasswordHash', 'create', 'replaceEmail', 'remove', 'normalizeEmail']

export type StoreProbe = ReturnType<typeof probe>

/**
 * Returns the methods of a store, each with a timeout and a check of its return type. `readers` are all objects that read the accounts.
 * @param otherStore another object on the same data
 * @throws TypeError when a value is not a store
 */
export function probe(store: AccountStore<LookUpResult>, otherStore?: AccountStore<LookUpResult>) {
  checkStore('store', store)
  if (otherStore !== undefined) checkStore('otherStore', otherStore)
  const first = reader('', store)
  return {
    has: (method: keyof AccountStore) => store[method] !== undefined,
    readers: otherStore ? [first, reader(' of "otherStore"', otherStore)] : [first],
    findByEmail: first.findByEmail,
    findById: (id: string) => first.findById?.(id) ?? Promise.resolve(undefined),
    replacePasswordHash: (id: string, from: string | null, to: string) =>
      booleanFrom('replacePasswordHash', () => store.replacePasswordHash?.(id, from, to)),
    create: (account: NewAccount) => accountFrom('create', () => store.create?.(account, NO_REQUEST)),
    replaceEmail: (id: string, from: string, to: string) =>
      booleanFrom('replaceEmail', () => store.replaceEmail?.(id, from, to)),
    remove: async (id: string) => void (await resultOf('remove', () => store.remove?.(id))),
    normalizeEmail: (email: string): unknown => (store.normalizeEmail ? store.normalizeEmail(email) : email),
  }
}

/** Returns the methods that read accounts. The name is for messages. */
function reader(name: string, store: AccountStore<LookUpResult>) {
  return {
    name,
    findByEmail: (email: string) => accountFrom(`findByEmail(${shown(email)})`, () => store.findByEmail(email)),
    findById: store.findById && ((id: string) => accountFrom(`findById(${shown(id)})`, () => store.findById?.(id))),
  }
}

function checkStore(option: string, store: unknown): void {
  if (!isPlainObject(store) || typeof store['findByEmail'] !== 'function') {
    throw misuse(
      `accountStoreContract: option "${option}" must be an account store, or a function that returns one, but is ${describe(store)}. Pass a look-up function as { findByEmail: lookUp }`,
      PAGE.tests,
    )
  }
  for (const name of OPTIONAL) {
    if (store[name] === undefined || typeof store[name] === 'function') continue
    throw misuse(`accountStoreContract: "${name}" of "${option}" must be a function or absent`, PAGE.tests)
  }
}

async function accountFrom(call: string, run: () => unknown): Promise<Account | undefined> {
  const found = await resultOf(call, run)
  try {
    return readAccount(found)?.account
  } catch (error) {
    throw new Error(`${call} returned an invalid account: ${(error as Error).message}`, { cause: error })
  }
}

/** Calls a method of a store, with a time limit. */
export async function resultOf(call: string, run: () => unknown): Promise<unknown> {
  try {
    return await withDeadline(TIMEOUT_MS, run())
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : describe(error)
    throw new Error(`${call} failed with ${message}`, { cause: error })
  }
}

/** Calls a method of a store that returns whether it has done something. */
export async function booleanFrom(call: string, run: () => unknown): Promise<boolean> {
  const done = await resultOf(call, run)
  if (typeof done === 'boolean') return done
  return fail(
    `${call} must return true or false, but the result is ${describe(done)}`,
    'Return whether it changed a row',
  )
}

/** Formats a text for a message. Cuts long text and escapes invisible characters. */
export function shown(text: string): string {
  const json = JSON.stringify(text).replace(
    /[\p{C}\p{DI}\p{M}]|[^\S ]/gu,
    (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`,
  )
  return json.length <= 60 ? json : `${json.slice(0, 57)}…"`
}
