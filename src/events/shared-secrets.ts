import { hash } from 'node:crypto'
import { isDevelopment, warnOnce } from './warnings.js'

/** A use of a secret, for which nothing else may have it. */
export type SecretUse = 'keys' | 'secret' | 'oldTokens'

/** The secrets of a process are few. More come only from tests that create apps without end. */
const MOST = 100

/** The use of each secret, by its digest. */
const uses = new Map<string, SecretUse>()

/** Notes a secret. In development, warns when it has another use too. In production, keeps nothing. */
export function noteSecret(use: SecretUse, secret: Uint8Array): void {
  if (!isDevelopment()) return
  const digest = hash('sha256', secret, 'base64url')
  const known = uses.get(digest)
  if (known !== undefined && known !== use) warnOnce('sharedSecret')
  else if (uses.size < MOST) uses.set(digest, use)
}
