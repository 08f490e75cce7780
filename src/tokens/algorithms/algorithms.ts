import type { Algorithm, KeyPairAlgorithm, PairAlgorithmRow, SecretAlgorithmRow } from './algorithm.js'
import { ECDSA } from './ecdsa.js'
import { EDDSA } from './ed25519.js'
import { HMAC } from './hmac.js'
import { RSA } from './rsa.js'

export type { Algorithm, KeyPairAlgorithm, SecretAlgorithm } from './algorithm.js'

export const PAIRS: Readonly<Record<KeyPairAlgorithm, PairAlgorithmRow>> = { ...RSA, ...ECDSA, ...EDDSA }

/** The algorithms. Key reading, signatures, `keygen`, JWK sets and messages come from this table. */
export const ALGORITHMS: Readonly<Record<Algorithm, PairAlgorithmRow | SecretAlgorithmRow>> = { ...HMAC, ...PAIRS }

/** Returns the hint for a name that is none of the algorithms. RFC 9864 replaces EdDSA, which names no curve. */
export const algorithmHint = (name: unknown): string => (name === 'EdDSA' ? 'Did you mean "Ed25519" (RFC 9864)?' : '')

/**
 * Returns whether a header or a JWK names an algorithm. The older name `EdDSA` (RFC 8037 section 3.1) does not determine a curve, but the key
 * does, and Ed25519 is the only one here (RFC 9864 section 2.2).
 */
export const isNameOf = (name: unknown, alg: Algorithm): boolean =>
  name === alg || (name === 'EdDSA' && alg === 'Ed25519')

export const KEY_PAIR_ALGORITHMS = Object.keys(PAIRS) as readonly KeyPairAlgorithm[]

/** Returns whether a value names an algorithm of key pairs. */
export const isKeyPairAlgorithm = (alg: unknown): alg is KeyPairAlgorithm =>
  KEY_PAIR_ALGORITHMS.some((one) => one === alg)
