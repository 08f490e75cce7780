import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { SecretAlgorithm, SecretAlgorithmRow } from './algorithm.js'

/** The secret must be as long as the digest: a shorter secret is weaker (RFC 7518 section 3.2). */
function hmac(digest: string, minBytes: number): SecretAlgorithmRow {
  // As text first, because Node takes longer to return a Buffer.
  const macOf = (signed: string, key: KeyObject) =>
    Buffer.from(createHmac(digest, key).update(signed).digest('binary'), 'binary')
  return {
    kind: 'secret',
    isInJsonwebtoken: true,
    minBytes,
    sign: macOf,
    verify(signed, signature, key) {
      const mac = macOf(signed, key)
      return mac.length === signature.length && timingSafeEqual(mac, signature)
    },
  }
}

/** HMAC with SHA-2 (RFC 7518 section 3.2). */
export const HMAC = {
  HS256: hmac('sha256', 32),
  HS384: hmac('sha384', 48),
  HS512: hmac('sha512', 64),
} satisfies Readonly<Record<SecretAlgorithm, SecretAlgorithmRow>>
