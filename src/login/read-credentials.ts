import type { IncomingMessage } from 'node:http'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { bare, isPlainObject, isThenable, memberOf, own, settled } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { RequestOrigin } from '../requests/origin.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { createTurnQueue } from '../waiting/turn-queue.js'
import { FIELDS, type FieldNames } from './body/field-names.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from './body/request-body.js'
import type { ExtraFields } from './steps/after-password.js'
import type { Credentials } from './steps/login-task.js'

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsReader extends BodyLimits {
  fields: FieldNames
  extraFields: readonly string[]
  credentials: MapBody | undefined
  login: {
    extraFields: readonly string[]
    refuseAddress(address: string | undefined): Promise<unknown> | undefined
  }
}

/** The option `credentials`: returns the credentials of a body that has another shape. */
export type MapBody<R = IncomingMessage> = (body: Readonly<Record<string, unknown>>, req: R) => unknown

/** Creates the reader of a request's credentials. It refuses a client whose address has reached its limit before it reads the body. */
export function createCredentialsReader({ login, fields, extraFields, credentials, ...limits }: CredentialsReader) {
  const names = [...login.extraFields, ...extraFields]
  const { email, password } = fields
  /** All that `credentials` returns is for the host, unless `extraFields` names a part of it. */
  const namesIn = (body: unknown) =>
    credentials && names.length === 0
      ? Object.keys(Object(body)).filter((name) => name !== email && name !== password)
      : names
  const readBody = createBodyReader(limits)
  return async function readCredentials(
    req: BodyRequest,
    { address, source }: RequestOrigin,
  ): Promise<RequestCredentials> {
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    const checked = login.refuseAddress(address)
    const [parseBody] = await Promise.all([readBody(req), checked])
    await waitForTurn(() => source)
    const sent = parseBody()
    const body = credentials ? mapped(credentials, sent, req) : sent
    return {
      ...credentialsIn(body, limits.bodyLimit, fields),
      fields: fieldsIn(body, namesIn(body)),
      remember: rememberIn(body),
    }
  }
}

/** Returns what the function of the host makes of a body. A body that the function does not understand is malformed. */
function mapped(map: MapBody, sent: unknown, req: IncomingMessage): unknown {
  if (!isPlainObject(sent)) return undefined
  let credentials: unknown
  try {
    credentials = settled(map(sent, req))
  } catch (cause) {
    throw new AuthError('invalid_body', { cause })
  }
  if (!isThenable(credentials)) return credentials
  throw misuse(`tokenRouter: option "credentials" must return the credentials, but returned ${describe(credentials)}`)
}

/** Returns the own members of a body that the host has named. */
export function fieldsIn(body: unknown, names: readonly string[]): ExtraFields {
  const given = names.filter((name) => Object.hasOwn(Object(body), name))
  return Object.freeze(bare(Object.fromEntries(given.map((name) => [name, memberOf(Object(body), name)]))))
}

/** The credentials of a login, and the further members of its body. */
export interface SentCredentials extends Credentials {
  fields: ExtraFields
}

/** The credentials of a request, and whether the client wants to stay signed in when the browser ends. */
interface RequestCredentials extends SentCredentials {
  remember: boolean
}

/** Returns the member `remember` of a body. A form has only texts. */
const rememberIn = (body: unknown): boolean => {
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
