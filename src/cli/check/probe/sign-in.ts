import { createTokenClient } from '../../../client/token-client.js'
import type { Environment } from '../target.js'
import { Fault, Unjudged } from '../verdict.js'
import { loginBody } from '../wire/login-body.js'
import type { Wire } from '../wire/wire.js'
import { tokenIn } from './read-token.js'
import type { Received, Send } from './send.js'

/** @throws Fault without a token */
export function signIn(environment: Environment, send: Send, wire: Wire): Promise<string> {
  return wire.own ? withOwnClient(environment, send) : withMapping(environment, send, wire)
}

async function withMapping({ token: url, credentials }: Environment, send: Send, wire: Wire): Promise<string> {
  const { type, body } = loginBody(wire, { user: credentials.email, password: credentials.password })
  const headers = { 'Content-Type': type, ...wire.login.headers }
  const response = await send(url, { method: wire.login.method, headers, body })
  try {
    return tokenIn(response, wire)
  } catch (error) {
    throw error instanceof Unjudged ? new Fault('the other environment gave no token') : error
  }
}

/** Signs in with this package's own client. */
async function withOwnClient({ token: url, credentials }: Environment, send: Send): Promise<string> {
  let response: Promise<Received> | undefined
  const client = createTokenClient({
    // A placeholder, because the client refuses URLs that --plain-http allows.
    url: 'https://other.invalid',
    credentials: () => credentials,
    maxWait: 0,
    // Above the highest --timeout, so that `send` reports the time.
    timeout: 600,
    fetch: async (_url, request = {}) => {
      const sent = {
        method: 'POST',
        headers: Object.fromEntries(new Headers(request.headers)),
        body: String(request.body),
      }
      response ??= send(url, sent)
      const { status, headers, body } = await response
      return new Response(body || null, { status, headers: { Date: headers.date ?? '' } })
    },
  })
  try {
    return await client.token()
  } catch {
    await response
    throw new Fault('the other environment gave no token')
  }
}
