import { describeError } from '../events/describe-error.js'
import { warnOnce } from '../events/warnings.js'
import type { AccountStore } from './account.js'

/**
 * Lets a store check its table while the app starts, and warns of what is wrong. Nothing waits for the check, because the database may be
 * down. `create`, `replaceEmail` and `remove` repeat it.
 */
export async function prepareAccounts(accounts: Pick<AccountStore, 'prepare'>): Promise<void> {
  try {
    await accounts.prepare?.()
  } catch (error) {
    // The warning names the page.
    warnOnce('unpreparedAccounts', describeError(error).replace(/\. See \S+$/, ''))
  }
}
