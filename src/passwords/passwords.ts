import { randomBytes } from 'node:crypto'
import type { SlotRequest } from '../concurrency/queue.js'
import { misuse, PAGE } from '../options/misuse.js'
import { readOptions } from '../options/read-options.js'
import { createHashQueue, type HashQueueLoad } from './hash-queue.js'
import { argon2id } from './hashers/argon2id.js'
import { assertUncut, bcrypt } from './hashers/bcrypt.js'
import type { Hasher } from './hashers/hasher.js'
import { assertText } from './hashers/stored-key.js'
import { assertAllowed, assertUncommon } from './new-passwords.js'
import { type HasherList, type PasswordsOptions, passwordsSchema } from './passwords-options.js'

/** Hashes and checks passwords. Every byte counts. Passwords are never trimmed, cut or normalised (OWASP ASVS 5, 6.2.8). */
export interface Passwords {
  /**
   * Makes a hash to store, of a password of any length. Rejects with the error of the first hasher when that fails.
   * @throws AuthError `weak_password` when `isForbidden` says so (`forbidden`), or when bcrypt would cut the password (`too_long`)
   * @throws TypeError when the password is not a well-formed Unicode string
   * @throws AuthError `overloaded` when too many logins wait, `unavailable` when `isForbidden` fails
   */
  hash(password: string): Promise<string>
  /**
   * Checks a password. Without a hash, does the same work and returns false, so that the time does not reveal who has an account.
   * Rejects with the error of the hasher when that fails.
   * @throws TypeError when the password is not a string
   * @throws Error when no hasher accepts the hash
   * @throws AuthError `overloaded` when too many logins wait
   */
  readonly verify: (password: string, hash: string | null | undefined) => Promise<boolean>
  /** Returns whether a hash should be replaced: another hasher made it, or it is weaker than a new one. */
  needsRehash(hash: string): boolean
  /** Returns the number of passwords that are being hashed and of logins that wait, for metrics. */
  load(): HashQueueLoad
}

/** Passwords as a login calls them. Returned by `createPasswords`, and hidden from the host. */
export interface QueuedPasswords extends Passwords {
  /**
   * Waits in the queue for a slot, before the account is looked up. Rejects with an `AuthError`: `overloaded` when the queue is full
   * or the wait is longer than `timeout`, `client_closed_request` when `signal` is aborted. Rejects with what `admit` throws.
   */
  reserve(request?: SlotRequest): Promise<PasswordsSlot>
  /**
   * Checks a new password before a slot makes its hash: its length, the most common passwords, and `isForbidden`.
   * @throws AuthError `weak_password` with the reason, `unavailable` when `isForbidden` fails
   * @throws SignInRefusal of `isForbidden`
   * @throws TypeError when the password is not a well-formed Unicode string
   */
  assertStrong(password: string): Promise<void>
}

/** A login's slot: `hash` and `verify` run within the limits of its request. */
export interface PasswordsSlot {
  /**
   * Waits for a hashing thread, so that `verify` begins at once. Called before the failed-login limits count the attempt, for example in a
   * shared store.
   * @throws AuthError `overloaded` when no thread is free within the time limit, `client_closed_request` when the client has
   * disconnected
   */
  start(): Promise<void>
  /**
   * Makes a hash like `Passwords.hash`, without `isForbidden`.
   * @throws AuthError `overloaded` when the hash does not begin within the time limit
   * @throws Error when the hash takes longer than the time limit
   */
  hash(password: string): Promise<string>
  /**
   * Checks a password like `Passwords.verify`.
   * @throws AuthError `overloaded` when the check does not begin within the time limit, `client_closed_request` when the client has
   * disconnected
   * @throws Error when the check takes longer than the time limit
   */
  verify(password: string, hash: string | null | undefined): Promise<boolean>
  /** Releases the slot. Call it once when the login has ended, also after a failure. */
  leave(): void
}

function assertPassword(password: unknown): void {
  if (typeof password === 'string' && password.isWellFormed()) return
  throw misuse('passwords: a password must be a well-formed Unicode string')
}

/**
 * Creates the password checks for token routers and for code that sets passwords. Each object has its own queue, so create one for
 * the process and share it.
 * @throws TypeError that names the invalid option
 */
export function createPasswords(options?: PasswordsOptions): Passwords {
  const read = readOptions<PasswordsOptions, typeof passwordsSchema>('createPasswords', options, passwordsSchema)
  const hashers: HasherList = read.hashers ?? [argon2id(), bcrypt()]
  const [first] = hashers
  const { unknown = first, minLength, isForbidden } = read
  const { acquire, load } = createHashQueue(read.concurrency, read.queue)

  const makeHash = async (password: string) => first.hash(password)

  /** A hash of a random password. It is made before the first login, and again after a failure. */
  let decoy: Promise<string> | undefined
  function decoyHash(): Promise<string> {
    decoy ??= (async () => unknown.hash(randomBytes(32).toString('base64')))()
    decoy.catch(() => {
      decoy = undefined
    })
    return decoy
  }
  decoyHash()

  /** Returns the hasher for a stored hash. Without a hash, `unknown` does the same work. */
  function hasherOf(hash: string | null | undefined): Hasher {
    if (typeof hash !== 'string') return unknown
    for (const hasher of hashers) if (hasher.accepts(hash)) return hasher
    throw misuse(
      'passwords: no hasher accepts the format or the cost of a stored hash. By default, $argon2id$… and $2b$… are accepted. For other formats, pass createPasswords() a hasher, like pbkdf2() or scrypt()',
      PAGE.hashes,
    )
  }

  async function reserve(given: SlotRequest = {}): Promise<PasswordsSlot> {
    const { timeout } = given
    const { start, run, leave } = await acquire(given)
    return {
      start,
      async hash(password) {
        assertPassword(password)
        // A new hash is worth making although the client has disconnected.
        await start({ timeout })
        return run(() => makeHash(password))
      },
      async verify(password, hash) {
        const hasher = hasherOf(hash)
        const isStored = typeof hash === 'string'
        await start()
        const check = async () => hasher.verify(password, isStored ? hash : await decoyHash())
        const matches = await run(check, hasher.external)
        // All lone surrogates are encoded as the same character, so two passwords would be equal.
        return matches === true && isStored && password.isWellFormed()
      },
      leave,
    }
  }

  async function inSlot<T>(use: (slot: PasswordsSlot) => Promise<T>): Promise<T> {
    const slot = await reserve()
    try {
      return await use(slot)
    } finally {
      slot.leave()
    }
  }

  const queued: QueuedPasswords = {
    async hash(password) {
      assertPassword(password)
      // Before a slot, because the function may ask another service.
      if (isForbidden) await assertAllowed(isForbidden, password)
      return inSlot((slot) => slot.hash(password))
    },
    async assertStrong(password) {
      assertPassword(password)
      assertUncommon(password, minLength)
      assertUncut(first, password)
      if (isForbidden) await assertAllowed(isForbidden, password)
    },
    async verify(password, hash) {
      assertText('passwords', password)
      return inSlot((slot) => slot.verify(password, hash))
    },
    needsRehash(hash) {
      const hasher = hasherOf(hash)
      if (hasher.external || first.external) return false
      return hasher !== first || first.outdated?.(hash) === true
    },
    reserve,
    load,
  }
  return queued
}
