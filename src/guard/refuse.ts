import type { IncomingMessage } from 'node:http'
import type { AuthError } from '../errors/auth-error.js'
import type { Refusals } from '../errors/refusal.js'
import type { Emit } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { reportRefusal } from '../events/report-refusal.js'
import { addressOf } from '../http/origin.js'
import { type Refuse, rejectionOf } from '../http/refuse.js'
import { hasToClose } from '../http/send-response.js'
import type { BearerScheme } from './bearer-header.js'

/** The refusals of the guard. */
export const GUARD_REFUSALS: Refusals = {
  codes: new Set([
    'overloaded',
    'missing_token',
    'invalid_request',
    'invalid_token',
    'insufficient_user_authentication',
    'insufficient_scope',
    'forbidden',
    'unavailable',
  ]),
  events: 'bearer',
}

/** The message for a sign-in without a second factor, where a guard needs one. */
export const NEEDS_SECOND_FACTOR = 'This resource needs a sign-in with a second factor or a passkey.'

/** The options that these steps read. */
export interface RefusalSettings {
  readonly realm: string
  readonly scheme: BearerScheme
  readonly onEvent: AuthObserver | undefined
  readonly refuse: Refuse | undefined
}

/** A guarded request, its guard, and the client's address where it was read before a wait. */
interface RefusedCall {
  readonly guard: { readonly settings: RefusalSettings; readonly emit: Emit }
  readonly req: IncomingMessage
  readonly address: string | undefined
}

/** Returns the refusal that was thrown, with the challenge, and reports it to the host's observer. */
export function refusalAt({ guard, req, address = addressOf(req) }: RefusedCall, thrown: unknown): AuthError {
  return reportRefusal(guard.emit, { address }, GUARD_REFUSALS, thrown, guard.settings)
}

/** Returns the error for a host that responds itself: with all headers of the response, or the host's own. */
export function rejectionAt(call: RefusedCall, thrown: unknown): object {
  const { guard, req } = call
  const error = refusalAt(call, thrown)
  // HTTP/2 has no such header, and Node would emit a warning for each response with it.
  const closes = hasToClose(req) && !(req.httpVersionMajor >= 2)
  if (closes) Object.assign(error, { headers: { ...error.headers, Connection: 'close' } })
  return rejectionOf(guard.settings.refuse, error, req)
}
