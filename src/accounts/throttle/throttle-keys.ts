import { hash } from 'node:crypto'
import { accountKey } from './account-key.js'
import { clientNetwork } from './client-network.js'

/** What each failed-login limit counts by. */
export interface ThrottleKeys {
  readonly address: string
  readonly pair: string
  readonly account: string
}

/**
 * Returns keys of one length that hold no address in clear text, because a shared store must not list e-mail addresses.
 * The keys that need the normalised e-mail address are made when they are first read, so a client address that has reached its
 * own limit costs no normalisation.
 */
export function throttleKeys(email: string, address: string | undefined): ThrottleKeys {
  const network = clientNetwork(address)
  const account = once(() => accountKey(email))
  const accountDigest = once(() => digest(account()))
  const pairDigest = once(() => digest(`${network} ${account()}`))
  return {
    address: digest(network),
    get account() {
      return accountDigest()
    },
    get pair() {
      return pairDigest()
    },
  }
}

const digest = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)

function once(make: () => string): () => string {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}
