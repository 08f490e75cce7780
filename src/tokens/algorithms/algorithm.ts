import { type KeyObject, type SignKeyObjectInput, sign, verify } from 'node:crypto'
import { bare } from '../../options/values.js'
import type { KeyObjects } from './new-key-pair.js'

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

interface SignatureScheme {
  /** True when jsonwebtoken knows the algorithm, and signs with keys in memory. */
  readonly isInJsonwebtoken: boolean
  sign(signed: string, key: KeyObject): Buffer
  verify(signed: string, signature: Uint8Array, key: KeyObject): boolean
}

/** An algorithm whose secret signs and verifies. */
export interface SecretAlgorithmRow extends SignatureScheme {
  readonly kind: 'secret'
  readonly minBytes: number
}

/** An algorithm whose private key signs, and whose public key verifies. */
export interface PairAlgorithmRow extends SignatureScheme {
  readonly kind: 'pair'
  /** The key in words, for messages: `an EC key on curve prime256v1`. */
  readonly needs: string
  /** Returns whether a key has the type, the curve and the strength that the algorithm requires. */
  fits(key: KeyObject): boolean
  /** The members of a JWK that determine the key, in the order of its thumbprint (RFC 7638 section 3.2). */
  readonly jwkMembers: readonly ('crv' | 'e' | 'kty' | 'n' | 'x' | 'y')[]
  /** True when a key determines the algorithm. An RSA key fits six algorithms. */
  readonly isOnlyOneOfKey: boolean
  generate(bits: number): KeyObjects
  /** True when `generate` reads `bits`. */
  readonly hasBits: boolean
  /** Converts a signature of a key service to the form of a JWS. Absent when there is only one form. */
  normalize?: (signature: Buffer) => Buffer
}

/** The rows of a kind of key. The compiler refuses a row without a name in {@link Algorithm}. */
export type PairRows = { readonly [alg in KeyPairAlgorithm]?: PairAlgorithmRow }

/** The options that Node reads from a key, also when it is a KeyObject. */
const NO_OPTIONS = Object.fromEntries(
  ['padding', 'saltLength', 'dsaEncoding', 'context'].map((name) => [name, bare({ value: undefined })]),
)

/**
 * Changes a key of a key pair, so that `sign` and `verify` of `node:crypto` use it with their defaults. They would read options from a polluted
 * prototype. It does not pass an object with options, because Node 24 takes about 10 µs longer for it with RSA, and 20 µs with P-256.
 */
export function withoutOptions(key: KeyObject): KeyObject {
  return Object.defineProperties(key, NO_OPTIONS)
}

/**
 * Signs and verifies with `node:crypto`, with keys from {@link withoutOptions}.
 * @param digest null for an algorithm that hashes itself
 */
export function keyPair(digest: string | null): Pick<SignatureScheme, 'sign' | 'verify'> {
  return {
    sign: (signed, key) => sign(digest, Buffer.from(signed), key),
    verify: (signed, signature, key) => verify(digest, Buffer.from(signed), key, signature),
  }
}

/** Signs and verifies with `node:crypto` and with options, which inherit nothing. Each key gets its options once. */
export function keyPairWith(digest: string, options: object): Pick<SignatureScheme, 'sign' | 'verify'> {
  const inputs = new WeakMap<KeyObject, SignKeyObjectInput>()
  function input(key: KeyObject): SignKeyObjectInput {
    const known = inputs.get(key)
    if (known) return known
    const created = bare({ key, ...options })
    inputs.set(key, created)
    return created
  }
  return {
    sign: (signed, key) => sign(digest, Buffer.from(signed), input(key)),
    verify: (signed, signature, key) => verify(digest, Buffer.from(signed), input(key), signature),
  }
}
