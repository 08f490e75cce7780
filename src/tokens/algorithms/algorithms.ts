import type { PairAlgorithmRow, SecretAlgorithmRow } from './algorithm.js'
import { ECDSA } from './ecdsa.js'
import { EDDSA } from './ed25519.js'
import { HMAC } from './hmac.js'
import { RSA } from './rsa.js'

/** HMAC with SHA-2 (RFC 7518 section 3.2): the same secret signs and verifies. */
export type SecretAlgorithm = 'HS256' | 'HS384' | 'HS512'
/**
 * RSASSA-PKCS1-v1_5, RSASSA-PSS and ECDSA (RFC 7518 sections 3.3 to 3.5), and Ed25519 (RFC 9864): a private key signs, its public key
 * verifies.
 */
export type KeyPairAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'Ed25519'
/** The supported algorithms. The key determines the algorithm of its tokens, not the token's header (RFC 8725 section 3.1). */
export type Algorithm = SecretAlgorithm | KeyPairAlgorithm

export const PAIRS: Readonly<Record<KeyPairAlgorithm, PairAlgorithmRow>> = { ...RSA, ...ECDSA, ...EDDSA }

/** The algorithms. Key reading, signatures, `keygen`, JWK sets and messages come from this table. */
export const ALGORITHMS: Readonly<Record<Algorithm, PairAlgorithmRow | SecretAlgorithmRow>> = { ...HMAC, ...PAIRS }

/** Returns the hint for a name that is none of the algorithms. RFC 9864 replaces EdDSA, which names no curve. */
export const algorithmHint = (name: unknown): string => (name === 'EdDSA' ? 'Did you mean "Ed25519" (RFC 9864)?' : '')

export const KEY_PAIR_ALGORITHMS = Object.keys(PAIRS) as readonly KeyPairAlgorithm[]

/** Returns whether a value names an algorithm of key pairs. */
export const isKeyPairAlgorithm = (alg: unknown): alg is KeyPairAlgorithm =>
  KEY_PAIR_ALGORITHMS.some((one) => one === alg)
