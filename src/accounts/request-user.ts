import { isPlainObject, memberOf, membersOf } from '../options/values.js'

/** The account of each object that the host's code received, because a user of the host may have its id under another name. */
const accountIds = new WeakMap<object, string>()

/** Returns the object, and notes whose it is. */
export function withAccountId<U extends object>(user: U, accountId: string): U {
  accountIds.set(user, accountId)
  return user
}

/**
 * Returns the user of an account that was returned without one: a row without its hash. Of an object with a class, only what was read of it.
 * @param account the members that were read
 */
export function userOf(original: object, account: object): object {
  const members = Object.entries(isRow(original) ? Object.fromEntries(membersOf(original)) : account)
  return Object.fromEntries(members.filter(([name]) => name !== 'passwordHash'))
}

/** Returns whether an object is a row, of any realm, and not of a class of the host or of a library. */
function isRow(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns the id of an account that the host passes: of an object that this package gave to it, or the object's own `id`. */
export const accountIdOf = (user: object): unknown => accountIds.get(user) ?? memberOf(user, 'id')

/** Returns whether a user, for example of a session, is the account with this id. */
export function isUserOf(accountId: string, user: unknown): boolean {
  return isPlainObject(user) && String(accountIdOf(user)) === accountId
}
