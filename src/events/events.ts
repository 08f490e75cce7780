import type {
  AuthErrorCode,
  Dependency,
  HookOption,
  HostCode,
  LimitName,
  LoginRefusal,
  RefreshRefusal,
  TokenRefusal,
} from '../errors/codes.js'

export interface EventBase {
  /** The time of the event. */
  time: Date
  /** The client's address, from `req.ip`. Express's setting `trust proxy` determines it. */
  address: string | undefined
  /** The e-mail address as the client sent it. Only on events of the token endpoint, and only with `emailInEvents`. */
  email?: string
  /** The tenant of the login, as the option `tenant` returns it. Only on events of the token endpoint, and only with that option. */
  tenant?: string
}

/** A token was issued. */
export interface TokenIssuedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.issued'
  /** The account that the token was issued to (`sub`). */
  accountId: string
  /** The administrator who acts as the account (`act`). Only of `auth.signIn` with `actor`. */
  actorId?: string
  /** The issuer of the administrator's token, which says whose id `actorId` is. */
  actorIssuer?: string
  /** The token's `jti`. */
  tokenId: string
  /** The session that the token names (`sid`). Only with refresh, and with `actor` where the app has sessions. */
  sessionId?: string
  /** The token's `exp`, as sent to the client. */
  expiresAt: Date
}

/** The token endpoint, or its path for refresh or sign-out, refused a request: it was malformed, or the login or the refresh failed. */
export interface TokenRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.refused'
  /**
   * The code of the refusal, which determines the status of the response. Of a `SignInRefusal`, its own code. `sign_in_refused` for an
   * error of `beforeSignIn` that your error handler receives.
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
  /** The limit that is used up. Absent where `beforeSignIn` has thrown the refusal. */
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
 * The reason for the end of a session. `signed_out`: by itself, or by a sign-in that replaces its refresh cookie. `ended`: from another session, or by the host. `others`: all except
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
  /** The option whose function failed. Only if the dependency is `hook`. */
  option?: HookOption
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
