import { keyPair, type PairAlgorithmRow, type PairRows } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

interface Curve {
  /** The name of the curve in OpenSSL. */
  readonly namedCurve: string
  /** The length of a coordinate, and of each number of a signature (RFC 7518 sections 3.4 and 6.2.1). */
  readonly bytes: number
}

/** Curves by their names in a JWK. A secret that is a point of one of them is refused, also without an algorithm for the curve. */
export const CURVES = {
  'P-256': { namedCurve: 'prime256v1', bytes: 32 },
  'P-384': { namedCurve: 'secp384r1', bytes: 48 },
  'P-521': { namedCurve: 'secp521r1', bytes: 66 },
  secp256k1: { namedCurve: 'secp256k1', bytes: 32 },
} as const satisfies Readonly<Record<string, Curve>>

/** A JWS has the two numbers R and S, each of the curve's length (RFC 7518 section 3.4). */
const P1363 = { dsaEncoding: 'ieee-p1363' }

interface EcdsaFacts extends Pick<PairAlgorithmRow, 'jsonwebtoken'> {
  readonly curve: Curve
  readonly digest: string
}

function ecdsa({ curve: { namedCurve, bytes }, digest, jsonwebtoken }: EcdsaFacts): PairAlgorithmRow {
  return {
    kind: 'pair',
    jsonwebtoken,
    needs: `an EC key on curve ${namedCurve}`,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === namedCurve,
    jwkMembers: ['crv', 'kty', 'x', 'y'],
    isOnlyOneOfKey: true,
    generate: () => newKeyPair('ec', { namedCurve }),
    hasBits: false,
    normalize: (signature) => joinedOf(signature, bytes) ?? signature,
    ...keyPair(digest, P1363),
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

/** ECDSA (RFC 7518 section 3.4). */
export const ECDSA = {
  ES256: ecdsa({ curve: CURVES['P-256'], digest: 'sha256', jsonwebtoken: 'ES256' }),
  ES384: ecdsa({ curve: CURVES['P-384'], digest: 'sha384', jsonwebtoken: 'ES384' }),
  ES512: ecdsa({ curve: CURVES['P-521'], digest: 'sha512', jsonwebtoken: 'ES512' }),
} satisfies PairRows
