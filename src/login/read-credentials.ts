import { isPlainObject, own } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { RequestOrigin } from '../requests/origin.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { createTurnQueue } from '../waiting/turn-queue.js'
import { FIELDS, type FieldNames } from './body/field-names.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from './body/request-body.js'
import type { Credentials } from './login.js'

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsReader extends BodyLimits {
  fields: FieldNames
  login: { refuseAddress(address: string | undefined): Promise<unknown> | undefined }
}

/** Creates the reader of a request's credentials. It refuses a client whose address has reached its limit before it reads the body. */
export function createCredentialsReader({ login, fields, ...limits }: CredentialsReader) {
  const readBody = createBodyReader(limits)
  return async function readCredentials(req: BodyRequest, { address, source }: RequestOrigin): Promise<Credentials> {
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    const checked = login.refuseAddress(address)
    const [parseBody] = await Promise.all([readBody(req), checked])
    await waitForTurn(() => source)
    return credentialsIn(parseBody(), limits.bodyLimit, fields)
  }
}

/** The most characters of credentials: as many as the longest request body has bytes. */
export const LONGEST_CREDENTIALS = 1_048_576

/**
 * Reads the credentials from a parsed body. Other members are ignored.
 * @param limit the longest body, in bytes; the host's own parser may have read a longer one
 * @throws AuthError `invalid_body` or `body_too_large`
 */
export function credentialsIn(body: unknown, limit: number, fields = FIELDS): Credentials {
  const email = textIn(body, fields.email)
  const password = textIn(body, fields.password)
  if (email === undefined || password === undefined) {
    const message = `The request body must hold "${fields.email}" and "${fields.password}", each once and each a string.`
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
