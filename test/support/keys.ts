import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Algorithm, PrivateTokenKey } from 'express-token-endpoint'
import { signingKey } from './fixtures.js'

export function pairOf(alg: Algorithm, name?: string): { privateKey: KeyObject; publicKey: KeyObject } {
  const privateKey = createPrivateKey((signingKey(alg, name) as PrivateTokenKey).privateKey as string)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

export const privatePem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string
export const publicPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string

export const weakRsa = () => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
