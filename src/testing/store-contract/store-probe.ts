import { type Account, type AccountStore, readAccount } from '../../accounts/account.js'
import { withDeadline } from '../../shared/host/host-call.js'
import { misuse, PAGE } from '../../shared/misuse.js'
import { describe } from '../../shared/options/read.js'
import { isPlainObject } from '../../shared/values.js'

/** The time limit for a call of the store, in milliseconds. */
const TIMEOUT_MS = 5000

export type StoreProbe = ReturnType<typeof probe>

/**
 * Returns the methods of a store, each with a timeout and a check of its return type.
 * @throws TypeError when the value is not a store
 */
export function probe(store: AccountStore) {
  checkStore(store)
  return {
    has: (method: keyof AccountStore) => store[method] !== undefined,
    findByEmail: (email: string) => accountFrom(`findByEmail(${shown(email)})`, () => store.findByEmail(email)),
    findById: (id: string) => accountFrom(`findById(${shown(id)})`, () => store.findById?.(id)),
    replacePasswordHash: (id: string, from: string, to: string) =>
      booleanFrom('replacePasswordHash', () => store.replacePasswordHash?.(id, from, to)),
  }
}

function checkStore(store: unknown): void {
  if (!isPlainObject(store) || typeof store['findByEmail'] !== 'function') {
    throw misuse(
      `accountStoreContract: option "store" must be an account store, or a function that returns one, but is ${describe(store)}. Pass a look-up function as { findByEmail: lookUp }`,
      PAGE.tests,
    )
  }
  for (const name of ['findById', 'replacePasswordHash']) {
    if (store[name] === undefined || typeof store[name] === 'function') continue
    throw misuse(`accountStoreContract: the store's "${name}" must be a function or absent`, PAGE.tests)
  }
}

async function accountFrom(call: string, question: () => unknown): Promise<Account | undefined> {
  const answer = await answerOf(call, question)
  try {
    return readAccount(answer)?.account
  } catch (error) {
    throw new Error(`${call} returned an invalid account: ${(error as Error).message}`, { cause: error })
  }
}

/** Calls a method of a store, with a time limit. */
export async function answerOf(call: string, question: () => unknown): Promise<unknown> {
  try {
    return await withDeadline(TIMEOUT_MS, question())
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : describe(error)
    throw new Error(`${call} failed with ${message}`, { cause: error })
  }
}

/** Calls a method of a store that returns whether it has done something. */
export async function booleanFrom(call: string, question: () => unknown): Promise<boolean> {
  const done = await answerOf(call, question)
  if (typeof done === 'boolean') return done
  throw new Error(`${call} must return true or false, but the result is ${describe(done)}`)
}

/** Formats a text for a message. Cuts long text and escapes invisible characters. */
export function shown(text: string): string {
  const json = JSON.stringify(text).replace(
    /[\p{C}\p{DI}\p{M}]|[^\S ]/gu,
    (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`,
  )
  return json.length <= 60 ? json : `${json.slice(0, 57)}…"`
}
