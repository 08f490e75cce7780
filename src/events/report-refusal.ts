import type { AuthError } from '../errors/auth-error.js'
import type { AuthErrorCode, Part } from '../errors/codes.js'
import { type CallRefusal, withOtherHeaders } from '../errors/refusal.js'
import { bare, own } from '../options/values.js'
import type { Emit, EventSubject, NewEvent } from './emitter.js'
import type { AuthEvent, AuthObserver } from './events.js'

/** The observers that have received a refusal. Undefined stands for the process warning. */
const reported = new WeakMap<object, AuthObserver | undefined>()

/**
 * Returns a copy of a refusal that an observer has received, so that the next part does not report it too. A copy, because a function of
 * the host may throw one error for several requests.
 */
export function reportedCopy<R extends CallRefusal>(
  error: R,
  observer: AuthObserver | undefined,
  headers: R['headers'] = error.headers,
): R {
  const copy = withOtherHeaders(error, headers)
  reported.set(copy, observer)
  return copy
}

/** Creates the function that reports the refusals of a route, except those that its observer has received. */
export function refusalReporter(emit: Emit, observer: AuthObserver | undefined) {
  return (subject: EventSubject, error: CallRefusal, part: Part = 'token'): void => {
    // Once, because a function of the host may keep a refusal and throw it again.
    if (reported.has(error) && reported.get(error) === observer) reported.delete(error)
    else emit(subject, refusalEvent(part, error))
  }
}

/** The parts whose refusals are events of the token endpoint. */
const TOKEN_PARTS: readonly Part[] = ['token', 'refresh', 'tokenSignOut']

/** Refusals of the token endpoint that have their own event type. */
const TOKEN_EVENTS: Partial<Record<AuthErrorCode, AuthEvent['type']>> = {
  too_many_attempts: 'token.throttled',
  overloaded: 'token.overloaded',
}

export function refusalEvent(part: Part, error: CallRefusal): NewEvent<AuthEvent> {
  const { code, reason, accountId, tokenId, issuer, dependency, option, limit } = bare(error as AuthError)
  if (dependency) {
    const about = { ...(option && { option }), ...(accountId && { accountId }), ...(issuer && { issuer }) }
    return { type: 'dependency.failed', dependency, refused: true, ...about, error: error.cause }
  }
  const type = TOKEN_PARTS.includes(part) ? (own(TOKEN_EVENTS, code) ?? 'token.refused') : 'bearer.refused'
  const about = Object.entries({ reason, accountId, tokenId, issuer, limit }).filter(([, fact]) => fact)
  return { type, code, ...Object.fromEntries(about) } as NewEvent<AuthEvent>
}
