import { timingSafeEqual } from 'node:crypto'

/** Returns the groups of a match. Each group of the pattern must take part in every match. */
export function groupsOf<Groups extends string[]>(pattern: RegExp, text: string): Groups | undefined {
  return pattern.exec(text)?.slice(1) as Groups | undefined
}

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
 * Returns whether a derived key is the stored one, in constant time. HMAC (RFC 2104) fills a short password with NULs, and PBKDF2 and
 * scrypt begin with HMAC: `ab` and `ab\0` have the same key. A password that ends with NUL therefore never matches.
 */
export function isStoredKey(password: string, derived: Uint8Array, stored: Uint8Array): boolean {
  return timingSafeEqual(derived, stored) && !password.endsWith('\0')
}

/** Creates the error for a hash that a hasher does not accept, but was called with. It contains nothing of the hash. */
export const notAccepted = (hasher: string) =>
  new Error(`${hasher}: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"`)
