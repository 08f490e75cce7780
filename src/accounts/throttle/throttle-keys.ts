import { hash } from 'node:crypto'
import { accountKey } from './account-key.js'
import { clientNetwork } from './client-network.js'

/** The failed-login limits: by client network, by account and network, by account. */
export type BudgetName = 'address' | 'pair' | 'account'

/**
 * Returns a function that makes the key of each limit. The keys have one length and hold no address in clear text, because a shared
 * store must not list e-mail addresses. The e-mail address is normalised when a key first needs it, so a client address that has
 * reached its own limit costs no normalisation.
 */
export function throttleKeys(email: string, address: string | undefined): (name: BudgetName) => string {
  const network = clientNetwork(address)
  let account: string | undefined
  return function keyOf(name) {
    if (name === 'address') return digest(network)
    account ??= accountKey(email)
    return digest(name === 'pair' ? `${network} ${account}` : account)
  }
}

const digest = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)
