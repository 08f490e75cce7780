import { hash } from 'node:crypto'
import type { LimitName } from '../../shared/refusals.js'
import { accountKey } from './account-key.js'
import { clientNetwork } from './client-network.js'

/** Returns the key of a limit. */
export type KeyOf = (name: LimitName) => string

/**
 * Returns a function that makes the key of each limit. The keys have one length and hold no address in clear text, because a shared
 * store must not list e-mail addresses. A key is made when it is first needed, so a client address that has reached its own limit
 * costs no normalisation of the e-mail address.
 */
export function throttleKeys(email: string, address: string | undefined): KeyOf {
  const network = clientNetwork(address)
  const keys = new Map<LimitName, string>()
  let account: string | undefined

  function textOf(name: LimitName): string {
    if (name === 'address' || name === 'spraying') return network
    account ??= accountKey(email)
    return name === 'pair' ? `${network} ${account}` : account
  }

  return function keyOf(name) {
    const key = keys.get(name) ?? hash('sha256', textOf(name), 'base64url').slice(0, 22)
    keys.set(name, key)
    return key
  }
}
