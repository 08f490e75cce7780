import type { Account, FoundAccount } from './account.js'

/** Returns the account for `req.user`: its own members without the hash, or the members that a class's getters provide. */
export function toRequestUser({ account, original }: FoundAccount): object {
  const { passwordHash: _, ...user } = Object.hasOwn(original, 'passwordHash') ? (original as Account) : account
  return user
}
