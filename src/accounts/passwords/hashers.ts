import type * as Argon2 from '@node-rs/argon2'
import type * as Bcrypt from '@node-rs/bcrypt'
import { misuse } from '../../shared/misuse.js'
import { integer, optional, readOptions } from '../../shared/options.js'

/**
 * One way to check a password. For a directory or another service, set `external` and store a reference instead of a hash
 * (`passwordHash: 'ldap:uid=…'`).
 */
export interface Hasher {
  /** Returns whether this hasher can check a stored hash. */
  accepts(hash: string): boolean
  /**
   * Checks a password against a hash that this hasher accepts. Only `true` is a match. When the method throws or exceeds the
   * router's `timeout`, the response is `503`. The password may be empty. Return false for it if you use a directory: directories
   * accept a bind without a password as anonymous (RFC 4513 section 5.1.2).
   */
  verify(password: string, hash: string): boolean | Promise<boolean>
  /** Makes a new hash that `accepts` accepts. A hasher without this method cannot be the first of the list. */
  hash?(password: string): string | Promise<string>
  /** Returns whether a hash of this hasher has another cost than its new hashes. Default: never. */
  outdated?(hash: string): boolean
  /**
   * True when another service stores the passwords, and the account has only a reference. A login then never replaces the
   * reference with a hash, because the hash would be a copy of the password. Default false.
   */
  readonly external?: boolean
}

/**
 * Returns a function that loads a native module on its first call. A service that only verifies tokens never calls it.
 * @throws Error that says what to install, with the loader's own error as its cause
 */
function nativeModule<T>(name: string): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    // A bundler follows only a specifier that it can read, and cannot put a native module into a bundle.
    loading ??= import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name).catch(
      (cause: unknown) => {
        loading = undefined
        throw new Error(
          `passwords: ${name} cannot be loaded. Install ${name} with its optional dependencies, or pass createPasswords() hashers that work without it`,
          { cause },
        )
      },
    ) as Promise<T>
    return loading
  }
}

const argon2 = nativeModule<typeof Argon2>('@node-rs/argon2')
const blowfish = nativeModule<typeof Bcrypt>('@node-rs/bcrypt')

/** The options of `argon2id`: the costs of new hashes (RFC 9106 section 3.1). Stored hashes contain their costs. */
export interface Argon2idOptions {
  /** Memory in KiB: 8 to 1,048,576, and 8 for each lane. Default 19,456 (OWASP Password Storage Cheat Sheet). */
  memoryCost?: number | undefined
  /** Passes over the memory: 1 to 64. Default 2 (OWASP Password Storage Cheat Sheet). */
  timeCost?: number | undefined
  /** Lanes: 1 to 64. Default 1 (OWASP Password Storage Cheat Sheet). */
  parallelism?: number | undefined
}

/** The highest costs of a stored hash. With higher costs, one login could stop the process. */
const MOST = { memoryCost: 1_048_576, timeCost: 64, parallelism: 64 }

const argon2idSchema = {
  memoryCost: optional(integer(8, MOST.memoryCost, 'KiB of memory'), 19_456),
  timeCost: optional(integer(1, MOST.timeCost, 'a number of passes'), 2),
  parallelism: optional(integer(1, MOST.parallelism, 'a number of lanes'), 1),
}

const ARGON2ID = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{16,}$/

/**
 * Creates a hasher for Argon2id (RFC 9106), in PHC string format.
 * @throws TypeError for costs out of range
 */
export function argon2id(options?: Argon2idOptions): Required<Omit<Hasher, 'external'>> {
  const costs = readOptions<Argon2idOptions, typeof argon2idSchema>('argon2id', options, argon2idSchema, {
    m: 'memoryCost',
    t: 'timeCost',
    p: 'parallelism',
    iterations: 'timeCost',
    memory: 'memoryCost',
  })
  if (costs.memoryCost < 8 * costs.parallelism) {
    throw misuse('argon2id: option "memoryCost" must be at least 8 KiB for each of "parallelism" (RFC 9106)')
  }
  return {
    accepts(hash) {
      const [, memoryCost, timeCost, parallelism] = ARGON2ID.exec(hash) ?? []
      return (
        Number(memoryCost) <= MOST.memoryCost &&
        Number(timeCost) <= MOST.timeCost &&
        Number(parallelism) <= MOST.parallelism
      )
    },
    verify: async (password, hash) => (await argon2()).verify(hash, password),
    hash: async (password) => (await argon2()).hash(password, costs),
    outdated(hash) {
      const [, memoryCost, timeCost, parallelism] = ARGON2ID.exec(hash) ?? []
      return (
        Number(memoryCost) !== costs.memoryCost ||
        Number(timeCost) !== costs.timeCost ||
        Number(parallelism) !== costs.parallelism
      )
    },
  }
}

/** The options of `bcrypt`: the cost of new hashes. Stored hashes contain their cost. */
export interface BcryptOptions {
  /** Log2 of the number of rounds: 4 to 18. Default 12. */
  cost?: number | undefined
}

/** Costs from 4 to 18. With 18, a login takes seconds. */
const bcryptSchema = { cost: optional(integer(4, 18, 'a cost'), 12) }

const BCRYPT = /^\$2[aby]\$(0[4-9]|1[0-8])\$[./A-Za-z0-9]{53}$/

/** bcrypt ignores every byte after the first 72. */
const BCRYPT_BYTES = 72

/** Returns whether bcrypt can tell a password apart. bcrypt repeats it with a NUL to fill its key, so `ab` equals `ab\0ab`. */
const fitsBcrypt = (password: string) => Buffer.byteLength(password) <= BCRYPT_BYTES && !password.includes('\0')

/**
 * Creates a hasher for bcrypt, for accounts that have bcrypt hashes. Use argon2id for new systems (OWASP Password Storage Cheat
 * Sheet). bcrypt ignores text after 72 bytes or after a NUL. A password with such text never matches and is never hashed.
 * @throws TypeError for a cost out of range; `hash` rejects with a RangeError for a password that bcrypt would cut
 */
export function bcrypt(options?: BcryptOptions): Required<Omit<Hasher, 'external'>> {
  const { cost } = readOptions<BcryptOptions, typeof bcryptSchema>('bcrypt', options, bcryptSchema, {
    rounds: 'cost',
    saltRounds: 'cost',
  })
  return {
    accepts: (hash) => BCRYPT.test(hash),
    async verify(password, hash) {
      const matches = await (await blowfish()).verify(password, hash)
      return matches && fitsBcrypt(password)
    },
    async hash(password) {
      if (!fitsBcrypt(password)) {
        throw new RangeError(
          `bcrypt takes at most ${BCRYPT_BYTES} bytes and no NUL. Use argon2id(), which has no such limits`,
        )
      }
      // $2y and $2b name the same computation, but every implementation reads $2b.
      return (await (await blowfish()).hash(password, cost)).replace(/^\$2y/, '$2b')
    },
    outdated: (hash) => Number(BCRYPT.exec(hash)?.[1]) !== cost,
  }
}
