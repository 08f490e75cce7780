import { bare } from './values.js'

/**
 * Recognises this package's own objects. The marks are registered symbols, so two copies of the package in one process (a
 * monorepo, `npm link`) recognise each other's objects. Parsed JSON cannot hold a symbol.
 *
 * Raise a mark's number when its interface changes. A copy of another version then treats the object as the host's own, and checks
 * it. An `AuthError` needs no number, because its reader checks the code.
 */
const MARKS = {
  AuthError: Symbol.for('express-token-endpoint.AuthError'),
  SignInRefusal: Symbol.for('express-token-endpoint.SignInRefusal.1'),
  RemoteKeys: Symbol.for('express-token-endpoint.RemoteKeys.1'),
  VerifiedToken: Symbol.for('express-token-endpoint.VerifiedToken.1'),
  IdTokenVerifier: Symbol.for('express-token-endpoint.IdTokenVerifier.1'),
  TokenVerifier: Symbol.for('express-token-endpoint.TokenVerifier.1'),
  TokenIssuer: Symbol.for('express-token-endpoint.TokenIssuer.1'),
  Sessions: Symbol.for('express-token-endpoint.Sessions.3'),
  OtherDevices: Symbol.for('express-token-endpoint.OtherDevices.1'),
} as const

type Brand = keyof typeof MARKS

/** One for all, because each verified token gets a mark. */
const WITHOUT_VALUE = bare({})

/** Marks an object, with a value for `markOf`. The mark is not enumerable, so a copy made with a spread does not carry it. */
export function brand<T extends object>(kind: Brand, object: T, value?: unknown): T {
  return Object.defineProperty(object, MARKS[kind], value === undefined ? WITHOUT_VALUE : bare({ value }))
}

/** Marks an object, and adds a value for `brandOf`. */
export function brandWith<T extends object>(kind: Brand, object: T, value: object): T {
  return brand(kind, object, Object.freeze({ of: object, value }))
}

/** Returns whether an object carries the mark itself. An inherited mark does not count. */
export function hasBrand(kind: Brand, value: unknown): value is object {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && Object.hasOwn(value, MARKS[kind])
}

/** Returns the value of an object's mark, also through a proxy. */
export const markOf = (kind: Brand, object: object) => (object as { [mark: symbol]: unknown })[MARKS[kind]]

/**
 * Returns the value that `brandWith` added. A copy, an heir or a proxy of the object has none, because its own function must not be
 * bypassed.
 */
export function brandOf(kind: Brand, object: object): unknown {
  if (!hasBrand(kind, object)) return undefined
  const mark = markOf(kind, object) as { of: object; value: object }
  return mark.of === object ? mark.value : undefined
}
