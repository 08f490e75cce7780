import type { Account, AccountStore, LookUpResult } from '../../accounts/account.js'
import { text } from '../../options/checks.js'
import { InvalidOption, optional, readOptions } from '../../options/read-options.js'
import { isPlainObject } from '../../options/values.js'
import { testsOnly } from '../tests-only.js'
import { accountChecks } from './account-checks.js'
import { type ContractCheck, contractChecks, opened } from './contract-check.js'
import { probe } from './store-probe.js'

/** An account in the store. The other members are compared with the account that the store returns. */
export type ExistingAccount = {
  /** The e-mail address of the account. */
  email: string
} & Partial<Account>

/** The options of `accountStoreContract`. */
export interface AccountStoreContractOptions {
  /** The store, or a function that returns a store. Every check calls the function. */
  store: AccountStore<LookUpResult> | (() => AccountStore<LookUpResult> | Promise<AccountStore<LookUpResult>>)
  /**
   * Another store object on the same data, like the one of another process, or a function that returns it. The checks read with both what
   * `store` has changed. A cache in the store then fails, and a replica that lags. Default: none.
   */
  otherStore?: AccountStoreContractOptions['store'] | undefined
  /** An account in the store. It needs a password if the store has `replacePasswordHash`: checks change its hash and restore it. */
  existing: ExistingAccount
  /** An id that no account has. Default: the existing account's id with another last letter or digit. */
  unknownId?: string | undefined
}

function storeOption(value: unknown): AccountStoreContractOptions['store'] {
  if (isPlainObject(value) || typeof value === 'function') return value as AccountStoreContractOptions['store']
  throw new InvalidOption('an account store, or a function that returns one')
}

const schema = {
  store: storeOption,
  otherStore: optional(storeOption),
  existing: (value: unknown) => {
    if (isPlainObject(value) && typeof value['email'] === 'string') return value as ExistingAccount
    throw new InvalidOption('an account that is in the store, { email, … }')
  },
  unknownId: optional(text('an id that no account has')),
}

/**
 * Returns the requirements for an account store as checks for any test runner:
 * `for (const { name, run } of accountStoreContract({ store, existing })) test(name, run)`
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function accountStoreContract(options: AccountStoreContractOptions): ContractCheck[] {
  testsOnly('accountStoreContract')
  const read = readOptions<AccountStoreContractOptions, typeof schema>('accountStoreContract', options, schema, {
    accounts: 'store',
    account: 'existing',
  })
  return contractChecks('accountStoreContract', accountChecks(read), async () =>
    probe(await opened(read.store), await opened(read.otherStore)),
  )
}
