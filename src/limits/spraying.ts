import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import type { LimitName } from '../errors/codes.js'
import { type Check, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { countFailure, createLimit, type Limit, type LoginLimit, limitOption } from './limit.js'
import type { Size } from './shared-limit.js'
import type { StoreFailed } from './shared-store.js'

/** The limit on guesses of one password at many accounts. */
export interface Spraying {
  /**
   * The key of the password digests: text or bytes, at least 32 bytes. Required with `limiter`. All processes that share a store need
   * the same key. Default: a random key in this process's memory.
   */
  key?: string | Uint8Array | undefined
  /** Failed logins with one password, at different accounts. At this number, the password is a sprayed one. Default 20 in a day. */
  password?: LoginLimit | undefined
  /** Failed logins from one address, with all sprayed passwords. Default 3 in a day. */
  address?: LoginLimit | undefined
}

const DAY = 86_400
const KEY_BYTES = 32

const keyOption: Check<string | Uint8Array> = (value) => {
  const valid = typeof value === 'string' || isUint8Array(value)
  if (!valid || Buffer.byteLength(value) < KEY_BYTES) {
    throw new InvalidOption(
      `text or bytes, at least ${KEY_BYTES} bytes`,
      'Create a key with: npx express-token-endpoint keygen --alg HS256',
    )
  }
  return value
}

const OPTION = 'createThrottle: option "spraying"'

const schema = {
  key: optional(keyOption),
  password: optional(limitOption(`${OPTION}.password`), { points: 20, duration: DAY }),
  address: optional(limitOption(`${OPTION}.address`), { points: 3, duration: DAY }),
}

const aliases = { secret: 'key', ip: 'address', network: 'address', digest: 'password' }

export function sprayingOption(value: unknown) {
  if (value === undefined || value === false) return undefined
  if (value !== true && !isPlainObject(value)) throw new InvalidOption('{ key, password, address }, true or false')
  return readOptions<Spraying, typeof schema>(OPTION, value === true ? {} : value, schema, aliases)
}

/** An attacker has more networks than the other limits hold. */
const MOST_NETWORKS = 250_000

export type SprayLimit = ReturnType<typeof sprayLimit>

/**
 * Creates the limit. A password that has failed at many accounts is a sprayed one, and each client network may fail with sprayed
 * passwords only a few times. Nothing depends on whether the account exists or has logged in before, because the response would
 * reveal it.
 * @param limit creates one limit, which is shared if there is a shared store
 */
export function sprayLimit(
  { key = randomBytes(KEY_BYTES), password, address }: NonNullable<ReturnType<typeof sprayingOption>>,
  limit: (prefix: string, size: Size, mostKeys?: number) => Limit,
) {
  /**
   * Failures by password digest. This limit refuses no login: when it is reached, the password is a sprayed one. Failures with
   * such a password come often, so its key is never the least recently used one.
   */
  const passwords = limit('password', password)
  /** Failures with sprayed passwords, by client network. */
  const networks = limit('sprayed', address, MOST_NETWORKS)
  /** One failure for each account and password digest, so that a repeated guess counts once. */
  const guesses = createLimit('spraying', { ...password, points: 1 })
  // A derived key, so that a host that passes its token secret reveals no digest that is made with the secret itself.
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'express-token-endpoint: spraying', KEY_BYTES))

  /** Returns whether memory knows that a password is a sprayed one. */
  const isSprayed = (digest: string | undefined) => Boolean(digest && passwords.reached(digest))

  return {
    networks,
    isSprayed,
    /** Returns a keyed digest of 20 bits. One password in 1,048,576 has the same digest, so a digest does not reveal the password. */
    digest: (text: string) => createHmac('sha256', derived).update(text).digest('hex').slice(0, 5),
    /** Reads from the shared store whether a password is a sprayed one. Writes nothing, because the password may be the right one. */
    async learn(digest: string | undefined, storeFailed: StoreFailed): Promise<boolean> {
      if (digest !== undefined) passwords.learn(digest, await passwords.shared?.read(digest, storeFailed))
      return isSprayed(digest)
    },
    /** Counts a failure with a password that was not a sprayed one when it was checked. */
    async fail(
      digest: string | undefined,
      keyOf: (name: LimitName) => string,
      storeFailed: StoreFailed,
    ): Promise<void> {
      const guess = `${digest} ${keyOf('account')}`
      // A repeated guess is not counted again, so only guesses at different accounts make a password a sprayed one.
      if (digest === undefined || guesses.reached(guess)) return
      guesses.fail(guess)
      const meanwhile = isSprayed(digest)
      const counted = meanwhile ? undefined : await countFailure(passwords, digest, storeFailed)
      // Meanwhile the password has become a sprayed one, perhaps in another process.
      const isLate = meanwhile || (counted && counted.points > password.points)
      if (isLate) await countFailure(networks, keyOf(networks.name), storeFailed)
    },
  }
}
