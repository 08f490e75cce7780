import { createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import { forge, goodParts, SECRET } from '../../support/fixtures.js'
import { pairOf, publicPem } from '../../support/keys.js'
import { bearer, type Sent } from '../../support/plain-js/http-client.mjs'
import {
  decode,
  decodePayload,
  encode,
  headerOf,
  partsOf,
  type SigningKey,
  signatureOf,
} from '../../support/plain-js/token-forger.mjs'
import type { Step } from './exhibit.js'

export { ISSUER, SECRET } from '../../support/fixtures.js'
export { encode } from '../../support/plain-js/token-forger.mjs'

/** The key pairs of the guards, and the public key of RSA in both of its PEM forms. */
export const RSA = pairOf('RS256')
export const EC = pairOf('ES256')
export const PEM = publicPem(RSA.publicKey)
export const PKCS1 = RSA.publicKey.export({ type: 'pkcs1', format: 'pem' }) as string
export const JWK = { ...RSA.publicKey.export({ format: 'jwk' }), kid: 'k1' }

/** A key pair that only the attacker has. */
export const ATTACKER = pairOf('RS256', 'attacker')

type Members = Record<string, unknown>

interface Forged {
  alg?: string
  header?: Members
  payload?: Members
  key?: SigningKey
}

/** Forges a token that is valid except for the given changes. */
export function token(typ: string, { alg = 'HS256', header, payload, key = SECRET }: Forged = {}): string {
  const good = goodParts()
  // A guard for identity providers takes a token for its own client as an ID token, so the client is another one.
  return forge(
    { ...good.header, typ, alg, ...header },
    { ...good.payload, client_id: 'client-1', ...payload },
    key,
    alg,
  )
}

/** Forges a token without a signature. */
export function unsigned(typ: string, alg = 'none'): string {
  const good = goodParts()
  return `${encode({ ...good.header, typ, alg })}.${encode(good.payload)}.`
}

/** Presents tokens, one request for each. */
export const present = (...tokens: string[]): Step[] => tokens.map((text) => bearer(text, '/'))

export const tokenOf = ({ headers = {} }: Sent) => String(headers['Authorization'] ?? '').replace(/^Bearer /, '')

/** Reads a token without any check, as the models do. */
export function open(text: string) {
  const { header, payload, signature } = partsOf(text)
  const members = { header: headerOf(text) as Members, payload: decodePayload(text) as Members }
  return { ...members, input: `${header}.${payload}`, signature: decode(signature) }
}

const SECRETS: Record<string, string> = { k1: SECRET }

/** Returns the secret that a token names, if there is one. */
export const secretFor = (text: string) => SECRETS[String(open(text).header['kid'])]

/** Checks only the signature of a token. */
export function isSigned(text: string, key: string | Buffer | KeyObject, alg: string): boolean {
  const { input, signature } = open(text)
  if (alg.startsWith('HS')) {
    const mac = signatureOf(input, key, alg)
    return mac.length === signature.length && timingSafeEqual(mac, signature)
  }
  const publicKey = typeof key === 'string' || Buffer.isBuffer(key) ? createPublicKey(key) : key
  return verify('sha256', Buffer.from(input), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
}

/** Returns whether a token of the secret is valid and has not expired. The other claims are for the caller. */
export function isFresh(text: string, key: string | KeyObject = SECRET, alg = 'HS256'): boolean {
  return isSigned(text, key, alg) && Number(open(text).payload['exp']) * 1000 > Date.now()
}
