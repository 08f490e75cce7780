import { isPlainObject, own, parseJson, resultOrUndefined } from '../../options/values.js'
import { isNameOf, KEY_PAIR_ALGORITHMS, type KeyPairAlgorithm, PAIRS } from '../algorithms/algorithms.js'
import { kidOfJwk, MATERIALS, thumbprint } from './key-material.js'
import type { VerificationKey } from './key-ring.js'

export type KeysByKid = ReadonlyMap<string, VerificationKey>

/**
 * Returns the algorithms that a key without an `alg` may have. A curve determines the algorithm. An RSA key fits six algorithms, so
 * it is skipped unless only one of them is allowed.
 */
function unnamed(allowed: readonly KeyPairAlgorithm[]): readonly KeyPairAlgorithm[] {
  const several = allowed.filter((alg) => !PAIRS[alg].isOnlyOneOfKey)
  return several.length === 1 ? allowed : allowed.filter((alg) => !several.includes(alg))
}

/**
 * Reads a JWK set (RFC 7517 section 5). Skips every member that is not a public key for a supported algorithm, as section 5
 * recommends. Also skips weak keys, and all but the first key of a `kid`. A key without a `kid` gets its thumbprint (RFC 7638). A key has
 * one algorithm, the first that the set names for it (RFC 8725 section 3.1).
 * @param allowed the algorithms that keys may have
 * @param held the previous keys. An unchanged key remains the same object, so that cached tokens of the key remain valid
 * @throws Error when the text is not a JWK set; the error shows nothing of the text
 */
export function readJwkSet(text: string, allowed = KEY_PAIR_ALGORITHMS, held: KeysByKid = new Map()): KeysByKid {
  const keys = new Map<string, VerificationKey>()
  const algorithms = new Map<string, VerificationKey['alg']>()
  for (const jwk of membersOf(text)) {
    const read = readJwk(jwk, allowed)
    if (!read || keys.has(read.kid)) continue
    const print = thumbprint(read)
    if ((algorithms.get(print) ?? read.alg) !== read.alg) continue
    algorithms.set(print, read.alg)
    const known = held.get(read.kid)
    const unchanged = known?.alg === read.alg && known.key.equals(read.key)
    keys.set(read.kid, unchanged ? known : read)
  }
  return keys
}

function membersOf(text: string): unknown[] {
  const set = parseJson(text)
  if (set === undefined) throw new Error('the response is not JSON')
  const keys = isPlainObject(set) ? own(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('the response is not a JWK set')
  return keys
}

function readJwk(jwk: unknown, allowed: readonly KeyPairAlgorithm[]): VerificationKey | undefined {
  if (!isPlainObject(jwk)) return undefined
  const kid = kidOfJwk(jwk)
  if (kid === undefined && own(jwk, 'kid') !== undefined) return undefined
  const named = own(jwk, 'alg')
  for (const alg of named === undefined ? unnamed(allowed) : allowed.filter((one) => isNameOf(named, one))) {
    const key = resultOrUndefined(() => MATERIALS.publicKey(alg)(jwk))
    if (key) return Object.freeze({ kid: kid ?? thumbprint({ alg, key }), alg, key })
  }
  return undefined
}
