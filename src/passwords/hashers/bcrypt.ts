import type * as Bcrypt from '@node-rs/bcrypt'
import { AuthError } from '../../errors/auth-error.js'
import { bool, integer } from '../../options/checks.js'
import { optional, readOptions } from '../../options/read-options.js'
import type { Hasher } from './hasher.js'
import { nativeModule } from './native-module.js'
import { assertText } from './stored-key.js'

const blowfish = () => nativeModule<typeof Bcrypt>('@node-rs/bcrypt')

/** The options of `bcrypt`: the cost of new hashes. Stored hashes contain their cost. */
export interface BcryptOptions {
  /** Base-2 logarithm of the number of rounds (4 to 18). Default: `12`. */
  cost?: number | undefined
  /**
   * Maximum number of rounds in stored hashes, as a multiple (1 to 1,024) of the configured number, or of the default if it is higher. By
   * default, hashes can have a cost from 4 to 15. Default: `8`.
   *
   * Costs above 18 are always rejected.
   */
  costLimit?: number | undefined
  /**
   * Set to `true` to compare only the first 72 bytes of a longer password. Default: `false`.
   *
   * To hash the whole password at the next login, put `argon2id()` first. Text after a NUL still never matches.
   */
  truncate?: boolean | undefined
}

const DEFAULT_COST = 12

/** Costs from 4 to 18. With 18, a login takes seconds. */
const bcryptSchema = {
  cost: optional(integer(4, 18, 'a cost'), DEFAULT_COST),
  costLimit: optional(integer(1, 1024, 'a multiple of the cost of a new hash'), 8),
  truncate: optional(bool, false),
}

const BCRYPT = /^\$2[aby]\$(0[4-9]|1[0-8])\$[./A-Za-z0-9]{53}$/

/** bcrypt ignores every byte after the first 72. */
const BCRYPT_BYTES = 72

const TOO_LONG = `This password cannot be used. Choose a password of at most ${BCRYPT_BYTES} bytes in UTF-8, without NUL.`

/** Returns whether bcrypt can tell a password apart. bcrypt repeats it with a NUL to fill its key, so `ab` equals `ab\0ab`. */
const fitsBcrypt = (password: string) => Buffer.byteLength(password) <= BCRYPT_BYTES && !password.includes('\0')

function assertFits(password: string): void {
  if (!fitsBcrypt(password)) throw new AuthError('weak_password', { reason: 'too_long', message: TOO_LONG })
}

/** The hashers that `bcrypt` has created. */
const created = new WeakSet<Hasher>()

/**
 * Checks a new password before a hasher makes its hash.
 * @throws AuthError `weak_password` when the hasher is bcrypt, which would cut the password
 */
export function assertUncut(hasher: Hasher, password: string): void {
  if (created.has(hasher)) assertFits(password)
}

/**
 * Creates a hasher for bcrypt, for accounts that have bcrypt hashes. Use argon2id for new systems (OWASP Password Storage Cheat
 * Sheet). bcrypt ignores text after 72 bytes or after a NUL. A password with such text never matches and is never hashed.
 * @throws TypeError for a cost out of range; `hash` rejects with an AuthError `weak_password` (`too_long`) for a password that bcrypt would cut
 */
export function bcrypt(options?: BcryptOptions): Required<Omit<Hasher, 'external'>> {
  const { cost, costLimit, truncate } = readOptions<BcryptOptions, typeof bcryptSchema>(
    'bcrypt',
    options,
    bcryptSchema,
    { saltRounds: 'cost' },
  )
  const mostRounds = costLimit * 2 ** Math.max(cost, DEFAULT_COST)
  const costOf = (hash: string) => Number(BCRYPT.exec(hash)?.[1])
  const hasher: ReturnType<typeof bcrypt> = {
    accepts: (hash) => 2 ** costOf(hash) <= mostRounds,
    async verify(password, hash) {
      assertText('bcrypt', password)
      const matches = await blowfish().verify(Buffer.from(password).subarray(0, BCRYPT_BYTES), hash)
      return matches && (truncate ? !password.includes('\0') : fitsBcrypt(password))
    },
    async hash(password) {
      assertText('bcrypt', password)
      assertFits(password)
      return blowfish().hash(password, cost)
    },
    // Not `<`, which would be false for any other text.
    outdated: (hash) => !(costOf(hash) >= cost),
  }
  created.add(hasher)
  return hasher
}
