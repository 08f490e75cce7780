import { AuthError } from '../../errors/auth-error.js'
import { bare, isPlainObject, memberOf, own } from '../../options/values.js'

/** The name and the password of an account. */
export interface Credentials {
  /** The e-mail address, or another name of the account, as the client sent it. The store receives this text. */
  email: string
  /** The password, as the client sent it. */
  password: string
}

/** The members of a request body that `extraFields` names, as the client sent them. */
export type ExtraFields = Readonly<Record<string, unknown>>

/** The credentials of a login, and the further members of its body. */
export interface SentCredentials extends Credentials {
  fields: ExtraFields
  /** True when the body has a member that is not among the fields and that no login reads. */
  hasUnnamed: boolean
}

/** Returns the own members of a body that the host has named. */
export function fieldsIn(body: unknown, names: readonly string[]): ExtraFields {
  const given = names.filter((name) => Object.hasOwn(Object(body), name))
  return Object.freeze(bare(Object.fromEntries(given.map((name) => [name, memberOf(Object(body), name)]))))
}

/** The members of a body that a login reads without `extraFields`. */
const KNOWN: readonly string[] = ['email', 'password', 'remember']

/** Returns whether a body has a member that no login reads and that the host has not named. */
export const hasUnnamedIn = (body: unknown, names: readonly string[]): boolean =>
  Object.keys(Object(body)).some((name) => !KNOWN.includes(name) && !names.includes(name))

/** Returns the member `remember` of a body. A form has only texts. */
export const rememberIn = (body: unknown): boolean => {
  const value = isPlainObject(body) ? own(body, 'remember') : undefined
  return value !== false && value !== 'false'
}

/** The most characters of credentials: as many as the longest request body has bytes. */
export const LONGEST_CREDENTIALS = 1_048_576

/**
 * Reads the credentials from a parsed body. Other members are ignored.
 * @param limit the longest body, in bytes; the host's own parser may have read a longer one
 * @throws AuthError `invalid_body` or `body_too_large`
 */
export function credentialsIn(body: unknown, limit: number): Credentials {
  const email = textIn(body, 'email')
  const password = textIn(body, 'password')
  if (email === undefined || password === undefined) {
    const message = 'The request body must hold "email" and "password", each once and each a string.'
    throw new AuthError('invalid_body', { message })
  }
  if (email.length + password.length > limit) throw new AuthError('body_too_large')
  return { email, password }
}

/** Returns an own text of a body. Encoding turns every lone surrogate into U+FFFD, so different passwords would become one password. */
function textIn(body: unknown, name: string): string | undefined {
  const value = isPlainObject(body) ? own(body, name) : undefined
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}
