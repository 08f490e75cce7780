import { type CodeStore, codeStoreObject } from '../../codes/codes.js'
import { codeChecks, probeCodes } from './code-checks.js'
import { type ContractCheck, contractChecks, opened } from './contract-check.js'
import { contractOptions } from './contract-options.js'

/** The options of `codeStoreContract`. */
export interface CodeStoreContractOptions {
  /** The store, or a function that returns a store. Every check calls the function. */
  store: CodeStore | (() => CodeStore | Promise<CodeStore>)
  /**
   * Another store object on the same data, like the one of another process, or a function that returns it. It takes codes too. Default:
   * none.
   */
  otherStore?: CodeStore | (() => CodeStore | Promise<CodeStore>) | undefined
  /** An account of the codes that the checks add and remove. Needed where the store knows the accounts. Default: a random id. */
  accountId?: string | undefined
  /** Another account. Default: a random id. */
  otherAccountId?: string | undefined
}

const caller = 'codeStoreContract'

/**
 * Returns the requirements for a store of codes as checks for any test runner:
 * `for (const { name, run } of codeStoreContract({ store })) test(name, run)`. The checks remove the codes that they add.
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function codeStoreContract(options: CodeStoreContractOptions): ContractCheck[] {
  const { store, otherStore, ...accounts } = contractOptions(caller, options, codeStoreObject, 'codes')
  return contractChecks(caller, codeChecks(accounts), async () => {
    const first = await opened(store)
    return probeCodes(first, (await opened(otherStore)) ?? first)
  })
}
