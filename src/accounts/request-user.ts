import { inspect } from 'node:util'
import { isPlainObject, memberOf, membersOf, own, readMember } from '../options/values.js'
import { isHash } from './mistakes.js'

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
  return { hostAccount: model, user }
}

/** Returns the id of an account that the host passes: of an object that this package gave to it, or the object's own `id`. */
export const accountIdOf = (user: object): unknown => accountIds.get(user) ?? memberOf(user, 'id')

/** Returns whether a user, for example of a session, is the account with this id. */
export function isUserOf(accountId: string, user: unknown): boolean {
  return isPlainObject(user) && String(accountIdOf(user)) === accountId
}

type Members = Record<PropertyKey, PropertyDescriptor>

/** The most rows and lists that are searched for a hash, the nearest first: a guard does so for each request. */
const MOST_ROWS = 1000

function hideHash(user: object, hash: string | null): object {
  if (isRow(user)) return without(user, hash, 'passwordHash')
  const members: Members = Object.getOwnPropertyDescriptors(user)
  function isHidden(name: PropertyKey): boolean {
    if (!Object.prototype.propertyIsEnumerable.call(user, name)) return false
    const value = readMember(user, name)
    return name === 'passwordHash' || isHash(value, hash) || (isObject(value) && without(value, hash) !== value)
  }
  const hidden = Reflect.ownKeys(members).filter(isHidden)
  return hidden.length === 0 ? user : copyOfModel(Object.getPrototypeOf(user), members, hidden, hash)
}

/** Returns whether a value is an object, and not the bytes of a picture, for example. */
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)

/** Returns whether a value is a row or a list, and not an object of a library, such as a connection. */
const isRow = (value: unknown): value is object =>
  isObject(value) && [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value))

/** Returns an object without the password hash, also in its rows and lists: the same object where it has none, otherwise a copy. */
function without(top: object, hash: string | null, hidden?: 'passwordHash'): object {
  const rows = new Set([top])
  const clean = new Map<object, [string, unknown][]>()
  const copies = new Map<unknown, object>()
  const copy = (row: object, members: [string, unknown][]) =>
    copies.set(row, Array.isArray(row) ? members.map(([, value]) => value) : Object.fromEntries(members))
  for (const row of rows) {
    const members = membersOf(row)
    const shown = members.filter(([name, value]) => !(row === top && name === hidden) && !isHash(value, hash))
    const symbols = Object.getOwnPropertySymbols(row)
    const isClean = shown.length === members.length && !symbols.some((name) => isHash(readMember(row, name), hash))
    if (isClean) clean.set(row, shown)
    else copy(row, shown)
    for (const [, value] of shown) if (isRow(value) && rows.size < MOST_ROWS) rows.add(value)
  }
  // A row that has one of the copied rows is copied too, the innermost first.
  for (let before = 0; before < copies.size; ) {
    before = copies.size
    for (const [row, members] of [...clean].reverse())
      if (members.some(([, value]) => copies.has(value)) && clean.delete(row)) copy(row, members)
  }
  for (const row of copies.values())
    for (const [name, value] of Object.entries(row)) if (copies.has(value)) Reflect.set(row, name, copies.get(value))
  return copies.get(top) ?? top
}

/** Copies a model. Its methods read the hidden members, and neither a loop nor JSON nor a log shows them. */
function copyOfModel(prototype: object, members: Members, hidden: readonly PropertyKey[], hash: string | null): object {
  for (const name of hidden) members[name] = { ...members[name], enumerable: false }
  const toJSON = members['toJSON'] ? members['toJSON'].value : memberOf(prototype, 'toJSON')
  const show = (...args: unknown[]) => {
    const shown: unknown = typeof toJSON === 'function' ? toJSON.apply(copy, args) : { ...copy }
    return isPlainObject(shown) ? without(shown, hash, 'passwordHash') : shown
  }
  const replaced = { value: show, configurable: true, writable: true }
  if (typeof toJSON === 'function') members['toJSON'] = replaced
  if (inspect.custom in members || inspect.custom in prototype) members[inspect.custom] = replaced
  const copy: object = Object.create(prototype, members)
  return copy
}
