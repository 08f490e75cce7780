import { isUint8Array } from 'node:util/types'
import { AuthError } from '../errors/auth-error.js'
import { type AuthErrorCode, REFUSALS } from '../errors/codes.js'
import { own } from '../options/values.js'

/** The refusals for the errors of Express's parsers, by their `type`. */
const FAULTS: Readonly<Record<string, AuthErrorCode>> = {
  'charset.unsupported': 'unsupported_media_type',
  'encoding.unsupported': 'unsupported_media_type',
  'entity.too.large': 'body_too_large',
  'request.aborted': 'client_closed_request',
}

/** The other errors of Express's parsers about a body. */
const MALFORMED = /^(entity|parameters|querystring)\./

/** The `detail` for a body that the host's parser refused. It may belong to any route, so the text is not about credentials. */
const DETAILS: Readonly<Partial<Record<AuthErrorCode, string>>> = {
  invalid_body: 'The request body is malformed.',
  unsupported_media_type: 'The charset or the content coding of the request body is not supported.',
}

/**
 * Returns the refusal for an error of Express's body parsers. That error may hold the body, and so a password.
 * @returns undefined for any other error
 */
export function parserRefusal(error: unknown): AuthError | undefined {
  const [type, status, body] = (['type', 'status', 'body'] as const).map((name) => own(Object(error), name))
  if (typeof type !== 'string') return undefined
  const holdsBody = Number(status) >= 400 && Number(status) < 500 && (typeof body === 'string' || isUint8Array(body))
  const code = own(FAULTS, type) ?? (holdsBody || MALFORMED.test(type) ? 'invalid_body' : undefined)
  return code && new AuthError(code, { message: own(DETAILS, code) ?? REFUSALS[code].message })
}
