// The token forger of all tests, attacks, benchmarks and load tests. Plain JavaScript, because programs without a TypeScript
// loader import this file too.
import { constants, createHmac, sign } from 'node:crypto'

/**
 * @typedef {Record<string, unknown>} Json
 * @typedef {string | Uint8Array | import('node:crypto').KeyObject} SigningKey
 */

/** The issuer and the secret of `makeIssuer()`. */
export const ISSUER = 'https://api.example.com'
export const SECRET = 'test-secret-test-secret-test-secret-test-secret-test-secret-test'

/** Encodes text, bytes, or any other value as JSON, in base64url. */
export function encode(value) {
  const bytes = typeof value === 'string' || ArrayBuffer.isView(value) ? value : JSON.stringify(value)
  return Buffer.from(bytes).toString('base64url')
}

/** Returns the bytes that base64url stands for. */
export const decode = (part) => Buffer.from(part, 'base64url')

/** Splits a token at its dots. A missing part is an empty text. */
export function partsOf(token) {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return { header, payload, signature }
}

/** @type {(token: string) => Json} */
export const headerOf = (token) => JSON.parse(decode(partsOf(token).header))
/** @type {(token: string) => Json} */
export const decodePayload = (token) => JSON.parse(decode(partsOf(token).payload))

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const SIGNING = { R: {}, P: PSS, E: { dsaEncoding: 'ieee-p1363' } }

/**
 * Signs a signing input with an algorithm. The key may belong to another algorithm.
 * @param {SigningKey} key a private key, or the text or bytes of an HMAC secret
 */
export function signatureOf(input, key = SECRET, alg = 'HS256') {
  const hash = alg === 'Ed25519' ? null : `sha${alg.slice(2, 5)}`
  const secret = typeof key === 'string' || ArrayBuffer.isView(key) || key.type === 'secret'
  if (secret) return createHmac(hash, key).update(input).digest()
  return sign(hash, Buffer.from(input), { key, ...(hash && SIGNING[alg[0]]) })
}

/** Signs a header and a payload that are already encoded. They need not be valid. */
export function signParts(header, payload, key, alg) {
  const input = `${header}.${payload}`
  return `${input}.${encode(signatureOf(input, key, alg))}`
}

/**
 * Creates a signed token with any header and payload. Text and bytes are used unchanged, other values as JSON.
 * @type {(header: unknown, payload: unknown, key?: SigningKey, alg?: string) => string}
 */
export const forge = (header, payload, key, alg) => signParts(encode(header), encode(payload), key, alg)

/**
 * Returns the header and the payload of a valid token of `makeIssuer()`.
 * @returns {{ header: Json, payload: Json }}
 */
export function goodParts(seconds = Math.floor(Date.now() / 1000)) {
  return {
    header: { alg: 'HS256', typ: 'at+jwt', kid: 'k1' },
    payload: {
      iss: ISSUER,
      aud: ISSUER,
      sub: 'acc-1',
      client_id: ISSUER,
      iat: seconds,
      exp: seconds + 3600,
      jti: 'jti-1',
    },
  }
}

/** Replaces the signature of a token with another one of the same length. */
export function withOtherSignature(token, seed = 0) {
  const { header, payload, signature } = partsOf(token)
  const { length } = decode(signature)
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) => signatureOf(`${seed} ${i}`))
  return `${header}.${payload}.${encode(Buffer.concat(blocks).subarray(0, length))}`
}
