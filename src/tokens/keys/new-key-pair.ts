import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

const publicKeyEncoding = { type: 'spki', format: 'der' } as const
const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const

/**
 * Creates a key pair, and reads the keys from their encoding. Node 20 can block for ever while it exports a key object that it has
 * generated, because a garbage collection during the export waits for the same lock.
 * @param bits the size of an RSA key
 */
export function newKeyPair(kind: { curve: string } | { bits: number }): {
  privateKey: KeyObject
  publicKey: KeyObject
} {
  const { privateKey } =
    'curve' in kind
      ? generateKeyPairSync('ec', { namedCurve: kind.curve, publicKeyEncoding, privateKeyEncoding })
      : generateKeyPairSync('rsa', { modulusLength: kind.bits, publicKeyEncoding, privateKeyEncoding })
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })
  return { privateKey: key, publicKey: createPublicKey(key) }
}
