import type { IncomingMessage } from 'node:http'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError } from '../errors/auth-error.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from '../http/body.js'
import type { RequestOrigin } from '../http/origin.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { misuse } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { isPlainObject, isThenable, settled } from '../options/values.js'
import { credentialsIn, fieldsIn, rememberIn, type SentCredentials } from './body/credentials.js'

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsSettings extends BodyLimits {
  extraFields: readonly string[]
  credentials: MapBody | undefined
  login: {
    extraFields: readonly string[]
    refuseAddress(address: string | undefined): void
  }
}

/** The option `credentials`: returns the credentials of a body that has another shape. */
export type MapBody<R = IncomingMessage> = (body: Readonly<Record<string, unknown>>, req: R) => unknown

/** Creates the reader of a request's credentials. It refuses a client whose address has reached its limit before it reads the body. */
export function createCredentialsReader({ login, extraFields, credentials, ...limits }: CredentialsSettings) {
  const names = [...login.extraFields, ...extraFields]
  /** All that `credentials` returns is for the host, unless `extraFields` names a part of it. */
  const namesIn = (body: unknown) =>
    credentials && names.length === 0
      ? Object.keys(Object(body)).filter((name) => name !== 'email' && name !== 'password')
      : names
  const readBody = createBodyReader(limits)
  return async function readCredentials(
    req: BodyRequest,
    { address, source }: RequestOrigin,
  ): Promise<RequestCredentials> {
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    login.refuseAddress(address)
    const parseBody = await readBody(req)
    await waitForTurn(() => source)
    const sent = parseBody()
    const body = credentials ? mapped(credentials, sent, req) : sent
    return {
      ...credentialsIn(body, limits.bodyLimit),
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

/** The credentials of a request, and whether the client wants to stay signed in when the browser ends. */
interface RequestCredentials extends SentCredentials {
  remember: boolean
}
