import type { ServerResponse } from 'node:http'
import { AuthError, isAuthError, type Part, REFUSALS } from '../../shared/errors.js'
import type { Answer } from './answers.js'

/**
 * What a part refuses with. What is no refusal of its own is a failure that nobody foresaw: a `503` like any other, whose cause
 * goes to the observer, not to the client.
 */
export function asRefusal(part: Part, thrown: unknown): AuthError {
  if (isAuthError(thrown) && REFUSALS[thrown.code].by.includes(part)) return thrown
  return new AuthError('unavailable', { dependency: 'internal', cause: thrown })
}

/** Sends the body of an answer, and ends it. */
export type Finish = (res: ServerResponse, body: string) => void

/** As they are: Express's `res.set` adds a charset to media types that have none. */
export function setHeaders(res: ServerResponse, headers: Answer['headers']): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

/** Sends an answer, unless one is under way already. */
export function sendAnswer(res: ServerResponse, { status, headers, body }: Answer, finish?: Finish): void {
  if (res.headersSent) return
  res.statusCode = status
  setHeaders(res, headers)
  res.setHeader('Content-Length', Buffer.byteLength(body))
  if (finish) finish(res, body)
  else res.end(body)
}
