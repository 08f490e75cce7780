import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { SecretAlgorithmRow } from './algorithm.js'

/**
 * HMAC with SHA-2 (RFC 7518 section 3.2).
 * @param minBytes the length of the hash: a shorter secret is weaker
 */
function hmac(hash: string, minBytes: number): SecretAlgorithmRow {
  const macOf = (signed: string, key: KeyObject) => createHmac(hash, key).update(signed).digest()
  return {
    kind: 'secret',
    minBytes,
    isJwa: true,
    sign: macOf,
    verify(signed, signature, key) {
      const mac = macOf(signed, key)
      return mac.length === signature.length && timingSafeEqual(mac, signature)
    },
  }
}

export const HMAC = { HS256: hmac('sha256', 32), HS384: hmac('sha384', 48), HS512: hmac('sha512', 64) }
