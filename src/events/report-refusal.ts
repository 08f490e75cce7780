import type { AuthError } from '../errors/auth-error.js'
import type { AuthErrorCode, Part } from '../errors/codes.js'
import type { HeaderFacts } from '../errors/headers.js'
import { refusalOf } from '../errors/refusal.js'
import { bare, own } from '../options/values.js'
import type { Emit, EventSubject, NewEvent } from './emitter.js'
import type { AuthEvent } from './events.js'

/** The refusals that have had their event. */
const reported = new WeakSet<object>()

/** Returns the refusal of a request, see `refusalOf`. Reports it, unless another part of this package has reported it. */
export function reportRefusal(
  emit: Emit,
  subject: EventSubject,
  part: Part,
  thrown: unknown,
  facts?: HeaderFacts,
): AuthError {
  const error = refusalOf(part, thrown, facts)
  // Once, because a function of the host may keep a refusal and throw it again.
  if (!reported.delete(thrown as object)) emit(subject, refusalEvent(part, error))
  reported.add(error)
  return error
}

/** The parts whose refusals are events of the token endpoint. */
const TOKEN_PARTS: readonly Part[] = ['token', 'refresh', 'tokenSignOut']

/** Refusals of the token endpoint that have their own event type. */
const TOKEN_EVENTS: Partial<Record<AuthErrorCode, AuthEvent['type']>> = {
  too_many_attempts: 'token.throttled',
  overloaded: 'token.overloaded',
}

export function refusalEvent(part: Part, error: AuthError): NewEvent<AuthEvent> {
  const { code, reason, accountId, tokenId, issuer, dependency, option, limit } = bare(error)
  if (dependency) {
    const about = { ...(option && { option }), ...(accountId && { accountId }), ...(issuer && { issuer }) }
    return { type: 'dependency.failed', dependency, refused: true, ...about, error: error.cause }
  }
  const type = TOKEN_PARTS.includes(part)
    ? (own(TOKEN_EVENTS, code as AuthErrorCode) ?? 'token.refused')
    : 'bearer.refused'
  const about = Object.entries({ reason, accountId, tokenId, issuer, limit }).filter(([, fact]) => fact)
  return { type, code, ...Object.fromEntries(about) } as NewEvent<AuthEvent>
}
