import type { AuthError, AuthErrorCode, Dependency, LoginRefusal, TokenRefusal } from './errors.js'
import { bare } from './values.js'

interface EventBase {
  /** When it happened. */
  time: Date
  /** The client's address as Express sees it (`req.ip`: mind `trust proxy`). */
  address: string | undefined
  /** The e-mail address as the client sent it: on the token call's events, and only under `emailInEvents`. */
  email?: string
}

/** A token was issued. */
export interface TokenIssuedEvent extends EventBase {
  /** What events are told apart by. */
  type: 'token.issued'
  /** Whose token it is (`sub`). */
  accountId: string
  /** The token's `jti`. */
  tokenId: string
  /** The token's `exp`, as the client was told. */
  expiresAt: Date
}

/** The token call was refused: the request was malformed, or the login was not good. */
export interface TokenRefusedEvent extends EventBase {
  /** What events are told apart by. */
  type: 'token.refused'
  /** What the client was told, by its status. */
  code: AuthErrorCode
  /** Why the login was refused (`invalid_credentials`); the client is not told. */
  reason?: LoginRefusal
  /** The account that the address belongs to, where there is one. */
  accountId?: string
}

/** A login was refused because a budget of failed ones is spent (`429`). */
export interface TokenThrottledEvent extends EventBase {
  /** What events are told apart by. */
  type: 'token.throttled'
  /** Always the same: `429`. */
  code: 'too_many_attempts'
}

/** A login was refused because too many wait for their passwords to be checked (`503`). */
export interface TokenOverloadedEvent extends EventBase {
  /** What events are told apart by. */
  type: 'token.overloaded'
  /** Always the same: `503`. */
  code: 'overloaded'
}

/** The guard refused a request. */
export interface BearerRefusedEvent extends EventBase {
  /** What events are told apart by. */
  type: 'bearer.refused'
  /** What the client was told, by status and challenge. */
  code: AuthErrorCode
  /** Why the token was refused (`invalid_token`); the client is told only of `expired`. */
  reason?: TokenRefusal
  /** Whose token it was, where it could be verified. */
  accountId?: string
  /** The token's `jti`, where its signature was good. */
  tokenId?: string
}

/** One of the host's parts failed or gave no answer in time. */
export interface DependencyFailedEvent extends EventBase {
  /** What events are told apart by. */
  type: 'dependency.failed'
  /** Which part. */
  dependency: Dependency
  /** Whether the request was answered `503` for it. If not, the request went on, and has an event of its own. */
  refused: boolean
  /** What the part threw. It is the host's own error: what it holds is the host's affair. */
  error: unknown
}

/**
 * What there is to tell an audit log or a metric. Every token call has exactly one event that says how it ended. Never a
 * token, a password or a hash.
 */
export type AuthEvent =
  | TokenIssuedEvent
  | TokenRefusedEvent
  | TokenThrottledEvent
  | TokenOverloadedEvent
  | BearerRefusedEvent
  | DependencyFailedEvent

/** The `onEvent` option. What it throws or rejects with is dropped: an observer never harms a request. */
export type AuthObserver = (event: AuthEvent) => unknown

/** Whom an event is about. */
export type EventSubject = Pick<EventBase, 'address' | 'email'>

/** An event less what the emitter adds. */
type Told<E> = E extends AuthEvent ? Omit<E, keyof EventBase> : never

export type Emit = (subject: EventSubject, event: Told<AuthEvent>) => void

export function emitter(observer: AuthObserver = warnOnce()): Emit {
  return (subject, event) => tell(observer, { ...event, ...subject, time: new Date() } as AuthEvent)
}

/** Tells an observer. What it throws or rejects with is dropped: things go on whatever it does. */
export function tell<T>(observer: (told: T) => unknown, told: T): void {
  try {
    Promise.resolve(observer(told)).catch(() => {})
  } catch {
    // Dropped.
  }
}

/** Where nobody observes: a warning of the process. */
export function warn(message: string): void {
  process.emitWarning(message, 'ExpressTokenEndpointWarning')
}

/** Without an observer a failing part would answer `503` and leave no trace: the first failure of each is a process warning. */
function warnOnce(): AuthObserver {
  const told = new Set<Dependency>()
  return (event) => {
    if (event.type !== 'dependency.failed' || told.has(event.dependency)) return
    told.add(event.dependency)
    warn(`${event.dependency} failed: ${String(event.error)}. Set onEvent to be told of every failure`)
  }
}

/** Refusals of the token call that have a type of event to themselves. */
const TOKEN_EVENTS: Partial<Record<AuthErrorCode, AuthEvent['type']>> = {
  too_many_attempts: 'token.throttled',
  overloaded: 'token.overloaded',
}

/** The event that tells of a refusal by the token call or by the guard. */
export function refusalEvent(by: 'token' | 'bearer', error: AuthError): Told<AuthEvent> {
  const { code, reason, accountId, tokenId, dependency } = bare(error)
  if (dependency) return { type: 'dependency.failed', dependency, refused: true, error: error.cause }
  const type = (by === 'token' && TOKEN_EVENTS[code]) || `${by}.refused`
  const about = { ...(reason && { reason }), ...(accountId && { accountId }), ...(tokenId && { tokenId }) }
  return { type, code, ...about } as Told<AuthEvent>
}
