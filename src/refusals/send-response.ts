import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError, isAuthError } from './auth-error.js'
import { endThenClose, hasUnreadBody } from './close-after-response.js'
import { type Part, REFUSALS } from './codes.js'
import { type HttpResponse, refusalResponse } from './responses.js'

/**
 * Returns the refusal that was thrown. Any other error becomes a `503`, with the error as the cause: the observer receives it, the
 * client does not.
 */
export function asRefusal(part: Part, thrown: unknown): AuthError {
  if (isAuthError(thrown) && REFUSALS[thrown.code].by.includes(part)) return thrown
  return new AuthError('unavailable', { dependency: 'internal', cause: thrown })
}

/** Sets headers unchanged. Express's `res.set` would add a charset to media types that have none. */
export function setHeaders(res: ServerResponse, headers: HttpResponse['headers']): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

/** Sends a response, unless the headers of another one have been sent. With `closes`, the connection then closes. */
export function sendResponse(res: ServerResponse, { status, headers, body }: HttpResponse, closes = false): void {
  if (res.headersSent) return
  res.statusCode = status
  setHeaders(res, headers)
  // RFC 9110 section 8.6: a 204 has no length.
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body))
  if (closes) endThenClose(res, body)
  else res.end(body)
}

/** Returns the handler for the methods that a path does not have. */
export const methodNotAllowed = (part: Part) =>
  function methodNotAllowedHandler(req: IncomingMessage, res: ServerResponse): void {
    sendResponse(res, refusalResponse(part, new AuthError('method_not_allowed')), hasUnreadBody(req, 0))
  }
