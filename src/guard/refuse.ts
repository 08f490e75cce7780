import type { IncomingMessage } from 'node:http'
import { type AuthError, asRefusal } from '../errors/auth-error.js'
import type { Emit } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { refusalEvent, reportedCopy } from '../events/report-refusal.js'
import { addressOf } from '../http/origin.js'
import { allHeaders, type HttpResponse, refusalResponse } from '../http/responses.js'
import { hasToClose } from '../http/send-response.js'
import type { BearerScheme } from './bearer-header.js'

/** The options that these steps read. */
export interface RefusalSettings {
  readonly realm: string
  readonly scheme: BearerScheme
  readonly onEvent: AuthObserver | undefined
}

/** A guarded request, and the client's address where it was read before a wait. */
interface GuardedCall {
  readonly req: IncomingMessage
  readonly address: string | undefined
}

/** Returns the refusal that was thrown, and reports it to the host's observer. */
export function refusalOf(emit: Emit, { req, address }: GuardedCall, thrown: unknown): AuthError {
  const error = asRefusal('guard', thrown)
  emit({ address: address ?? addressOf(req) }, refusalEvent('guard', error))
  return error
}

/** Returns the response for a refusal, with the challenge. */
export const responseTo = (settings: RefusalSettings, error: AuthError): HttpResponse =>
  refusalResponse('guard', error, settings)

/** Returns the error for a host that responds itself: with all headers of the response. */
export function errorForHost(settings: RefusalSettings, { req }: GuardedCall, error: AuthError): AuthError {
  // HTTP/2 has no such header, and Node would emit a warning for each response with it.
  const closes = hasToClose(req) && !(req.httpVersionMajor >= 2)
  return reportedCopy(error, settings.onEvent, allHeaders('guard', error, closes, settings))
}
