import type { KeyObject } from 'node:crypto'
import { ALGORITHMS, type Algorithm } from '../algorithms/algorithms.js'
import type { VerificationKey } from '../keys/key-ring.js'
import type { CompactToken } from './compact-jws.js'

/** Signs a header and a payload as a JWS in compact form (RFC 7515 section 7.1). */
export function signCompact(
  header: { alg: Algorithm; [member: string]: unknown },
  payload: object,
  key: KeyObject,
): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const signed = `${head}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
  return `${signed}.${ALGORITHMS[header.alg].sign(signed, key).toString('base64url')}`
}

/** Returns whether a key made a token's signature, by the key's own algorithm (RFC 7515 section 5.2). */
export function isSignedBy({ signed, signature }: CompactToken, { alg, key }: VerificationKey): boolean {
  return ALGORITHMS[alg].verify(signed, signature, key)
}
