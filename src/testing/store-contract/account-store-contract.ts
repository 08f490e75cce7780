import type { Account, AccountStore, LookUpResult } from '../../accounts/account.js'
import { text } from '../../options/checks.js'
import { checkThat, InvalidOption, optional, readOptions } from '../../options/read-options.js'
import { isPlainObject } from '../../options/values.js'
import { testsOnly } from '../tests-only.js'
import { accountChecks } from './account-checks.js'
import { type ContractCheck, contractChecks, opened } from './contract-check.js'
import { newAccountChecks } from './new-account-checks.js'
import { probe } from './store-probe.js'

/** An account in the store. The other members are compared with the account that the store returns. */
export type ExistingAccount = {
  /** The e-mail address of the account. */
  email: string
} & Partial<Account>

/** The options of `accountStoreContract`. */
export interface AccountStoreContractOptions {
  /** Account store, or a function that returns one for every check. */
  store: AccountStore<LookUpResult> | (() => AccountStore<LookUpResult> | Promise<AccountStore<LookUpResult>>)
  /** Second store object for the same data, or a function that returns one, to detect caching. Default: none. */
  otherStore?: AccountStoreContractOptions['store'] | undefined
  /** An existing account, `{ email, … }`. The checks replace the account's password hash and then restore it. */
  existing: ExistingAccount
  /** Additional members for the accounts that the checks create. Default: none. */
  fields?: Readonly<Record<string, unknown>> | undefined
  /** ID that does not belong to any account. Default: the account's `id` with a different last letter or digit. */
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
  fields: optional(checkThat<Record<string, unknown>>('an object of members, like { name: "Ann" }', isPlainObject), {}),
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
  return contractChecks(
    'accountStoreContract',
    { ...accountChecks(read), ...newAccountChecks(read.fields) },
    async () => probe(await opened(read.store), await opened(read.otherStore)),
  )
}
