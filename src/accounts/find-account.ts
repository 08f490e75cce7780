import { callHost } from '../concurrency/host-call.js'
import { withMethods } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import type { Check } from '../options/read-options.js'
import { methodHint } from '../options/suggest.js'
import { isPlainObject } from '../options/values.js'
import { type AccountStore, type FoundAccount, readAccount } from './account.js'
import { noteFirst } from './mistakes.js'

export type FindById = NonNullable<AccountStore['findById']>

const storeObject = withMethods<{ findById: FindById }>('a store with "findById"', ['findById'], (value) => {
  if (typeof value !== 'function' && !isPlainObject(value)) return ''
  const byEmail =
    'A look-up by email address cannot find the account of a token. Pass a store with "findById", or omit "accounts"'
  return methodHint(value, 'findById', ['findByEmail']) || byEmail
})
export const findByIdOption: Check<FindById> = (value) => {
  const store = storeObject(value)
  return (id) => store.findById(id)
}

/**
 * Finds an account by its id.
 * @param timeout the time limit, in milliseconds
 * @throws AuthError `unavailable` when the store fails
 */
export function findAccount(findById: FindById, accountId: string, timeout: number): Promise<FoundAccount | undefined> {
  async function lookUp(): Promise<FoundAccount | undefined> {
    const found = readAccount(await findById(accountId))
    if (found && found.account.id !== accountId)
      throw misuse(
        'accounts: findById returned a different account. Return the account with the id that was passed',
        PAGE.accounts,
      )
    if (found) noteFirst(found)
    return found
  }
  return callHost('accounts', lookUp, { timeout })
}

/** Returns the account, or why it may no longer use what it received at a time: a sign-in, a session or a token. */
export function currentAccount(
  found: FoundAccount | undefined,
  received: Date,
): FoundAccount | 'unknown_account' | 'account_disabled' | 'superseded' {
  if (!found) return 'unknown_account'
  const { disabled, tokensValidAfter } = found.account
  if (disabled) return 'account_disabled'
  // Not `<`: a time that is not a number must not pass.
  return tokensValidAfter && !(received >= tokensValidAfter) ? 'superseded' : found
}
