import type { IncomingMessage } from 'node:http'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError } from '../errors/auth-error.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from '../http/body.js'
import { missingMembers } from '../http/declaration.js'
import type { RequestOrigin } from '../http/origin.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import type { LimitsPort } from '../limits/attempt.js'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { bare, ignoreRejection, isPlainObject, isThenable, memberOf, own } from '../options/values.js'

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

/** The credentials of a request, and whether the client wants to stay signed in when the browser ends. */
export interface RequestCredentials extends SentCredentials {
  remember: boolean
}

/** A login waits here before its body is parsed. */
export const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsSettings extends BodyLimits {
  /** Undefined: the login itself takes the members that it needs. */
  extraFields: readonly string[] | undefined
  credentials: MapBody | undefined
  /** True where all that `credentials` returns is for the host. Default: without `extraFields`. */
  allFields?: boolean | undefined
  limits: LimitsPort
}

/** The option `credentials`: returns the credentials of a body that has another shape. */
export type MapBody<R = IncomingMessage> = (body: Readonly<Record<string, unknown>>, req: R) => unknown

type BodySettings = Pick<CredentialsSettings, 'extraFields' | 'credentials' | 'allFields' | 'bodyLimit'>

/** Creates the reader of a parsed body: its shape is the one that the host has mapped, and its further members are for the host. */
function createBodyOf({ extraFields, credentials, allFields = extraFields?.length === 0 }: BodySettings) {
  /** All that `credentials` returns is for the host, unless `extraFields` names a part of it. */
  const names = credentials && allFields ? undefined : extraFields
  const namesIn = (body: unknown) =>
    names ?? Object.keys(Object(body)).filter((name) => name !== 'email' && name !== 'password')
  return function bodyOf(sent: unknown, req: IncomingMessage) {
    const body = credentials ? mapped(credentials, sent, req) : sent
    const named = namesIn(body)
    return { body, fields: fieldsIn(body, named), hasUnnamed: hasUnnamedIn(body, named) }
  }
}

/** Creates the reader of the credentials in a parsed body. */
export function createCredentialsOf(settings: BodySettings) {
  const bodyOf = createBodyOf(settings)
  return function credentialsOf(sent: unknown, req: IncomingMessage): RequestCredentials {
    const { body, ...forHost } = bodyOf(sent, req)
    return { ...credentialsIn(body, settings.bodyLimit), ...forHost, remember: rememberIn(body) }
  }
}

/** The message for a body without a password, whose account is known. */
export const NO_PASSWORD = missingMembers(['password'])

/** Creates the reader of the password in a parsed body, whose account is known. */
export function createPasswordOf(settings: BodySettings) {
  const bodyOf = createBodyOf(settings)
  return function passwordOf(sent: unknown, req: IncomingMessage): Omit<SentCredentials, 'email'> {
    const { body, ...forHost } = bodyOf(sent, req)
    const password = textIn(body, 'password')
    if (password === undefined) throw new AuthError('invalid_body', { message: NO_PASSWORD })
    if (password.length > settings.bodyLimit) throw new AuthError('body_too_large')
    return { password, ...forHost }
  }
}

/** Creates the reader of a request's credentials. It refuses a client whose address has reached its limit before it reads the body. */
export function createCredentialsReader(settings: CredentialsSettings) {
  const { limits } = settings
  const credentialsOf = createCredentialsOf(settings)
  const readBody = createBodyReader(settings)
  return async function readCredentials(
    req: BodyRequest,
    { address, network }: RequestOrigin,
  ): Promise<RequestCredentials> {
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    limits.checkAddress(address)
    const parseBody = await readBody(req)
    await waitForTurn(network, req.socket ?? undefined)
    return credentialsOf(parseBody(), req)
  }
}

/** Returns what the function of the host makes of a body. A body that the function does not understand is malformed. */
function mapped(map: MapBody, sent: unknown, req: IncomingMessage): unknown {
  if (!isPlainObject(sent)) return undefined
  let credentials: unknown
  try {
    credentials = ignoreRejection(map(sent, req))
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
  if (email === undefined || password === undefined) throw new AuthError('invalid_body')
  if (email.length + password.length > limit) throw new AuthError('body_too_large')
  return { email, password }
}

/** Returns an own text of a body. Encoding turns every lone surrogate into U+FFFD, so different passwords would become one password. */
function textIn(body: unknown, name: string): string | undefined {
  const value = isPlainObject(body) ? own(body, name) : undefined
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}
