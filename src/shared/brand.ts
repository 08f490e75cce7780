import { bare } from './values.js'

/**
 * Recognises this package's own objects. The marks are registered symbols, so two copies of the package in one process (a
 * monorepo, `npm link`) recognise each other's objects. Parsed JSON cannot hold a symbol.
 */
export type Kind = 'AuthError' | 'RemoteKeys' | 'VerifiedToken'

const symbolOf = (kind: Kind) => Symbol.for(`express-token-endpoint.${kind}`)

/** Marks an object. The mark is not enumerable: a copy made with a spread does not carry it. */
export function brand<T extends object>(kind: Kind, object: T): T {
  return Object.defineProperty(object, symbolOf(kind), bare({ value: true }))
}

/** Returns whether an object carries the mark itself; an inherited mark does not count. */
export function hasBrand(kind: Kind, value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, symbolOf(kind))
}
