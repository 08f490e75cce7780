import { withDeadline } from '../concurrency/host-call.js'
import { memberOf } from '../options/values.js'
import type { SlotRequest } from './hash-queue.js'
import type { Passwords, PasswordsSlot } from './passwords.js'

/** The password checks as a login calls them. */
export interface PasswordsPort {
  needsRehash(hash: string): boolean | Promise<boolean>
  reserve(request: SlotRequest): Promise<PasswordsSlot>
}

/** The smallest object of a host that checks passwords. */
export type CustomPasswords = Pick<Passwords, 'hash' | 'verify'> & Partial<Passwords>

const isWhole = (passwords: object): passwords is PasswordsPort =>
  ['needsRehash', 'reserve'].every((name) => typeof memberOf(passwords, name) === 'function')

/** Returns password checks with all methods that a login calls. An object without a queue has only the time limits. */
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
