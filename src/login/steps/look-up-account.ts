import { type FoundAccount, readAccount } from '../../accounts/account.js'
import { noteLookUp } from '../../accounts/mistakes.js'
import { callHost } from '../../concurrency/host-call.js'
import { LONGEST_EMAIL } from '../../limits/account-key.js'
import type { LoginTask } from './login-task.js'

/** Looks the account up. Not ended when the client disconnects: the look-up keeps its slot while it runs. */
export function lookUpAccount({
  accounts,
  email,
  req,
  fields,
  tenant,
  timeout,
}: LoginTask): Promise<FoundAccount | undefined> {
  // No account has an address that is too long or has a zero character, and a database may fail on such an address.
  const isAddress = email.length <= LONGEST_EMAIL && !email.includes('\0')
  async function lookUp(): Promise<FoundAccount | undefined> {
    if (!isAddress) return undefined
    const found = readAccount(await accounts.findByEmail(email, { req, fields, tenant }))
    noteLookUp(accounts, found)
    return found
  }
  return callHost('accounts', lookUp, { timeout })
}
