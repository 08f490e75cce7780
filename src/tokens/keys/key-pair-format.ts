import { createPrivateKey, createPublicKey, ECDH, X509Certificate } from 'node:crypto'
import { resultOrUndefined } from '../../options/values.js'
import { CURVES } from '../algorithms/ecdsa.js'

/** The start of PEM text, plain or in base64, and of a public key in the format of RFC 4716. */
const PEM = /-----BEGIN|LS0tLS1CRUdJTi|---- BEGIN SSH2/

/** A JWK of a key pair, also in a JWK set, in JSON or as a literal of a language, within other text or escaped in it. */
const JWK = /\bkty\\*["']?\s*:\s*\\*["'](?!oct)/

/** A public key of OpenSSH, as a line of text and as bytes (RFC 4253 section 6.6). */
const SSH_LINE = /(?:^|\s)(?:ssh-|ecdsa-sha2-|sk-)\S+ AAAA/
const SSH_BYTES = /\0{3}[^\0](?:ssh-|ecdsa-sha2-|sk-)/

/**
 * Returns the format of a secret that is a key of a key pair. A public key is not secret, so everyone could sign with it (RFC 8725 section
 * 2.1). Also finds keys in hex, in base64 and in UTF-16.
 */
export function keyPairFormat(secret: Buffer): string | undefined {
  for (const bytes of readingsOf(secret).flatMap(readingsOf)) {
    const found = formatOf(bytes)
    if (found) return found
  }
  return undefined
}

/** Returns the bytes, and the bytes that their text stands for in hex and in base64. */
function readingsOf(bytes: Buffer): Buffer[] {
  const text = bytes.toString('latin1').replace(/[^\x21-\x7e]/g, '')
  return [bytes, Buffer.from(text.replace(/0x|:/gi, ''), 'hex'), Buffer.from(text, 'base64')]
}

function formatOf(bytes: Buffer): string | undefined {
  const text = bytes.toString().replaceAll('\0', '')
  if (PEM.test(text)) return 'PEM'
  if (JWK.test(text)) return 'JWK'
  if (SSH_LINE.test(text) || SSH_BYTES.test(bytes.toString('latin1'))) return 'key of SSH'
  if (bytes[0] === SEQUENCE && DER_READERS.some((read) => resultOrUndefined(() => read(bytes)))) return 'key in DER'
  return Object.values(CURVES).some((curve) => isPointOn(curve, bytes)) ? 'point of an EC key' : undefined
}

/** Returns whether bytes are on a curve: its point, compressed or not (SEC 1 section 2.3.3). */
function isPointOn({ namedCurve, bytes: size }: (typeof CURVES)[keyof typeof CURVES], bytes: Buffer): boolean {
  const isSize = bytes.length === 1 + size || bytes.length === 1 + 2 * size
  return isSize && resultOrUndefined(() => ECDH.convertKey(bytes, namedCurve)) !== undefined
}

/** The first byte of a structure in DER (ITU-T X.690 section 8.9). Most secrets begin otherwise, and need no reader. */
const SEQUENCE = 0x30

/** The structures of public keys, private keys and certificates (RFC 5280, RFC 8017, RFC 5958, RFC 5915). */
const DER_READERS: readonly ((key: Buffer) => unknown)[] = [
  (key) => createPublicKey({ key, format: 'der', type: 'spki' }),
  // Also reads the public half of a private key.
  (key) => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'sec1' }),
  (key) => new X509Certificate(key),
]
