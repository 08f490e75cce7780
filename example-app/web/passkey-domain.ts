import { isIP } from 'node:net'
import type { PasskeysOptions } from 'express-token-endpoint/passkeys'
import { isLoopback } from '../config.js'

/**
 * Returns the domain of the passkeys of an environment. On this machine it is `localhost`, because passkeys need a name and not an IP address.
 * @returns undefined for an address that browsers refuse
 */
export function passkeyDomain(issuer: string): Required<Pick<PasskeysOptions, 'rpId' | 'origins'>> | undefined {
  const url = new URL(issuer)
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  const isName = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0
  const isSecure = url.protocol === 'https:' || url.hostname === 'localhost'
  return isName && isSecure ? { rpId: url.hostname, origins: [url.origin] } : undefined
}
