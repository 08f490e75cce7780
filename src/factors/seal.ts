import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { keyFor } from '../options/secret.js'
import { resultOrUndefined } from '../options/values.js'

/** The factor that a secret belongs to. A sealed text of another one cannot be opened. */
export interface SealedFor {
  issuer: string
  accountId: string
  factorId: string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

const keyOf = (secret: Uint8Array, issuer: string) => keyFor(secret, 'factors', issuer)

/** Returns the id of a key, which tells nothing about it. */
const idOf = (key: Uint8Array) => hash('sha256', key, 'base64url').slice(0, 8)

const aadOf = ({ issuer, accountId, factorId }: SealedFor) => Buffer.from(JSON.stringify([issuer, accountId, factorId]))

/** Encrypts the secret of a factor (AES-256-GCM, NIST SP 800-38D): key id, nonce, tag and text, in base64url. */
export function seal(secret: Uint8Array, about: SealedFor, text: Uint8Array): string {
  const key = keyOf(secret, about.issuer)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aadOf(about))
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return `${idOf(key)}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/**
 * Decrypts the secret of a factor.
 * @param secrets all that may have sealed it. The first one seals new texts
 * @returns undefined when none of them has sealed the text for this factor
 */
export function open(
  secrets: readonly Uint8Array[],
  about: SealedFor,
  sealed: string,
): { text: Buffer; isFirst: boolean } | undefined {
  const [id, rest = ''] = sealed.split('.')
  const keys = secrets.map((secret) => keyOf(secret, about.issuer))
  const at = keys.findIndex((key) => idOf(key) === id)
  const key = keys[at]
  const bytes = Buffer.from(rest, 'base64url')
  if (!key || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const text = resultOrUndefined(() => {
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options)
    decipher.setAAD(aadOf(about)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  })
  return text && { text, isFirst: at === 0 }
}
