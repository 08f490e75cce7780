import {
  constants,
  createHmac,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import type { Algorithm } from '../keys/algorithms.js'
import type { VerificationKey } from '../keys/key-ring.js'
import type { CompactToken } from './compact-jws.js'

/** Creates and checks signatures of one algorithm. */
interface SignatureScheme {
  sign(signed: string, key: KeyObject): Buffer
  verify(signed: string, signature: Buffer, key: KeyObject): boolean
}

/** HMAC with SHA-2 (RFC 7518 section 3.2). */
function hmac(hash: string): SignatureScheme {
  const macOf = (signed: string, key: KeyObject) => createHmac(hash, key).update(signed).digest()
  return {
    sign: macOf,
    verify(signed, signature, key) {
      const mac = macOf(signed, key)
      return mac.length === signature.length && timingSafeEqual(mac, signature)
    },
  }
}

/**
 * RSA and ECDSA signatures (RFC 7518 sections 3.3 to 3.5). `options` are those of `node:crypto`, which would also read options from a
 * polluted prototype.
 */
function keyPair(hash: string, options: object): SignatureScheme {
  return {
    sign(signed, key) {
      const input = { __proto__: null, key, ...options } as SignKeyObjectInput
      return sign(hash, Buffer.from(signed), input)
    },
    verify(signed, signature, key) {
      const input = { __proto__: null, key, ...options } as SignKeyObjectInput
      return verify(hash, Buffer.from(signed), input, signature)
    },
  }
}

const PKCS1 = { padding: constants.RSA_PKCS1_PADDING }
/** The salt is as long as the hash (RFC 7518 section 3.5). */
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
/** A signature is the two numbers R and S, each of the curve's length (RFC 7518 section 3.4). */
const P1363 = { dsaEncoding: 'ieee-p1363' }

const SCHEMES: Readonly<Record<Algorithm, SignatureScheme>> = {
  HS256: hmac('sha256'),
  HS384: hmac('sha384'),
  HS512: hmac('sha512'),
  RS256: keyPair('sha256', PKCS1),
  RS384: keyPair('sha384', PKCS1),
  RS512: keyPair('sha512', PKCS1),
  PS256: keyPair('sha256', PSS),
  PS384: keyPair('sha384', PSS),
  PS512: keyPair('sha512', PSS),
  ES256: keyPair('sha256', P1363),
  ES384: keyPair('sha384', P1363),
  ES512: keyPair('sha512', P1363),
}

/** Signs a header and a payload as a JWS in compact form (RFC 7515 section 7.1). */
export function signCompact(
  header: { alg: Algorithm; [member: string]: unknown },
  payload: object,
  key: KeyObject,
): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const signed = `${head}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
  return `${signed}.${SCHEMES[header.alg].sign(signed, key).toString('base64url')}`
}

/** Returns whether a key made a token's signature, by the key's own algorithm (RFC 7515 section 5.2). */
export function isSignedBy({ signed, signature }: CompactToken, { alg, key }: VerificationKey): boolean {
  return SCHEMES[alg].verify(signed, signature, key)
}
