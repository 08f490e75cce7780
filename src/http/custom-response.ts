import type { IncomingMessage } from 'node:http'
import type { AuthError } from '../errors/auth-error.js'
import type { Part } from '../errors/codes.js'
import type { CallRefusal } from '../errors/refusal.js'
import type { SignInRefusal } from '../errors/sign-in-refusal.js'
import { warnOnce } from '../events/warnings.js'
import { memberOf, settled } from '../options/values.js'
import { type HttpResponse, refusalResponse } from './responses.js'

/** The status and the body of a refusal, in the form of the host. */
export interface RefusalBody {
  /** The status, from 400 to 599. */
  status: number
  /** The body: an object is sent as JSON, a text as plain text. Default: no body. */
  body?: unknown
}

/** The option `refuse`: returns the response to a refusal in the form that clients of the host expect. */
export type Refuse<R = IncomingMessage> = (error: AuthError | SignInRefusal, req: R) => RefusalBody

/** Returns a response in the form of the host. Its headers stay. When the function of the host fails, the response stays as it is. */
export function inCustomForm(
  refuse: Refuse | undefined,
  error: CallRefusal,
  req: IncomingMessage,
  response: HttpResponse,
): HttpResponse {
  if (!refuse) return response
  try {
    const returned: unknown = settled(refuse(error, req))
    const [status, body] = ['status', 'body'].map((name) => memberOf(Object(returned), name))
    if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) throw new TypeError()
    const { 'Content-Type': _, ...headers } = response.headers
    return { status: Number(status), ...contentOf(body, headers) }
  } catch {
    warnOnce('refuse')
    return response
  }
}

/** Returns the response to a refusal of a route, in the form of the host. */
export const customResponse = (
  refuse: Refuse | undefined,
  part: Part,
  error: CallRefusal,
  req: IncomingMessage,
): HttpResponse => inCustomForm(refuse, error, req, refusalResponse(part, error))

function contentOf(body: unknown, headers: HttpResponse['headers']): Pick<HttpResponse, 'headers' | 'body'> {
  if (body === undefined || body === null) return { headers, body: '' }
  if (typeof body === 'string') return { headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body }
  const text = JSON.stringify(body)
  if (text === undefined) throw new TypeError()
  return { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' }, body: text }
}
