import { storeObject } from '../../sessions/checked-store.js'
import type { SessionStore } from '../../sessions/session.js'
import { type ContractCheck, contractChecks, opened } from './contract-check.js'
import { contractOptions } from './contract-options.js'
import { refreshChecks } from './refresh-checks.js'
import { sessionChecks } from './session-checks.js'
import { probeSessions } from './session-store-probe.js'

/** The options of `sessionStoreContract`. */
export interface SessionStoreContractOptions {
  /** The store, or a function that returns a store. Every check calls the function. */
  store: SessionStore | (() => SessionStore | Promise<SessionStore>)
  /**
   * Another store object on the same data, like the one of another process, or a function that returns it. The checks read with both what
   * `store` has changed, and change sessions with both at the same time. A cache in the store then fails, a replica that lags, and a lock that
   * works in only one process. Default: none.
   */
  otherStore?: SessionStore | (() => SessionStore | Promise<SessionStore>) | undefined
  /** An account of the sessions that the checks add and remove. Needed where the store knows the accounts. Default: a random id. */
  accountId?: string | undefined
  /** Another account. Default: a random id. */
  otherAccountId?: string | undefined
}

const caller = 'sessionStoreContract'

/**
 * Returns the requirements for a session store as checks for any test runner:
 * `for (const { name, run } of sessionStoreContract({ store })) test(name, run)`. The checks remove the sessions that they add.
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function sessionStoreContract(options: SessionStoreContractOptions): ContractCheck[] {
  const { store, otherStore, ...accounts } = contractOptions(caller, options, storeObject, 'sessions')
  const checks = { ...sessionChecks(accounts), ...refreshChecks(accounts.accountId) }
  return contractChecks(caller, checks, async () =>
    probeSessions(caller, await opened(store), await opened(otherStore)),
  )
}
