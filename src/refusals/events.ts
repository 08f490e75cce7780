import { bare, ignoringErrors, own } from '../options/values.js'
import type { AuthError } from './auth-error.js'
import type { AuthErrorCode, Dependency, LimitName, LoginRefusal, Part, RefreshRefusal, TokenRefusal } from './codes.js'
import { describeError } from './describe-error.js'
import { type CallRefusal, withOtherHeaders } from './refusal.js'

interface EventBase {
  /** The time of the event. */
  time: Date
  /** The client's address, from `req.ip`. Express's setting `trust proxy` determines it. */
  address: string | undefined
  /** The e-mail address as the client sent it. Only on events of the token endpoint, and only with `emailInEvents`. */
  email?: string
}

/** A token was issued. */
export interface TokenIssuedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.issued'
  /** The account that the token was issued to (`sub`). */
  accountId: string
  /** The administrator who acts as the account (`act`). Only of `auth.signIn` with `actor`. */
  actorId?: string
  /** The token's `jti`. */
  tokenId: string
  /** The token's `exp`, as sent to the client. */
  expiresAt: Date
}

/**
 * A code of the host. The type keeps the codes of this package in an editor's list.
 * @inline
 */
type HostCode = string & Record<never, never>

/** The token endpoint, or its path for refresh or sign-out, refused a request: it was malformed, or the login or the refresh failed. */
export interface TokenRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.refused'
  /**
   * The code of the refusal, which determines the status of the response. Of a `SignInRefusal`, its own code. `sign_in_refused` for an
   * error of `afterPassword` that your error handler receives.
   */
  code: AuthErrorCode | HostCode
  /** The reason for refusing the login (`invalid_credentials`) or the refresh token (`invalid_refresh_token`). Never sent to the client. */
  reason?: LoginRefusal | RefreshRefusal
  /** The account with this e-mail address, if there is one. */
  accountId?: string
}

/** A login was refused because a failed-login limit is used up (`429`). */
export interface TokenThrottledEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.throttled'
  /** Always `too_many_attempts`, which means status `429`. */
  code: 'too_many_attempts'
  /** The limit that is used up. Absent with a custom throttle that does not tell. */
  limit?: LimitName
}

/** A login was refused because too many logins wait, are under way, or were left by their clients (`503`). */
export interface TokenOverloadedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.overloaded'
  /** Always `overloaded`, which means status `503`. */
  code: 'overloaded'
}

/** The guard refused a request. */
export interface BearerRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'bearer.refused'
  /** The code of the refusal, which determines the status and the challenge of the response. */
  code: AuthErrorCode
  /** The reason for refusing the token (`invalid_token`). The client learns only of `expired`. */
  reason?: TokenRefusal
  /** The account of the token, if the token could be verified. */
  accountId?: string
  /** The token's `jti`, if its signature is valid. */
  tokenId?: string
  /** The issuer whose verifier refused the token. Absent when `tokens` is a list without the issuer that the token names. */
  issuer?: string
}

/** A token was issued, and its session was stored. */
export interface SessionStartedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.started'
  /** The account that signed in. */
  accountId: string
  /** The session's id, which is the token's `jti`. Only of sessions without the option `refresh`. */
  tokenId?: string
  /** The session's id, which is `sid` of its tokens. Only of sessions with the option `refresh`. */
  sessionId?: string
  /** The time at which the session ends by itself: the token's `exp`, or later with refresh. */
  expiresAt: Date
}

/** A session was refreshed, and a new token was issued. */
export interface SessionRefreshedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.refreshed'
  /** The account that is signed in. */
  accountId: string
  /** The session's id: `sid` of its tokens. */
  sessionId: string
  /** The new token's `jti`. */
  tokenId: string
  /** The new token's `exp`, as sent to the client. */
  expiresAt: Date
}

/**
 * The reason for the end of a session. `signed_out`: by itself. `ended`: from another session, or by the host. `others`: all except
 * one. `all`: every one. `maximum`: by a further sign-in above the maximum. `reused`: a refresh token was used that had been replaced
 * before, so another client may hold a copy. `account`: at a refresh, the account was gone or disabled, or its password was changed.
 */
export type SessionEnd = 'signed_out' | 'ended' | 'others' | 'all' | 'maximum' | 'reused' | 'account'

/** A session has ended, or several sessions of an account. A session that expires has no event. */
export interface SessionEndedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.ended'
  /** The account whose session has ended. */
  accountId: string
  /** The reason for the end. */
  reason: SessionEnd
  /** The session's id, as in `session.started`. Absent for the reasons `others` and `all`. */
  tokenId?: string
  /** The session's id, as in `session.started`. Absent for the reasons `others` and `all`. */
  sessionId?: string
}

/** A dependency of the host failed or did not respond within its timeout. */
export interface DependencyFailedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'dependency.failed'
  /** The dependency that failed. */
  dependency: Dependency
  /** True when the request got `503` because of the failure. When false, a second event reports how the request ended. */
  refused: boolean
  /** The account whose password could not be checked. Only on failures of the password check. */
  accountId?: string
  /** The issuer whose keys are unavailable. Only on failures of the keys. */
  issuer?: string
  /** The error that the dependency threw, unchanged. Its content comes from the host. */
  error: unknown
}

/**
 * An event for an audit log or a metric. For each request to the token endpoint, exactly one event reports how the request
 * ended. No event holds a token, a password or a hash.
 */
export type AuthEvent =
  | TokenIssuedEvent
  | TokenRefusedEvent
  | TokenThrottledEvent
  | TokenOverloadedEvent
  | BearerRefusedEvent
  | SessionStartedEvent
  | SessionRefreshedEvent
  | SessionEndedEvent
  | DependencyFailedEvent

/** The `onEvent` option. Its errors and rejections are ignored, so an observer never affects a request. */
export type AuthObserver = (event: AuthEvent) => unknown

export type EventSubject = Pick<EventBase, 'address' | 'email'>

/** An event without the fields that the emitter adds. */
type NewEvent<E> = E extends AuthEvent ? Omit<E, keyof EventBase> : never

export type Emit = (subject: EventSubject, event: NewEvent<AuthEvent>) => void

export function emitter(observer: AuthObserver = warnOfFirstFailures()): Emit {
  return (subject, event) => ignoringErrors(() => observer({ ...event, ...subject, time: new Date() } as AuthEvent))
}

export function warn(message: string): void {
  process.emitWarning(message, 'ExpressTokenEndpointWarning')
}

/** Creates the default observer. It emits a process warning for each dependency's first failure, which would leave no trace. */
function warnOfFirstFailures(): AuthObserver {
  const warned = new Set<Dependency>()
  return (event) => {
    if (event.type !== 'dependency.failed' || warned.has(event.dependency)) return
    warned.add(event.dependency)
    warn(`${event.dependency} failed: ${describeError(event.error)}. Set onEvent to receive every failure`)
  }
}

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
  const { code, reason, accountId, tokenId, issuer, dependency, limit } = bare(error as AuthError)
  if (dependency) {
    const about = { ...(accountId && { accountId }), ...(issuer && { issuer }) }
    return { type: 'dependency.failed', dependency, refused: true, ...about, error: error.cause }
  }
  const type = TOKEN_PARTS.includes(part) ? (own(TOKEN_EVENTS, code) ?? 'token.refused') : 'bearer.refused'
  const about = Object.entries({ reason, accountId, tokenId, issuer, limit }).filter(([, fact]) => fact)
  return { type, code, ...Object.fromEntries(about) } as NewEvent<AuthEvent>
}
