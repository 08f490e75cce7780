import { timingSafeEqual } from 'node:crypto'
import { misuse, type Subject } from '../../options/misuse.js'
import type { Hasher } from './hasher.js'

/**
 * Decodes base64 with or without padding. Returns undefined for text that no encoder writes, so that each value has one spelling.
 * Node's decoder ignores invalid characters.
 */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const padded = bytes.toString('base64')
  return text === padded || text === padded.replaceAll('=', '') ? bytes : undefined
}

/**
 * Creates a hasher that compares the stored key with a derived one, in constant time. HMAC (RFC 2104) fills a short password with
 * NULs, and PBKDF2 and scrypt begin with HMAC: `ab` and `ab\0` have the same key. A password that ends with NUL therefore never matches.
 */
export function keyHasher<Stored extends { key: Buffer }>(
  name: Subject,
  parse: (hash: string) => Stored | undefined,
  derive: (password: string, stored: Stored) => Promise<Buffer>,
): Pick<Hasher, 'accepts' | 'verify'> {
  return {
    accepts: (hash) => parse(hash) !== undefined,
    async verify(password, hash) {
      assertText(name, password)
      const stored = parse(hash)
      if (!stored) throw notAccepted(name)
      return timingSafeEqual(await derive(password, stored), stored.key) && !password.endsWith('\0')
    },
  }
}

/** Creates the error for a hash that a hasher does not accept, but was called with. It contains nothing of the hash. */
export const notAccepted = (hasher: string) =>
  new Error(`${hasher}: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"`)

/**
 * Every hasher calls it first, because the errors of `node:crypto` and `Buffer` show a number.
 * @throws TypeError when the password is not a text
 */
export function assertText(hasher: Subject, password: unknown): void {
  if (typeof password !== 'string') throw misuse(`${hasher}: a password must be a string`)
}
