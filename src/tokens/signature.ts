import jwa from 'jwa'
import { ALGORITHMS, type Algorithm } from './algorithms.js'
import type { CompactToken } from './compact.js'
import type { VerificationKey } from './keys.js'

type Verify = (input: string, signature: string, key: VerificationKey['key']) => boolean

/** What jsonwebtoken verifies with, made once for each algorithm. Its types know of no KeyObject, which is all that it is given. */
const VERIFIERS = new Map(
  Object.keys(ALGORITHMS).map((alg) => [alg, jwa(alg as Algorithm).verify as unknown as Verify] as const),
)

/** Whether a token's signature is the key's, by the key's own algorithm (RFC 7515 section 5.2). */
export function isSignedBy({ signed, signature }: CompactToken, { alg, key }: VerificationKey): boolean {
  try {
    return VERIFIERS.get(alg)?.(signed, signature, key) === true
  } catch {
    // An ECDSA signature of another length is an error to it.
    return false
  }
}
