import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** The private key signs, and the public key verifies. */
export interface KeyObjects {
  privateKey: KeyObject
  publicKey: KeyObject
}

/**
 * Creates a key pair, and reads the keys from their encoding. Node 20 can block for ever while it exports a key object that it has
 * generated, because a garbage collection during the export waits for the same lock.
 * @param options the options of `generateKeyPairSync`
 */
export function newKeyPair(type: 'ec' | 'ed25519' | 'rsa', options: object = {}): KeyObjects {
  const { privateKey } = generateKeyPairSync(
    type as 'rsa',
    {
      ...options,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    } as never,
  )
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })
  return { privateKey: key, publicKey: createPublicKey(key) }
}
