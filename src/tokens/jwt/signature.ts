import type { KeyObject } from 'node:crypto'
import jwa from 'jwa'
import { ALGORITHMS, type Algorithm } from '../keys/algorithms.js'
import type { VerificationKey } from '../keys/key-ring.js'
import type { CompactToken } from './compact-jws.js'

/** The part of `jwa` that is used here. Its published types do not know `KeyObject`. */
interface Jwa {
  sign(input: string, key: KeyObject): string
  verify(input: string, signature: string, key: KeyObject): boolean
}

const JWA = new Map(Object.keys(ALGORITHMS).map((alg) => [alg, jwa(alg as Algorithm) as unknown as Jwa] as const))

/** Signs a header and a payload as a JWS in compact form (RFC 7515 section 7.1). */
export function signCompact(
  header: { alg: Algorithm; typ: string; kid: string },
  payload: object,
  key: KeyObject,
): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${JWA.get(header.alg)?.sign(input, key)}`
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Returns whether a key made a token's signature, by the key's own algorithm (RFC 7515 section 5.2). */
export function isSignedBy({ signed, signature }: CompactToken, { alg, key }: VerificationKey): boolean {
  try {
    return JWA.get(alg)?.verify(signed, signature, key) === true
  } catch {
    // jwa throws for an ECDSA signature of another length.
    return false
  }
}
