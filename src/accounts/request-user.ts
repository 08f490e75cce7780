import { inspect } from 'node:util'
import { attempt, isPlainObject, memberOf, own } from '../options/values.js'
import { isHashMember } from './mistakes.js'

/** The host's own object of an account: the member `user` of what its store returns, where it has one. */
export type OwnUser<A> = A extends {
  /** The host's own object. */
  user: infer U extends object
}
  ? U
  : A

/** The host's own object of an account without the password hash. */
export type UserOf<A> = A extends {
  /** The host's own object. */
  user: infer U extends object
}
  ? U
  : Omit<A, 'passwordHash'>

/** The account of each object that the host's code received, because the member `user` may have its id under another name. */
const accountIds = new WeakMap<object, string>()

/**
 * Returns the host's own object of an account, and the same object for `req.user`: a copy with the same methods, where the object itself would
 * show the password hash.
 */
export function usersOf(original: object, accountId: string, passwordHash: string | null) {
  const mapped = own(original as { user?: unknown }, 'user')
  const model = isPlainObject(mapped) ? mapped : original
  const user = hideHash(model, passwordHash)
  accountIds.set(user, accountId)
  return { own: model, user }
}

/** Returns the id of an account that the host passes: of an object that this package gave to it, or the object's own `id`. */
export const accountIdOf = (user: object): unknown => accountIds.get(user) ?? memberOf(user, 'id')

/** Returns whether a user, for example of a session, is the account with this id. */
export function isUserOf(accountId: string, user: unknown): boolean {
  return isPlainObject(user) && String(accountIdOf(user)) === accountId
}

type Members = Record<PropertyKey, PropertyDescriptor>

function hideHash(user: object, hash: string | null): object {
  const members: Members = Object.getOwnPropertyDescriptors(user)
  const prototype: object | null = Object.getPrototypeOf(user)
  const isRow = prototype === null || prototype === Object.prototype
  const holdsHash = (name: string) => {
    // Some libraries, such as MikroORM, define accessors on each object.
    const value = attempt(() => own(user as Record<string, unknown>, name))
    return isHashMember(name, value, hash) || (!isRow && isPlainObject(value) && hasHash(value, hash))
  }
  const hidden = Object.keys(user).filter(holdsHash)
  if (hidden.length === 0) return user
  if (isRow) return without(user, hidden)
  return copyOfModel(prototype, members, hidden, hash)
}

/** Returns whether an object, such as the values that a model keeps, has a password hash. */
const hasHash = (values: object, hash: string | null) =>
  Object.entries(values).some(([name, value]) => isHashMember(name, value, hash))

function without(row: object, hidden: readonly string[]): object {
  const shown = Object.entries(row).filter(([name]) => !hidden.includes(name))
  return Object.fromEntries(shown)
}

/** Copies a model. Its methods read the hidden members, and neither a loop nor JSON nor a log shows them. */
function copyOfModel(prototype: object, members: Members, hidden: readonly string[], hash: string | null): object {
  for (const name of hidden) members[name] = { ...members[name], enumerable: false }
  const copy = Object.create(prototype, members)
  const { toJSON } = copy
  const show = (...args: unknown[]) => {
    const shown: unknown = typeof toJSON === 'function' ? toJSON.apply(copy, args) : { ...copy }
    if (!isPlainObject(shown)) return shown
    return without(
      shown,
      Object.keys(shown).filter((name) => isHashMember(name, shown[name], hash)),
    )
  }
  const replaced = { value: show, configurable: true, writable: true }
  if (typeof toJSON === 'function') Object.defineProperty(copy, 'toJSON', replaced)
  if (inspect.custom in copy) Object.defineProperty(copy, inspect.custom, replaced)
  return copy
}
