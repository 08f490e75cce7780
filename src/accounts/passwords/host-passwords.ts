import { memberOf } from '../../options/values.js'
import { withDeadline } from '../../waiting/host-call.js'
import type { SlotRequest } from './hash-queue.js'
import type { Passwords } from './passwords.js'

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
   * Makes a hash like `Passwords.hash`.
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

/** The password checks as a login calls them. */
export interface PasswordsPort {
  needsRehash(hash: string): boolean | Promise<boolean>
  reserve(request: SlotRequest): Promise<PasswordsSlot>
}

/** The smallest object of a host that checks passwords. */
export type CustomPasswords = Pick<Passwords, 'hash' | 'verify'> & Partial<Passwords>

const isWhole = (passwords: object): passwords is PasswordsPort =>
  ['needsRehash', 'reserve'].every((name) => typeof memberOf(passwords, name) === 'function')

/** Returns password checks with all methods that a login calls. Without a queue of its own, an object has only the time limits. */
export function passwordsOf(passwords: CustomPasswords): PasswordsPort {
  if (isWhole(passwords)) return passwords
  return {
    needsRehash: (hash) => passwords.needsRehash?.(hash) ?? false,
    reserve: async (request) => (await passwords.reserve?.(request)) ?? slotWithoutQueue(passwords, request),
  }
}

function slotWithoutQueue(passwords: CustomPasswords, { timeout }: SlotRequest): PasswordsSlot {
  return {
    async start() {},
    hash: async (password) => withDeadline(timeout, passwords.hash(password)),
    verify: async (password, hash) => withDeadline(timeout, passwords.verify(password, hash)),
    leave() {},
  }
}
