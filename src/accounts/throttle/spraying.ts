import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { type Check, InvalidOption, isPlainObject, optional, readOptions } from '../../shared/options.js'
import { type Budget, budgetOption, type Size } from './budget-option.js'
import type { Exhausted, MemoryBudget } from './memory-budget.js'
import type { ReadShared, SpendShared } from './shared-budget.js'
import type { BudgetName } from './throttle-keys.js'

/** The limit on guesses of one password at many accounts. */
export interface Spraying {
  /**
   * The key of the password digests: text or bytes, at least 32 bytes. Required with `limiter`. All processes that share a store need
   * the same key. Default: a random key in this process's memory.
   */
  key?: string | Uint8Array | undefined
  /** Failed logins with one password, at different accounts. With more, the password is a sprayed one. Default 20 in a day. */
  password?: Budget | undefined
  /** Failed logins from one address, with all sprayed passwords. Default 3 in a day. */
  address?: Budget | undefined
}

const DAY = 86_400_000
const KEY_BYTES = 32

const key: Check<string | Uint8Array> = (value) => {
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
  key: optional(key),
  password: optional(budgetOption(`${OPTION}.password`), { points: 20, duration: DAY }),
  address: optional(budgetOption(`${OPTION}.address`), { points: 3, duration: DAY }),
}

const aliases = { secret: 'key', ip: 'address', network: 'address', digest: 'password' }

export interface SprayingSettings {
  key: string | Uint8Array | undefined
  password: Size
  address: Size
}

/** Reads the `spraying` option. Returns undefined when the limit is off. */
export function sprayingOption(value: unknown): SprayingSettings | undefined {
  if (value === undefined || value === false) return undefined
  if (value !== true && !isPlainObject(value)) throw new InvalidOption('{ key, password, address }, true or false')
  return readOptions<Spraying, typeof schema>(OPTION, value === true ? {} : value, schema, aliases)
}

/** A limit in memory, and the same limit in the shared store, if there is one. */
export interface SharedLimit {
  memory: MemoryBudget
  shared: SpendShared | undefined
  read: ReadShared | undefined
}

type KeyOf = (name: BudgetName) => string

/** An attempt that the limit lets pass, or the wait. */
export type SprayAttempt = { refusal: undefined; giveBack(): void; failed(): Promise<void> } | { refusal: Exhausted }

export interface SprayLimit {
  /** Returns a keyed digest of 20 bits. One password in 1,048,576 has the same digest, so a digest does not reveal the password. */
  digest(password: string): string
  /** Returns the wait if memory knows that the attempt would be refused. Counts nothing. */
  exhausted(digest: string, keyOf: KeyOf): Exhausted | undefined
  /**
   * Counts an attempt with a sprayed password against the client network. Another password is counted by `failed`, when it was wrong.
   * So no digest of a right password is ever written to the store, and simultaneous right logins make no password a sprayed one.
   */
  spend(digest: string, keyOf: KeyOf, storeFailed: (error: unknown) => void): Promise<SprayAttempt>
}

interface SprayParts {
  key: string | Uint8Array | undefined
  /** Failures by password digest. A used-up limit refuses nobody: it only tells that the password is a sprayed one. */
  passwords: SharedLimit
  /** Failures with sprayed passwords, by client network. */
  addresses: SharedLimit
  /** One failure for each account and password digest, so that a repeated guess counts once. */
  guesses: MemoryBudget
}

/**
 * Creates the limit. A password that has failed at many accounts is a sprayed one, and each client network may fail with sprayed
 * passwords only a few times. Nothing depends on whether the account exists or has logged in before, because the response would
 * reveal it.
 */
export function sprayLimit({ key = randomBytes(KEY_BYTES), passwords, addresses, guesses }: SprayParts): SprayLimit {
  // A derived key, so that a host that passes its token secret reveals no digest that is made with the secret itself.
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'express-token-endpoint: spraying', KEY_BYTES))
  async function spend(
    { memory, shared }: SharedLimit,
    key: string,
    storeFailed: (error: unknown) => void,
  ): Promise<(() => void) | Exhausted> {
    const inMemory = memory.spend(key)
    if (typeof inMemory !== 'function' || !shared) return inMemory
    const inStore = await shared(key, storeFailed)
    if (typeof inStore !== 'function') {
      inMemory()
      return inStore
    }
    return () => {
      inMemory()
      inStore()
    }
  }

  /** Returns whether a password is a sprayed one. Writes nothing into the store, because the password may be the right one. */
  async function isSprayed(digest: string, storeFailed: (error: unknown) => void): Promise<boolean> {
    if (passwords.memory.exhausted(digest)) return true
    const inStore = await passwords.read?.(digest, storeFailed)
    if (inStore) passwords.memory.exhaust(digest, inStore)
    return inStore !== undefined
  }

  return {
    digest: (password) => createHmac('sha256', derived).update(password).digest('hex').slice(0, 5),
    exhausted(digest, keyOf) {
      return passwords.memory.exhausted(digest) && addresses.memory.exhausted(keyOf('address'))
    },
    async spend(digest, keyOf, storeFailed) {
      const countAddress = () => spend(addresses, keyOf('address'), storeFailed)
      if (await isSprayed(digest, storeFailed)) {
        const point = await countAddress()
        return typeof point === 'function'
          ? { refusal: undefined, giveBack: point, async failed() {} }
          : { refusal: point }
      }
      return {
        refusal: undefined,
        giveBack() {},
        async failed() {
          // A repeated guess is not counted again, so only guesses at different accounts make a password a sprayed one.
          if (typeof guesses.spend(`${digest} ${keyOf('account')}`) !== 'function') return
          const counted = await spend(passwords, digest, storeFailed)
          if (typeof counted === 'function') return
          // Meanwhile the password has become a sprayed one, perhaps in another process.
          passwords.memory.exhaust(digest, counted)
          await countAddress()
        },
      }
    },
  }
}
