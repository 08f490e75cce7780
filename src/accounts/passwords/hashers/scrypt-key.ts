import { type ScryptOptions, scrypt } from 'node:crypto'
import { bare } from '../../../shared/values.js'
import { promisify } from '../../on-first-use.cjs'

const derive = promisify<string, Buffer | string, number, ScryptOptions, Buffer>(scrypt)

/** The costs of scrypt (RFC 7914 section 2). */
export interface ScryptCosts {
  /** Rows of the memory, a power of 2. */
  N: number
  /** Block size: a row has 128·r bytes. */
  r: number
  /** Number of passes, one after the other. */
  p: number
}

/** Derives a key. The memory that it may take is what the costs need, because Node's default of 32 MiB is less than OWASP's costs. */
export function deriveScrypt(password: string, salt: Buffer | string, bytes: number, { N, r, p }: ScryptCosts) {
  return derive(password, salt, bytes, bare({ N, r, p, maxmem: 128 * r * (N + p + 2) }))
}
