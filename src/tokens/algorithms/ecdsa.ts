import { keyPair, type PairAlgorithmRow, type PairRows } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

interface Curve {
  /** The name of the curve in OpenSSL. */
  readonly namedCurve: string
  /** The length of a coordinate, and of each number of a signature (RFC 7518 sections 3.4 and 6.2.1). */
  readonly bytes: number
}

/** Curves by their names in a JWK. A secret that is on one of them is refused, also without an algorithm for the curve. */
export const CURVES = {
  'P-256': { namedCurve: 'prime256v1', bytes: 32 },
  'P-384': { namedCurve: 'secp384r1', bytes: 48 },
  'P-521': { namedCurve: 'secp521r1', bytes: 66 },
  secp256k1: { namedCurve: 'secp256k1', bytes: 32 },
} as const satisfies Readonly<Record<string, Curve>>

function ecdsa({ namedCurve, bytes }: Curve, digest: string, isInJsonwebtoken = true): PairAlgorithmRow {
  const inDer = keyPair(digest)
  const normalize = (signature: Buffer) => joinedOf(signature, bytes) ?? signature
  return {
    kind: 'pair',
    isInJsonwebtoken,
    needs: `an EC key on curve ${namedCurve}`,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === namedCurve,
    jwkMembers: ['crv', 'kty', 'x', 'y'],
    isOnlyOneOfKey: true,
    generate: () => newKeyPair('ec', { namedCurve }),
    hasBits: false,
    normalize,
    sign: (signed, key) => normalize(inDer.sign(signed, key)),
    verify: (signed, signature, key) =>
      signature.length === 2 * bytes && inDer.verify(signed, derOf(signature, bytes), key),
  }
}

const SEQUENCE = 0x30
const INTEGER = 0x02

/** Reads the two numbers of a DER signature (RFC 3279 section 2.2.3). Returns undefined for anything else. */
function joinedOf(der: Buffer, bytes: number): Buffer | undefined {
  // A length of 128 or more has its number in the next byte.
  const start = der[1] === 0x81 ? 3 : 2
  if (der[0] !== SEQUENCE || der[start - 1] !== der.length - start) return undefined
  const joined = Buffer.alloc(2 * bytes)
  let at = start
  for (const end of [bytes, 2 * bytes]) {
    const [tag, length = 0] = der.subarray(at, at + 2)
    const digits = der.subarray(at + 2, at + 2 + length)
    at += 2 + length
    // A number whose first bit is set has a zero byte before it.
    const number = digits[0] === 0 ? digits.subarray(1) : digits
    if (tag !== INTEGER || digits.length !== length || length === 0 || number.length > bytes) return undefined
    number.copy(joined, end - number.length)
  }
  return at === der.length ? joined : undefined
}

/**
 * Writes the two numbers of a JWS, each of the curve's length (RFC 7518 section 3.4), in DER. Node's own conversion costs more, because it
 * needs an option. OpenSSL refuses numbers out of range.
 */
function derOf(joined: Uint8Array, bytes: number): Uint8Array {
  // For each number, a tag, a length and a zero byte; before them, a tag and at most two bytes of length.
  // From Node's pool, because separate memory for an array of this size takes a microsecond.
  const der = Buffer.allocUnsafe(3 + 2 * (3 + bytes))
  let at = 3
  for (let end = bytes; end <= 2 * bytes; end += bytes) {
    let start = end - bytes
    while (joined[start] === 0 && start < end - 1) start++
    const isSet = (joined[start] ?? 0) >= 0x80
    der[at++] = INTEGER
    der[at++] = end - start + Number(isSet)
    if (isSet) der[at++] = 0
    while (start < end) der[at++] = joined[start++] as number
  }
  const length = at - 3
  const isLong = length >= 0x80
  const begin = isLong ? 0 : 1
  der[begin] = SEQUENCE
  if (isLong) der[1] = 0x81
  der[2] = length
  return der.subarray(begin, at)
}

/** ECDSA (RFC 7518 section 3.4). */
export const ECDSA = {
  ES256: ecdsa(CURVES['P-256'], 'sha256'),
  ES384: ecdsa(CURVES['P-384'], 'sha384'),
  ES512: ecdsa(CURVES['P-521'], 'sha512'),
} satisfies PairRows
