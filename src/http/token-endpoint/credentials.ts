import type { Credentials } from '../../accounts/login.js'
import { AuthError } from '../../shared/errors.js'
import { isPlainObject } from '../../shared/options.js'
import { assertOwnSite } from './cross-site.js'
import { type BodyRequest, encodingOf, readBody } from './request-body.js'

interface ReadOptions {
  /** The longest body, in bytes. The host's own parser may have read a longer one. */
  bodyLimit: number
  allowedOrigins: ReadonlySet<string>
  /** Waits before the body is parsed. */
  waitForTurn(): Promise<void> | undefined
}

/**
 * Reads the credentials of a request.
 * @throws AuthError `unsupported_media_type`, `cross_site_form`, `body_too_large`, `invalid_body`, `client_closed_request`; what
 * `waitForTurn` throws
 */
export async function readCredentials(
  req: BodyRequest,
  { bodyLimit, allowedOrigins, waitForTurn }: ReadOptions,
): Promise<Credentials> {
  const encoding = encodingOf(req)
  if (encoding === 'application/x-www-form-urlencoded') assertOwnSite(req, allowedOrigins)
  const parse = await readBody(req, encoding, bodyLimit)
  await waitForTurn()
  return credentialsIn(parse(), bodyLimit)
}

/**
 * Takes the credentials from a parsed body. Other members are ignored.
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
