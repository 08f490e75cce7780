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

/** The members of all events. */
export interface EventBase {
  /** Event type. */
  type: string
  /** `Date` of the event. */
  time: Date
  /** Client address, from `req.ip`. Requires a correct `trust proxy`. */
  address: string | undefined
  /** The email address that the client sent to the token endpoint. Requires `emailInEvents`. */
  email?: string
  /** Return value of the `tenant` option. */
  tenant?: string
}

/** The token endpoint or `auth.signIn` issued a token. */
export interface TokenIssuedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.issued'
  /** `id` of the account. */
  accountId: string
  /** `id` of the administrator acting as the account (`act` in the token). */
  actorId?: string
  /** Issuer of the administrator's token. */
  actorIssuer?: string
  /** `jti` of the token. Without `refresh`, also the session's `id`. */
  tokenId: string
  /** Session `id` (`sid` in the session's tokens). Only with `refresh` or `actor`. */
  sessionId?: string
  /** `Date` when the token or session expires. */
  expiresAt: Date
}

/** The token endpoint rejected a login, a refresh, or a malformed request. */
export interface TokenRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.refused'
  /**
   * [Error code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes).
   *
   * For a `SignInRefusal`, your code. For an error that your error handler receives, `sign_in_refused`.
   */
  code: AuthErrorCode | HostCode
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons), or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended.
   */
  reason?: LoginRefusal | RefreshRefusal
  /**
   * `id` of the account.
   *
   * The account with the request's email address, if there is one.
   */
  accountId?: string
}

/** A login reached a failed-login limit (`429`). */
export interface TokenThrottledEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.throttled'
  /** [Error code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes). */
  code: 'too_many_attempts'
  /** Limit that the login reached: `'address'`, `'pair'`, or `'account'`. */
  limit?: LimitName
}

/** Too many logins were pending or abandoned (`503`). */
export interface TokenOverloadedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.overloaded'
  /** [Error code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes). */
  code: 'overloaded'
}

/** A guard rejected a request. */
export interface BearerRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'bearer.refused'
  /**
   * [Error code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes).
   *
   * It determines the status and the challenge.
   */
  code: AuthErrorCode
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons), or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended.
   *
   * The client learns only of `expired`.
   */
  reason?: TokenRefusal
  /**
   * `id` of the account.
   *
   * Only if the token itself was valid.
   */
  accountId?: string
  /**
   * `jti` of the token. Without `refresh`, also the session's `id`.
   *
   * Only if its signature is valid.
   */
  tokenId?: string
  /**
   * Issuer whose verifier rejected the token, or whose keys are unavailable.
   *
   * Absent when `tokens` is a list without the issuer that the token names.
   */
  issuer?: string
}

/** Your session store saved a new session. */
export interface SessionStartedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.started'
  /** `id` of the account. */
  accountId: string
  /**
   * `jti` of the token. Without `refresh`, also the session's `id`.
   *
   * Only without the option `refresh`.
   */
  tokenId?: string
  /** Session `id` (`sid` in the session's tokens). Only with `refresh` or `actor`. */
  sessionId?: string
  /**
   * `Date` when the token or session expires.
   *
   * With `refresh`, the session ends later than the token.
   */
  expiresAt: Date
}

/** The token endpoint exchanged a refresh token for a new token. */
export interface SessionRefreshedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.refreshed'
  /** `id` of the account. */
  accountId: string
  /** Session `id` (`sid` in the session's tokens). Only with `refresh` or `actor`. */
  sessionId: string
  /** `jti` of the token. Without `refresh`, also the session's `id`. */
  tokenId: string
  /** `Date` when the token or session expires. */
  expiresAt: Date
}

/** The reason for the end of a session. */
export type SessionEnd =
  /** The user signed out, or a new sign-in replaced the session's refresh cookie. */
  | 'signed_out'
  /** The user ended this session from a different session, or your code called `end`. */
  | 'ended'
  /** The user ended all other sessions, or your code called `endOthers`. */
  | 'others'
  /** Your code called `endAll`. */
  | 'all'
  /** A new sign-in exceeded `maxPerAccount`, so the oldest session ended. */
  | 'maximum'
  /**
   * A client sent a refresh token that was [already
   * replaced](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves).
   */
  | 'reused'
  /** A refresh found that the account was deleted or disabled, or that its password or `tokensValidAfter` had changed. */
  | 'account'

/** One or more of the account's sessions ended before they expired. */
export interface SessionEndedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.ended'
  /** `id` of the account. */
  accountId: string
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons), or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended.
   *
   * See {@link SessionEnd}.
   */
  reason: SessionEnd
  /**
   * `jti` of the token. Without `refresh`, also the session's `id`.
   *
   * As in `session.started`. Absent for the reasons `others` and `all`.
   */
  tokenId?: string
  /**
   * Session `id` (`sid` in the session's tokens). Only with `refresh` or `actor`.
   *
   * As in `session.started`. Absent for the reasons `others` and `all`.
   */
  sessionId?: string
}

/** A sign-up created an account. */
export interface AccountCreatedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'account.created'
  /** `id` of the account. */
  accountId: string
}

/** A user deleted their account. */
export interface AccountRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'account.removed'
  /** `id` of the account. */
  accountId: string
}

/** A user changed or reset their password. */
export interface PasswordChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'password.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user confirmed a new email address. */
export interface AddressChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'address.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user set up a second factor or renewed the recovery codes. */
export interface FactorAddedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.added'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes`, or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user or your code removed a second factor. */
export interface FactorRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.removed'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes`, or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user created an API key. */
export interface ApiKeyCreatedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.created'
  /** `id` of the account. */
  accountId: string
  /** Public `id` of the API key. If a guard rejects the key, `tokenId` contains this `id`. */
  keyId: string
}

/** A user removed an API key. */
export interface ApiKeyRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.removed'
  /** `id` of the account. */
  accountId: string
  /** Public `id` of the API key. If a guard rejects the key, `tokenId` contains this `id`. */
  keyId: string
}

/**
 * A [dependency](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies) failed
 * or exceeded `timeout`.
 */
export interface DependencyFailedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'dependency.failed'
  /**
   * [Dependency](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#dependencies) that
   * failed.
   */
  dependency: Dependency
  /** Option whose function failed, if `dependency` is `hook`. */
  option?: HookOption
  /** `true` if the client received `503`. If `refused` is `false`, the request continued, and a second event reports the outcome. */
  refused: boolean
  /**
   * `id` of the account.
   *
   * Only if the account's password could not be checked, or the account has no email address to send to.
   */
  accountId?: string
  /** Issuer whose verifier rejected the token, or whose keys are unavailable. */
  issuer?: string
  /** Unmodified error from the dependency. */
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
  | AccountCreatedEvent
  | AccountRemovedEvent
  | PasswordChangedEvent
  | AddressChangedEvent
  | FactorAddedEvent
  | FactorRemovedEvent
  | ApiKeyCreatedEvent
  | ApiKeyRemovedEvent
  | DependencyFailedEvent

/** The `onEvent` option. Its errors and rejections are ignored, so an observer never affects a request. */
export type AuthObserver = (event: AuthEvent) => unknown
