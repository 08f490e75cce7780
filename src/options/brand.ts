import { bare } from './values.js'

/**
 * Recognises refusals and verified tokens. The marks are registered symbols, so two copies of the package in one process (a monorepo,
 * `npm link`) recognise each other's. Parsed JSON cannot hold a symbol.
 *
 * Raise the number of `VerifiedToken` when its interface changes. A copy of another version then treats the token as the host's own, and
 * checks it. An `AuthError` needs no number, because its reader checks the code.
 */
const MARKS = {
  AuthError: Symbol.for('express-token-endpoint.AuthError'),
  VerifiedToken: Symbol.for('express-token-endpoint.VerifiedToken.1'),
} as const

type Brand = keyof typeof MARKS

/** One for all, because each verified token gets a mark. */
const WITHOUT_VALUE = bare({})

/** Marks an object, with a value for `markOf`. The mark is not enumerable, so a copy made with a spread does not carry it. */
export function brand<T extends object>(kind: Brand, object: T, value?: unknown): T {
  return Object.defineProperty(object, MARKS[kind], value === undefined ? WITHOUT_VALUE : bare({ value }))
}

/** Returns whether an object carries the mark itself. An inherited mark does not count. */
export function hasBrand(kind: Brand, value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, MARKS[kind])
}

/** Returns the value of an object's mark, also through a proxy. */
export const markOf = (kind: Brand, object: object) => (object as { [mark: symbol]: unknown })[MARKS[kind]]

/** Returns whether an identity provider has issued a token, which could name a session of the app. */
export const isOfProvider = (auth: object) => markOf('VerifiedToken', auth) === 'provider'
