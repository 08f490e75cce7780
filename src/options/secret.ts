import { hkdfSync } from 'node:crypto'

/** A secret as text (in UTF-8) or bytes, of at least 32 bytes. */
export type Secret = string | Uint8Array

/** A replaced secret that only decrypts second factors. It verifies nothing. */
export interface DecryptingSecret {
  /** The replaced secret. */
  secret: Secret
  /** Always `decrypt`. */
  only: 'decrypt'
}

/** The secrets of an app. */
export interface Secrets {
  /** Secrets that verify. The first one signs and encrypts. */
  readonly verifying: readonly Uint8Array[]
  /** All of them, which decrypt. The first one is that of `verifying`. */
  readonly decrypting: readonly Uint8Array[]
}

/** The purposes of the keys of a secret. */
type Purpose = 'access token' | 'refresh token 2' | 'old refresh token' | 'ticket' | 'factors' | 'challenge'

/** Returns the key of a secret for one purpose and one issuer (RFC 5869 section 3.2), so that no key works for another one. */
export const keyFor = (secret: Uint8Array, purpose: Purpose, issuer: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(['express-token-endpoint', purpose, issuer]), 32))
