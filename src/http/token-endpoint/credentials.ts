import type { Credentials } from '../../accounts/login.js'
import { AuthError } from '../../shared/errors.js'
import { isPlainObject } from '../../shared/options.js'

/**
 * Reads the credentials from a parsed body. Other members are ignored.
 * @param limit the longest body, in bytes; the host's own parser may have read a longer one
 * @throws AuthError `invalid_body` or `body_too_large`
 */
export function credentialsIn(body: unknown, limit: number): Credentials {
  const credentials = { email: member(body, 'email'), password: member(body, 'password') }
  if (credentials.email.length + credentials.password.length > limit) throw new AuthError('body_too_large')
  return credentials
}

function member(body: unknown, name: string): string {
  const value = isPlainObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  // Encoding turns every lone surrogate into U+FFFD, so different passwords would become one password.
  if (typeof value !== 'string' || !value.isWellFormed()) throw new AuthError('invalid_body')
  return value
}
