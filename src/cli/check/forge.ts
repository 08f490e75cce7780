import { constants, createHmac, type KeyObject, sign } from 'node:crypto'
import { parseJson } from '../../tokens/jwt/compact-jws.js'
import { ALGORITHMS, type Algorithm } from '../../tokens/keys/algorithms.js'
import { generatePair } from '../keygen/new-key.js'
import type { ReadToken } from './probe/read-token.js'

type Members = Readonly<Record<string, unknown>>

const encode = (members: Members) => Buffer.from(JSON.stringify(members)).toString('base64url')

const headerOf = ({ text }: ReadToken) =>
  parseJson(Buffer.from(text.slice(0, text.indexOf('.')), 'base64url').toString()) as Members

/** Returns the token with another payload, and with other bits in its signature. */
export function tampered({ claims, signed, signature, text }: ReadToken): Record<string, string> {
  const longer = encode({ ...claims, exp: Number(claims['exp']) + 1 })
  const bits = Buffer.from(signature, 'base64url')
  bits.writeUInt8(bits.readUInt8(0) ^ 1, 0)
  return {
    'another exp': `${text.slice(0, text.indexOf('.'))}.${longer}.${signature}`,
    'another signature': `${signed}.${bits.toString('base64url')}`,
  }
}

/** Returns the token without a signature, with `none` in different letter cases (RFC 8725 section 3.2). */
export function unsigned(token: ReadToken): string[] {
  const payload = encode(token.claims)
  return ['none', 'None', 'nOnE'].flatMap((alg) => {
    const head = encode({ ...headerOf(token), alg })
    return [`${head}.${payload}.`, `${head}.${payload}.${token.signature}`]
  })
}

/** Returns the token's claims signed by a new key, with and without the key in the header. */
export function signedByOurselves(token: ReadToken): string[] {
  const alg = isPairAlgorithm(token.alg) ? token.alg : 'ES256'
  const { privateKey, publicKey } = generatePair(alg, 2048)
  const jwk = publicKey.export({ format: 'jwk' })
  return [{ jwk }, { jwk, kid: undefined }, {}].map((more) => {
    const input = `${encode({ ...headerOf(token), alg, ...more })}.${encode(token.claims)}`
    return `${input}.${signatureOf(input, alg, privateKey)}`
  })
}

/** Returns the token's claims signed with the public key as a secret (RFC 8725 section 2.1), in each format of the key. */
export function signedByPublicKey(token: ReadToken, key: KeyObject): string[] {
  const pem = key.export({ type: 'spki', format: 'pem' }).toString()
  const input = `${encode({ ...headerOf(token), alg: 'HS256' })}.${encode(token.claims)}`
  return [
    pem,
    pem.trimEnd(),
    key.export({ type: 'spki', format: 'der' }),
    JSON.stringify(key.export({ format: 'jwk' })),
  ].map((secret) => `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`)
}

/**
 * Returns other spellings of the same signature (RFC 4648 section 3.5). They have padding, letters of plain base64, or unused bits
 * of the last letter set. A denylist of token texts would not match these spellings.
 */
export function otherSpellings({ signed, signature }: ReadToken): string[] {
  const plain = signature.replaceAll('-', '+').replaceAll('_', '/')
  const same = Buffer.from(signature, 'base64url')
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = [...ALPHABET].map((letter) => signature.slice(0, -1) + letter)
  const spellings = [
    `${signature}=`,
    `${signature}==`,
    plain,
    ...last.filter((one) => same.equals(Buffer.from(one, 'base64url'))),
  ]
  return [...new Set(spellings)].filter((one) => one !== signature).map((one) => `${signed}.${one}`)
}

function isPairAlgorithm(alg: unknown): alg is Algorithm {
  return typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) && ALGORITHMS[alg as Algorithm].kind !== 'secret'
}

function signatureOf(input: string, alg: Algorithm, key: KeyObject): string {
  const padding = alg.startsWith('PS') ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING
  const how = ALGORITHMS[alg].kind === 'ec' ? { dsaEncoding: 'ieee-p1363' as const } : { padding }
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return sign(`sha${alg.slice(2)}`, Buffer.from(input), { key, saltLength, ...how }).toString('base64url')
}
