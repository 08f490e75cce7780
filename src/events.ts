import type { AuthError, AuthErrorCode, Dependency, LoginRefusal, TokenRefusal } from './errors.js'

interface EventBase {
  /** When it happened. */
  time: Date
  /** The client's address as Express sees it (`req.ip`: mind `trust proxy`). */
  address: string | undefined
}

/** A token was issued. */
export interface TokenIssuedEvent extends EventBase {
  type: 'token.issued'
  accountId: string
  /** The token's `jti`. */
  tokenId: string
  expiresAt: Date
}

/** The token call was refused: the request was malformed, or the login was not good. */
export interface TokenRefusedEvent extends EventBase {
  type: 'token.refused'
  code: AuthErrorCode
  reason?: LoginRefusal
  accountId?: string
}

/** The guard refused a request. */
export interface BearerRefusedEvent extends EventBase {
  type: 'bearer.refused'
  code: AuthErrorCode
  reason?: TokenRefusal
  accountId?: string
  /** The token's `jti`, where its signature was good. */
  tokenId?: string
}

/** One of the host's parts failed or gave no answer in time; the request was answered `503`. */
export interface DependencyFailedEvent extends EventBase {
  type: 'dependency.failed'
  dependency: Dependency
  /** What the part threw. It is the host's own error: what it holds is the host's affair. */
  error: unknown
}

/** What there is to tell an audit log or a metric. Never a token, a password, a hash or an e-mail address. */
export type AuthEvent = TokenIssuedEvent | TokenRefusedEvent | BearerRefusedEvent | DependencyFailedEvent

/** The `onEvent` option. What it throws or rejects with is dropped: an observer never harms a request. */
export type AuthObserver = (event: AuthEvent) => unknown

/** An event less what the emitter adds. */
type Told<E> = E extends AuthEvent ? Omit<E, keyof EventBase> : never

export type Emit = (address: string | undefined, event: Told<AuthEvent>) => void

export function emitter(observer: AuthObserver | undefined): Emit {
  if (!observer) return () => {}
  return (address, event) => {
    try {
      const returned = observer({ ...event, time: new Date(), address } as AuthEvent)
      if (returned instanceof Promise) returned.catch(() => {})
    } catch {
      // Dropped: the request goes on whatever its observer does.
    }
  }
}

/** The event that tells of a refusal. */
export function refusalEvent(type: 'token.refused' | 'bearer.refused', error: AuthError): Told<AuthEvent> {
  const { code, reason, accountId, tokenId, dependency } = error
  if (dependency) return { type: 'dependency.failed', dependency, error: error.cause }
  const about = { code, ...(reason && { reason }), ...(accountId && { accountId }), ...(tokenId && { tokenId }) }
  return { type, ...about } as Told<AuthEvent>
}
