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
  /** Event type, such as `'token.issued'`. */
  type: string
  /** Time of the event, a `Date`. */
  time: Date
  /** Client address, from `req.ip`. Requires a correct `trust proxy`. */
  address: string | undefined
  /** Email address as sent. Only from the token endpoint, with `emailInEvents`. */
  email?: string
  /** Return value of `tenant`. Only from the token endpoint, with this option. */
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
  /** `jti` of the token. Without `refresh`, also its session `id`. */
  tokenId: string
  /** Session `id`, the `sid` in its tokens. Only with `refresh` or `actor`. */
  sessionId?: string
  /** Expiration of the token (`exp`) or session, a `Date`. */
  expiresAt: Date
}

/** The token endpoint, or a path below it, refused a malformed request, a login or a refresh. */
export interface TokenRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.refused'
  /**
   * [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal.
   *
   * Of a `SignInRefusal`, your code, and `sign_in_refused` for an error that your error handler receives.
   */
  code: AuthErrorCode | HostCode
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended. Not sent to the client.
   */
  reason?: LoginRefusal | RefreshRefusal
  /**
   * `id` of the account.
   *
   * That with the e-mail address of the request, if there is one.
   */
  accountId?: string
}

/** A failed-login limit was used up (`429`). */
export interface TokenThrottledEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.throttled'
  /** [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal. */
  code: 'too_many_attempts'
  /** Limit that was reached: `'address'`, `'pair'` or `'account'`. Absent if `beforeSignIn` threw the refusal. */
  limit?: LimitName
}

/** Too many logins were waiting, in progress or abandoned by their clients (`503`). */
export interface TokenOverloadedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.overloaded'
  /** [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal. */
  code: 'overloaded'
}

/** A guard refused a request. */
export interface BearerRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'bearer.refused'
  /**
   * [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal.
   *
   * It determines the status and the challenge.
   */
  code: AuthErrorCode
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended. Not sent to the client.
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
   * `jti` of the token. Without `refresh`, also its session `id`.
   *
   * Only if its signature is valid.
   */
  tokenId?: string
  /**
   * Issuer whose verifier refused the token, or whose keys are unavailable.
   *
   * Absent when `tokens` is a list without the issuer that the token names.
   */
  issuer?: string
}

/** The session for a new token was stored. */
export interface SessionStartedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.started'
  /** `id` of the account. */
  accountId: string
  /**
   * `jti` of the token. Without `refresh`, also its session `id`.
   *
   * Only without the option `refresh`.
   */
  tokenId?: string
  /** Session `id`, the `sid` in its tokens. Only with `refresh` or `actor`. */
  sessionId?: string
  /**
   * Expiration of the token (`exp`) or session, a `Date`.
   *
   * With `refresh`, the session ends later than the token.
   */
  expiresAt: Date
}

/** The token endpoint issued a token for a refresh token. This event replaces `token.issued`. */
export interface SessionRefreshedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.refreshed'
  /** `id` of the account. */
  accountId: string
  /** Session `id`, the `sid` in its tokens. Only with `refresh` or `actor`. */
  sessionId: string
  /** `jti` of the token. Without `refresh`, also its session `id`. */
  tokenId: string
  /** Expiration of the token (`exp`) or session, a `Date`. */
  expiresAt: Date
}

/** The reason for the end of a session. */
export type SessionEnd =
  /** The user signed out, or a sign-in replaced the session's refresh cookie. */
  | 'signed_out'
  /** The user ended one session from a different session, or your code called `end`. */
  | 'ended'
  /** The user ended all other sessions, or your code called `endOthers`. */
  | 'others'
  /** Your code called `endAll`. */
  | 'all'
  /** A new sign-in exceeded `maxPerAccount`, so the oldest session ended. */
  | 'maximum'
  /**
   * A
   * [replaced](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves)
   * refresh token was sent again, so a different client may have a copy.
   */
  | 'reused'
  /** During a refresh, the account was missing, disabled or had a new password or a later `tokensValidAfter`. */
  | 'account'

/** One or more sessions of an account ended. Expiration does not cause this event. */
export interface SessionEndedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.ended'
  /** `id` of the account. */
  accountId: string
  /**
   * [Login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons),
   * [refresh](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) or
   * [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) reason, or
   * why the session ended. Not sent to the client.
   *
   * See {@link SessionEnd}.
   */
  reason: SessionEnd
  /**
   * `jti` of the token. Without `refresh`, also its session `id`.
   *
   * As in `session.started`. Absent for the reasons `others` and `all`.
   */
  tokenId?: string
  /**
   * Session `id`, the `sid` in its tokens. Only with `refresh` or `actor`.
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

/** A user deleted the account. */
export interface AccountRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'account.removed'
  /** `id` of the account. */
  accountId: string
}

/** A user changed the password, or reset it with an emailed code. */
export interface PasswordChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'password.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user confirmed a new address for the account. */
export interface AddressChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'address.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user set up a factor or renewed the recovery codes. */
export interface FactorAddedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.added'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes` or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user or `auth.factors.remove` removed a factor. */
export interface FactorRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.removed'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes` or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user created an API key. */
export interface ApiKeyCreatedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.created'
  /** `id` of the account. */
  accountId: string
  /** `id` of the API key, which does not grant access. `tokenId` in its refusals. */
  keyId: string
}

/** A user removed an API key. */
export interface ApiKeyRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.removed'
  /** `id` of the account. */
  accountId: string
  /** `id` of the API key, which does not grant access. `tokenId` in its refusals. */
  keyId: string
}

/** Your database, Redis or another dependency failed or exceeded `timeout`. */
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
  /** `true` if the request received `503`. `false` if it continued, and a second event reports its outcome. */
  refused: boolean
  /**
   * `id` of the account.
   *
   * Only if its password could not be checked, or it has no address for a mail.
   */
  accountId?: string
  /** Issuer whose verifier refused the token, or whose keys are unavailable. */
  issuer?: string
  /** Error thrown by the dependency, unchanged. */
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
