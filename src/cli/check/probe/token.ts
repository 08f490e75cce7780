import { createTokenClient } from '../../../client/token-client.js'
import { isPlainObject, parseJson } from '../../../options/values.js'
import { type CompactToken, readCompact } from '../../../tokens/jwt/compact-jws.js'
import type { Target } from '../settings.js'
import { Fault, Unjudged } from '../verdict.js'
import { loginRequest, type Wire } from '../wire/wire.js'
import { valueAt } from './response.js'
import type { Received, Send, Sent } from './send.js'

/** The parts of a token, not verified. */
export interface ReadToken extends CompactToken {
  /** The signature in base64url. */
  signatureText: string
  claims: Readonly<Record<string, unknown>>
}

/** Visible ASCII without the separators of cookies. The tokens of other formats need not be bearer tokens of RFC 6750. */
const TOKEN = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

/** @throws Unjudged without a token, so that rows that need a token are skipped and only the row about the login fails */
export function tokenIn(response: Received, wire: Wire): string {
  const token = wire.statuses.success.includes(response.status) ? valueAt(response, wire.token) : undefined
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw new Unjudged('there is no token for this row')
}

/** Reads the parts of a token without verifying them. */
export function readJwt(text: string): ReadToken | undefined {
  const compact = readCompact(text)
  const claims = compact && parseJson(compact.payload.toString())
  if (!compact || !isPlainObject(claims)) return undefined
  return { ...compact, signatureText: compact.signature.toString('base64url'), claims }
}

/**
 * Signs in at another environment.
 * @throws Fault without a token
 */
export async function signIn(
  { token: url, credentials }: Pick<Target, 'token' | 'credentials'>,
  send: Send,
  wire: Wire,
): Promise<string> {
  let response: Promise<Received> | undefined
  const once = (...sent: Parameters<Send>) => (response ??= send(...sent))
  try {
    if (wire.own) return await withOwnClient(credentials, (sent) => once(url, sent))
    return tokenIn(await once(url, loginRequest(wire, credentials)), wire)
  } catch {
    // Rejects with the fault of a server that does not respond.
    await response
    throw new Fault('the other environment gave no token')
  }
}

/** Signs in with this package's own client. */
function withOwnClient(
  { user, password }: Target['credentials'],
  send: (sent: Sent) => Promise<Received>,
): Promise<string> {
  return createTokenClient({
    // A placeholder, because the client refuses URLs that --plain-http allows.
    url: 'https://other.invalid',
    credentials: () => ({ email: user, password }),
    maxWait: 0,
    // Above the highest --timeout, so that `send` reports the time.
    timeout: 600,
    fetch: async (_url, { headers, body } = {}) => {
      const sent = { method: 'POST', headers: Object.fromEntries(new Headers(headers)), body: String(body) }
      const received = await send(sent)
      return new Response(received.body || null, {
        status: received.status,
        headers: { Date: received.headers.date ?? '' },
      })
    },
  }).token()
}
