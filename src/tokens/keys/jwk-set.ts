import { isPlainObject } from '../../shared/options.js'
import { own } from '../../shared/values.js'
import { ALGORITHMS, type Algorithm } from './algorithms.js'
import { kidOfJwk, MATERIALS } from './key-material.js'
import type { VerificationKey } from './key-ring.js'

/** Public keys by their `kid`. */
export type KeysByKid = ReadonlyMap<string, VerificationKey>

/** Algorithms of EC keys, which the curve determines. An RSA key without `alg` is skipped, because six algorithms would fit. */
const BY_CURVE = ['ES256', 'ES384', 'ES512'] satisfies Algorithm[]

/**
 * Reads a JWK set (RFC 7517 section 5). Skips every member that is not a public key for a supported algorithm, as section 5
 * recommends. Also skips weak keys, keys without a `kid`, and all but the first key of a `kid`.
 * @param held the previous keys. An unchanged key remains the same object, so that cached tokens of the key remain valid
 * @throws Error when the text is not a JWK set; the error shows nothing of the text
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
    throw new Error('the response is not JSON')
  }
  const keys = isPlainObject(set) ? own(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('the response is not a JWK set')
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
