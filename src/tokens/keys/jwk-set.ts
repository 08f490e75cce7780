import { isPlainObject } from '../../shared/options.js'
import { own } from '../../shared/values.js'
import { ALGORITHMS, type Algorithm } from './algorithms.js'
import { kidOfJwk, MATERIALS } from './key-material.js'
import type { VerificationKey } from './key-ring.js'

/** Public keys by their `kid`. */
export type KeysByKid = ReadonlyMap<string, VerificationKey>

/** Of an EC key the curve is the algorithm. An RSA key without `alg` could be meant for any of six, and is not guessed at. */
const BY_CURVE = ['ES256', 'ES384', 'ES512'] satisfies Algorithm[]

/**
 * Reads a JWK set (RFC 7517 section 5). What is no public key for an algorithm of ours is left out, as section 5 has it:
 * secrets, private keys, keys for encryption, unknown kinds, weak ones, those without a `kid`, and the later ones of a `kid`.
 * @param held the keys of before: one that has not changed stays the same object, so that what it verified stays verified
 * @throws Error when the text is no JWK set; it shows nothing of the text
 */
export function readJwkSet(text: string, held: KeysByKid = new Map()): KeysByKid {
  const keys = new Map<string, VerificationKey>()
  for (const jwk of membersOf(text)) {
    const read = readJwk(jwk)
    if (!read || keys.has(read.kid)) continue
    const known = held.get(read.kid)
    const unchanged = known?.alg === read.alg && known.key.equals(read.key)
    keys.set(read.kid, unchanged ? known : read)
  }
  return keys
}

function membersOf(text: string): unknown[] {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch {
    throw new Error('the answer is not JSON')
  }
  const keys = isPlainObject(set) ? own(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('the answer is not a JWK set')
  return keys
}

function readJwk(jwk: unknown): VerificationKey | undefined {
  const kid = kidOfJwk(jwk)
  if (!isPlainObject(jwk) || kid === undefined) return undefined
  const named = own(jwk, 'alg')
  for (const alg of named === undefined ? BY_CURVE : [named]) {
    const key = isKeyPairAlgorithm(alg) ? publicKeyOf(alg, jwk) : undefined
    if (key) return Object.freeze({ kid, alg: alg as Algorithm, key })
  }
  return undefined
}

function isKeyPairAlgorithm(alg: unknown): alg is Algorithm {
  return typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) && ALGORITHMS[alg as Algorithm].kind !== 'secret'
}

function publicKeyOf(alg: Algorithm, jwk: object): VerificationKey['key'] | undefined {
  try {
    return MATERIALS.publicKey(alg, ALGORITHMS[alg])(jwk)
  } catch {
    return undefined
  }
}
