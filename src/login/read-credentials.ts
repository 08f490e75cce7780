import type { RequestOrigin } from '../requests/origin.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { createTurnQueue } from '../waiting/turn-queue.js'
import { credentialsIn } from './body/credentials.js'
import type { FieldNames } from './body/field-names.js'
import { type BodyLimits, type BodyRequest, createBodyReader } from './body/request-body.js'
import type { LoginPort } from './create-login.js'
import type { Credentials } from './login.js'

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

interface CredentialsReader extends BodyLimits {
  fields: FieldNames
  login: LoginPort
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
