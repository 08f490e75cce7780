import { hash, randomBytes } from 'node:crypto'
import { toBase32 } from './base32.js'

const COUNT = 10
/** 80 bits. */
const BYTES = 10

/** Returns new recovery codes, such as `abcd-efgh-ijkl-mnop`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: COUNT }, () => (toBase32(randomBytes(BYTES)).toLowerCase().match(/.{4}/g) ?? []).join('-'))

/** Returns whether a text has the form of a recovery code. People write it without hyphens, or in upper case. */
export const isRecoveryCode = (text: string): boolean => /^[a-z2-7]{16}$/.test(compact(text))

const compact = (text: string) => text.slice(0, 64).replace(/[\s-]/g, '').toLowerCase()

/** Returns the digest of a recovery code. Its bits are random, so a plain hash is enough. */
export const recoveryDigest = (text: string): string => hash('sha256', `recovery ${compact(text)}`, 'base64url')
