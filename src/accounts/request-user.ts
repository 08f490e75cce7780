import { inspect } from 'node:util'
import { isPlainObject, memberOf, membersOf, own, readMember } from '../options/values.js'
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

/** The most levels of objects in objects, and the most objects, that are searched for a hash: a guard does so for each request. */
const MOST_LEVELS = 5
const MOST_OBJECTS = 100

function hideHash(user: object, hash: string | null): object {
  if (isRow(user)) return without(user, hash)
  const members: Members = Object.getOwnPropertyDescriptors(user)
  function shows(name: PropertyKey): boolean {
    const value = readMember(user, name)
    return isHashMember(String(name), value, hash) || hasHash(value, hash)
  }
  const hidden = Reflect.ownKeys(members).filter((name) => members[name]?.enumerable && shows(name))
  return hidden.length === 0 ? user : copyOfModel(Object.getPrototypeOf(user), members, hidden, hash)
}

/** Returns whether a value is a row or a list, and not an object of a library, such as a connection. */
const isRow = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value))

/** Returns whether an object, such as the values that a model keeps, has a password hash, also in its rows and lists. */
function hasHash(value: unknown, hash: string | null, levels = MOST_LEVELS, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || levels === 0) return false
  if (seen.has(value) || seen.size === MOST_OBJECTS) return false
  seen.add(value)
  return membersOf(value).some(
    ([, inner]) => isHashMember('', inner, hash) || (isRow(inner) && hasHash(inner, hash, levels - 1, seen)),
  )
}

/** Returns a row or a list without the password hash: the same object where it has none, otherwise a copy. */
function without(row: object, hash: string | null, levels = MOST_LEVELS): object {
  const isTop = levels === MOST_LEVELS
  const shown: [string, unknown][] = []
  let isSame = !Object.getOwnPropertySymbols(row).some((name) => isHashMember('', readMember(row, name), hash))
  for (const [name, value] of membersOf(row)) {
    if (isHashMember(isTop ? name : '', value, hash)) {
      isSame = false
      continue
    }
    const inner = levels > 0 && isRow(value) ? without(value, hash, levels - 1) : value
    isSame &&= inner === value
    shown.push([name, inner])
  }
  if (isSame) return row
  return Array.isArray(row) ? shown.map(([, value]) => value) : Object.fromEntries(shown)
}

/** Copies a model. Its methods read the hidden members, and neither a loop nor JSON nor a log shows them. */
function copyOfModel(prototype: object, members: Members, hidden: readonly PropertyKey[], hash: string | null): object {
  for (const name of hidden) members[name] = { ...members[name], enumerable: false }
  const toJSON = members['toJSON'] ? members['toJSON'].value : memberOf(prototype, 'toJSON')
  const show = (...args: unknown[]) => {
    const shown: unknown = typeof toJSON === 'function' ? toJSON.apply(copy, args) : { ...copy }
    return isPlainObject(shown) ? without(shown, hash) : shown
  }
  const replaced = { value: show, configurable: true, writable: true }
  if (typeof toJSON === 'function') members['toJSON'] = replaced
  if (inspect.custom in members || inspect.custom in prototype) members[inspect.custom] = replaced
  const copy: object = Object.create(prototype, members)
  return copy
}
