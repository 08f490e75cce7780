import { func, integer } from '../options/checks.js'
import { type Check, InvalidOption, optional } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { defaultConcurrency } from './hash-queue.js'
import type { Hasher } from './hashers/hasher.js'

/** Returns whether a new password may not be used. */
export type ForbiddenCheck = (password: string) => boolean | Promise<boolean>

/** The options of `createPasswords`. */
export interface PasswordsOptions {
  /**
   * Hashers that check [your stored
   * hashes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/passwords.md#keep-your-old-hashes). The
   * first hasher also creates new hashes. Default: `[argon2id(), bcrypt()]`.
   */
  hashers?: readonly Hasher[] | undefined
  /**
   * Hasher for unknown email addresses. To hide which accounts exist, use the hasher that created most of your stored hashes, such as
   * `bcrypt({ cost: 8 })`. Default: the first hasher.
   */
  unknown?: Hasher | undefined
  /**
   * Minimum length of new passwords in the `createAuth` routes (8 to 256 code points). Default: `15`.
   *
   * NIST SP 800-63B-4 requires 15 where the password is the only factor, and 8 with a second factor.
   */
  minLength?: number | undefined
  /**
   * A function, `(password) => boolean`, that returns `true` to [reject a new
   * password](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/passwords.md#refuse-leaked-passwords).
   * Time limit: 5 s. Default: none.
   *
   * True refuses the password with an `AuthError` `weak_password` (422) of the reason `forbidden`. Throw a `SignInRefusal` for your own
   * code. Another error, another value than a boolean, and a late result reject with an `AuthError` `unavailable`.
   */
  isForbidden?: ForbiddenCheck | undefined
  /**
   * Maximum number of passwords to hash at the same time (1 to 1,024). Default: `UV_THREADPOOL_SIZE` (4) minus 1, at most the number of
   * cores.
   */
  concurrency?: number | undefined
  /**
   * Maximum number of logins that can wait (0 to 100,000). If the queue is full, a login from the network with the most waiting logins
   * fails with `503`. Default: `1024`.
   */
  queue?: number | undefined
}

export type HasherList = readonly [Hasher & Required<Pick<Hasher, 'hash'>>, ...Hasher[]]

const hasherList: Check<HasherList> = (value) => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isHasher)) {
    const uncalled = Array.isArray(value) && value.some((hasher) => typeof hasher === 'function')
    const hint = uncalled ? 'Are the parentheses of argon2id() missing?' : 'A hasher has "accepts" and "verify"'
    throw new InvalidOption('an array of hashers, like [argon2id(), bcrypt()]', hint)
  }
  if (typeof value[0].hash !== 'function') {
    throw new InvalidOption(
      'an array whose first hasher has "hash"',
      'Put argon2id() first, because the first hasher creates new hashes. pbkdf2(), scrypt() and firebaseScrypt() only check old hashes',
    )
  }
  if (!value.every(({ external }) => external === undefined || typeof external === 'boolean')) {
    throw new InvalidOption('an array of hashers whose "external" is true or false')
  }
  return [...value] as unknown as HasherList
}

function isHasher(value: unknown): boolean {
  return isPlainObject(value) && typeof value['accepts'] === 'function' && typeof value['verify'] === 'function'
}

const hasherForUnknown: Check<HasherList[0]> = (value) => {
  if (isHasher(value) && typeof (value as Hasher).hash === 'function') return value as HasherList[0]
  throw new InvalidOption('a hasher with "hash", like bcrypt({ cost: 8 })')
}

export const commonSchema = {
  minLength: optional(integer(8, 256, 'a number of characters'), 15),
  isForbidden: optional(func<ForbiddenCheck>('a function (password) => boolean')),
  concurrency: optional(integer(1, 1024, 'a number of passwords'), defaultConcurrency()),
  queue: optional(integer(0, 100_000, 'a number of logins'), 1024),
}

export const passwordsSchema = { hashers: optional(hasherList), unknown: optional(hasherForUnknown), ...commonSchema }
