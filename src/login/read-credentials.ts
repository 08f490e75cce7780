import type { IncomingMessage } from 'node:http'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError } from '../errors/auth-error.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from '../http/body.js'
import type { RequestOrigin } from '../http/origin.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { ignoreRejection, isPlainObject, isThenable } from '../options/values.js'
import { credentialsIn, fieldsIn, hasUnnamedIn, rememberIn, type SentCredentials } from './body/credentials.js'
import type { LoginDependencies } from './steps/login-task.js'

/** A login waits here before its body is parsed. */
export const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsSettings extends BodyLimits {
  /** Undefined: the login itself takes the members that it needs. */
  extraFields: readonly string[] | undefined
  credentials: MapBody | undefined
  limits: LoginDependencies['limits']
}

/** The option `credentials`: returns the credentials of a body that has another shape. */
export type MapBody<R = IncomingMessage> = (body: Readonly<Record<string, unknown>>, req: R) => unknown

/** Creates the reader of the credentials in a parsed body. */
export function createCredentialsOf({
  extraFields,
  credentials,
  bodyLimit,
}: Pick<CredentialsSettings, 'extraFields' | 'credentials' | 'bodyLimit'>) {
  /** All that `credentials` returns is for the host, unless `extraFields` names a part of it. */
  const names = credentials && extraFields?.length === 0 ? undefined : extraFields
  const namesIn = (body: unknown) =>
    names ?? Object.keys(Object(body)).filter((name) => name !== 'email' && name !== 'password')
  return function credentialsOf(sent: unknown, req: IncomingMessage): RequestCredentials {
    const body = credentials ? mapped(credentials, sent, req) : sent
    const named = namesIn(body)
    return {
      ...credentialsIn(body, bodyLimit),
      fields: fieldsIn(body, named),
      hasUnnamed: hasUnnamedIn(body, named),
      remember: rememberIn(body),
    }
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

/** The credentials of a request, and whether the client wants to stay signed in when the browser ends. */
export interface RequestCredentials extends SentCredentials {
  remember: boolean
}
