import type { AuthError } from '../errors/auth-error.js'
import type { AuthErrorCode } from '../errors/codes.js'
import type { HeaderFacts } from '../errors/headers.js'
import { type Refusals, refusalOf } from '../errors/refusal.js'
import { bare, own } from '../options/values.js'
import type { Emit, EventSubject, NewEvent } from './emitter.js'
import type { AuthEvent } from './events.js'

/** The refusals that have had their event. */
const reported = new WeakSet<object>()

/** Returns the refusal of a request, see `refusalOf`. Reports it, unless another part of this package has reported it. */
export function reportRefusal(
  emit: Emit,
  subject: EventSubject,
  given: Refusals,
  thrown: unknown,
  facts?: HeaderFacts,
): AuthError {
  const error = refusalOf(given, thrown, facts)
  // Once, because a function of the host may keep a refusal and throw it again.
  if (given.events === 'failures' && !error.dependency) return error
  if (!reported.delete(thrown as object)) emit(subject, refusalEvent(given.events, error))
  reported.add(error)
  return error
}

/** Refusals of the token endpoint that have their own event type. */
const TOKEN_EVENTS: Partial<Record<AuthErrorCode, AuthEvent['type']>> = {
  too_many_attempts: 'token.throttled',
  overloaded: 'token.overloaded',
}

export function refusalEvent(events: Refusals['events'], error: AuthError): NewEvent<AuthEvent> {
  const { code, reason, accountId, tokenId, issuer, dependency, option, limit } = bare(error)
  if (dependency) {
    const about = { ...(option && { option }), ...(accountId && { accountId }), ...(issuer && { issuer }) }
    return { type: 'dependency.failed', dependency, refused: true, ...about, error: error.cause }
  }
  const type = events === 'token' ? (own(TOKEN_EVENTS, code as AuthErrorCode) ?? 'token.refused') : 'bearer.refused'
  const about = Object.entries({ reason, accountId, tokenId, issuer, limit }).filter(([, fact]) => fact)
  return { type, code, ...Object.fromEntries(about) } as NewEvent<AuthEvent>
}
