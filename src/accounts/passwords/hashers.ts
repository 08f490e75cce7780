import type * as Argon2 from '@node-rs/argon2'
import type * as Bcrypt from '@node-rs/bcrypt'
import { integer, optional, readOptions } from '../../shared/options.js'

/**
 * One way to check a password. A directory or another service fits in as one that is `external`, with marks of its own where
 * others have a hash (`passwordHash: 'ldap:uid=…'`).
 */
export interface Hasher {
  /** Whether a stored hash is one of this hasher's. */
  accepts(hash: string): boolean
  /**
   * Checks a password against a hash that this hasher accepts; anything but `true` is no match. What it throws is a `503`, as is
   * no answer within the router's `timeout`. The password may be empty: a directory takes a bind without one for anonymous and
   * lets it succeed (RFC 4513 section 5.1.2).
   */
  verify(password: string, hash: string): boolean | Promise<boolean>
  /** Makes a new hash, which `accepts` takes. A hasher without it only checks, so it cannot be the first of the list. */
  hash?(password: string): string | Promise<string>
  /** Whether a hash of this hasher's is of another cost than it gives new ones. Left out: never. */
  outdated?(hash: string): boolean
  /**
   * Whether the passwords themselves are kept elsewhere, and what is stored only says where. Then no sign-in puts a hash in the
   * mark's place, as it does for the hashes of every other hasher but the first: that would copy the password, and the directory
   * would be asked no more. Default false.
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

/** What `argon2id` takes: the costs of new hashes (RFC 9106 section 3.1). Stored ones say their own. */
export interface Argon2idOptions {
  /** Memory in KiB: 8 to 1,048,576, and 8 for each lane. Default 19,456 (OWASP Password Storage Cheat Sheet). */
  memoryCost?: number | undefined
  /** Passes over the memory: 1 to 64. Default 2 (OWASP Password Storage Cheat Sheet). */
  timeCost?: number | undefined
  /** Lanes: 1 to 64. Default 1 (OWASP Password Storage Cheat Sheet). */
  parallelism?: number | undefined
}

/** The most that a stored hash may ask for: beyond it one login would take the process down. */
const MOST = { memoryCost: 1_048_576, timeCost: 64, parallelism: 64 }

const argon2idSchema = {
  memoryCost: optional(integer(8, MOST.memoryCost, 'KiB of memory'), 19_456),
  timeCost: optional(integer(1, MOST.timeCost, 'a number of passes'), 2),
  parallelism: optional(integer(1, MOST.parallelism, 'a number of lanes'), 1),
}

const ARGON2ID = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{16,}$/

/**
 * Argon2id (RFC 9106), in PHC string format.
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
    throw new TypeError('argon2id: option "memoryCost" must be at least 8 KiB for each of "parallelism" (RFC 9106)')
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

/** What `bcrypt` takes: the cost of new hashes. Stored ones say their own. */
export interface BcryptOptions {
  /** Log2 of the number of rounds: 4 to 18. Default 12. */
  cost?: number | undefined
}

/** A cost of 18 already takes seconds a login. */
const bcryptSchema = { cost: optional(integer(4, 18, 'a cost'), 12) }

const BCRYPT = /^\$2[aby]\$(0[4-9]|1[0-8])\$[./A-Za-z0-9]{53}$/

/** bcrypt reads no byte beyond this one. */
const BCRYPT_BYTES = 72

/** bcrypt repeats the password, with a NUL behind it, to fill its key: `ab` and `ab\0ab` are one to it. */
const fitsBcrypt = (password: string) => Buffer.byteLength(password) <= BCRYPT_BYTES && !password.includes('\0')

/**
 * bcrypt, for accounts that have such hashes. It cannot tell passwords apart beyond 72 bytes or behind a NUL: such a
 * password never matches, and none is hashed. (OWASP Password Storage Cheat Sheet: for legacy systems; new ones take
 * argon2id.)
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
        throw new RangeError(`bcrypt takes at most ${BCRYPT_BYTES} bytes and no NUL; argon2id() has no such limits`)
      }
      // One computation by two names; 2b is the one that every implementation reads.
      return (await (await blowfish()).hash(password, cost)).replace(/^\$2y/, '$2b')
    },
    outdated: (hash) => Number(BCRYPT.exec(hash)?.[1]) !== cost,
  }
}
