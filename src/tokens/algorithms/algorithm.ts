import { type KeyObject, type SignKeyObjectInput, sign, verify } from 'node:crypto'
import type { KeyObjects } from './new-key-pair.js'

interface SignatureScheme {
  /** True for an algorithm of RFC 7518: jsonwebtoken knows no other. */
  readonly isJwa: boolean
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
  /** True when a key determines the algorithm. An RSA key fits six algorithms. */
  readonly isOnlyOneOfKey: boolean
  generate(bits: number): KeyObjects
  /** True when `generate` reads `bits`. */
  readonly hasBits: boolean
  /** Converts a signature of a key service to the form of a JWS. Absent when there is only one form. */
  normalize?: (signature: Buffer) => Buffer
}

/**
 * Signs and verifies with `node:crypto`.
 * @param hash null for an algorithm that hashes itself
 * @param options the options of `node:crypto`, which would also read a polluted prototype
 */
export function keyPair(hash: string | null, options: object): SignatureScheme {
  const input = (key: KeyObject) => ({ __proto__: null, key, ...options }) as SignKeyObjectInput
  return {
    isJwa: hash !== null,
    sign: (signed, key) => sign(hash, Buffer.from(signed), input(key)),
    verify: (signed, signature, key) => verify(hash, Buffer.from(signed), input(key), signature),
  }
}
