import { keyPair, type PairAlgorithmRow } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

/** A JWS has the two numbers R and S, each of the curve's length (RFC 7518 section 3.4). */
const P1363 = { dsaEncoding: 'ieee-p1363' }

/** @param bytes the length of R and of S */
function ecdsa(hash: string, namedCurve: string, bytes: number): PairAlgorithmRow {
  return {
    kind: 'pair',
    needs: `an EC key on curve ${namedCurve}`,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === namedCurve,
    isOnlyOneOfKey: true,
    generate: () => newKeyPair('ec', { namedCurve }),
    hasBits: false,
    normalize: (signature) => joinedOf(signature, bytes) ?? signature,
    ...keyPair(hash, P1363),
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
  ES256: ecdsa('sha256', 'prime256v1', 32),
  ES384: ecdsa('sha384', 'secp384r1', 48),
  ES512: ecdsa('sha512', 'secp521r1', 66),
}
