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
  /** Type of the event, such as `'token.issued'`. */
  type: string
  /** Time of the event, a `Date`. */
  time: Date
  /** Address of the client, from `req.ip`. It is correct only if you set `trust proxy`. */
  address: string | undefined
  /** E-mail address as sent. Only in events of the token endpoint, and only with `emailInEvents`. */
  email?: string
  /** Tenant, as your option `tenant` returns it. Only in events of the token endpoint, and only with that option. */
  tenant?: string
}

/** The token endpoint or `auth.signIn` issued a token. */
export interface TokenIssuedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.issued'
  /** `id` of the account, the token's `sub`. */
  accountId: string
  /** `id` of the administrator who acts as the account, the token's `act`. Only of `auth.signIn` with `actor`. */
  actorId?: string
  /** Issuer of the administrator's token, which says whose id `actorId` is. */
  actorIssuer?: string
  /** `jti` of the token, and `id` of its session without `refresh`. */
  tokenId: string
  /** `id` of the session, the token's `sid`. Only with the option `refresh`, and with `actor` where the app has sessions. */
  sessionId?: string
  /** `exp` of the token, a `Date`. */
  expiresAt: Date
}

/** The token endpoint, or its path for refresh or sign-out, refused a malformed request, a login or a refresh. */
export interface TokenRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.refused'
  /**
   * [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal. Of a
   * [`SignInRefusal`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-in-steps.md#refuse-for-another-reason),
   * your code, and `sign_in_refused` for an error that your error handler receives.
   */
  code: AuthErrorCode | HostCode
  /**
   * Reason for which a [login](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#login-reasons) failed
   * (`invalid_credentials`), or a
   * [refresh token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#refresh-reasons) is
   * invalid (`invalid_refresh_token`). Never sent to the client.
   */
  reason?: LoginRefusal | RefreshRefusal
  /** `id` of the account with this e-mail address, if there is one. */
  accountId?: string
}

/** A failed-login limit is used up (`429`). */
export interface TokenThrottledEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.throttled'
  /** `too_many_attempts`. */
  code: 'too_many_attempts'
  /** The limit: `'address'`, `'pair'` or `'account'`. Absent where `beforeSignIn` has thrown the refusal. */
  limit?: LimitName
}

/** Too many logins wait, are in progress, or were left by their clients (`503`). */
export interface TokenOverloadedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'token.overloaded'
  /** `overloaded`. */
  code: 'overloaded'
}

/** A guard refused a request. */
export interface BearerRefusedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'bearer.refused'
  /**
   * [Code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#codes) of the refusal, which
   * determines the status and the challenge.
   */
  code: AuthErrorCode
  /**
   * Reason for which the [token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/errors.md#token-reasons) is
   * invalid (`invalid_token`). The client learns only of `expired`.
   */
  reason?: TokenRefusal
  /** The token's `sub`. Only if the token itself was valid. */
  accountId?: string
  /** The token's `jti`. Only if its signature is valid. */
  tokenId?: string
  /** Issuer whose verifier refused the token. Absent when `tokens` is a list without the issuer that the token names. */
  issuer?: string
}

/** The session of a new token was stored. */
export interface SessionStartedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.started'
  /** `id` of the account that signed in. */
  accountId: string
  /** `id` of the session, which is the token's `jti`. Only without the option `refresh`. */
  tokenId?: string
  /** `id` of the session, which is `sid` of its tokens. Only with the option `refresh`. */
  sessionId?: string
  /** End of the session, a `Date`: `exp` of the token, or later with `refresh`. */
  expiresAt: Date
}

/**
 * The token endpoint issued a token for a
 * [refresh token](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md). There is no
 * `token.issued` for this token.
 */
export interface SessionRefreshedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.refreshed'
  /** `id` of the account that is signed in. */
  accountId: string
  /** `id` of the session, which is `sid` of its tokens. */
  sessionId: string
  /** `jti` of the new token. */
  tokenId: string
  /** `exp` of the new token, a `Date`. */
  expiresAt: Date
}

/** The reason for the end of a session. */
export type SessionEnd =
  /** The current session, by its token or its refresh token, or by a sign-in that replaces its refresh cookie. */
  | 'signed_out'
  /** One session, from another session of the account, or by your code with `end`. */
  | 'ended'
  /** All other sessions, from one of them, or by your code with `endOthers`. */
  | 'others'
  /** Every session, by your code with `endAll`. */
  | 'all'
  /** The oldest session, by a further sign-in above `maxPerAccount`. */
  | 'maximum'
  /**
   * A refresh token came back that was
   * [replaced earlier](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#tabs-lost-responses-and-thieves),
   * so another client may hold a copy.
   */
  | 'reused'
  /**
   * The session of a refresh, because the account was missing or disabled, its password had changed, or `tokensValidAfter` was later than the sign-in.
   */
  | 'account'

/** One or more sessions of an account have ended. There is no event for a session that expires. */
export interface SessionEndedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'session.ended'
  /** `id` of the account. */
  accountId: string
  /** Reason for the end of the session, as {@link SessionEnd} says. */
  reason: SessionEnd
  /** `id` of the session, as in `session.started`. Absent for the reasons `others` and `all`. */
  tokenId?: string
  /** `id` of the session, as in `session.started`. Absent for the reasons `others` and `all`. */
  sessionId?: string
}

/** A sign-up has created an account. */
export interface AccountCreatedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'account.created'
  /** `id` of the account. */
  accountId: string
}

/** A user has deleted the account. */
export interface AccountRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'account.removed'
  /** `id` of the account. */
  accountId: string
}

/** A password was changed by its user, or reset by a mailed code. */
export interface PasswordChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'password.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user has proved another address, which is now that of the account. */
export interface AddressChangedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'address.changed'
  /** `id` of the account. */
  accountId: string
}

/** A user has set a factor up, or renewed the recovery codes. */
export interface FactorAddedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.added'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes` or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user, or your code with `auth.factors.remove`, has removed a factor. */
export interface FactorRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'factor.removed'
  /** `id` of the account. */
  accountId: string
  /** `totp`, `recovery-codes` or `passkey`. */
  factor: 'totp' | 'recovery-codes' | 'passkey'
}

/** A user has made an API key. */
export interface ApiKeyCreatedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.created'
  /** `id` of the account. */
  accountId: string
  /** `id` of the key, the `tokenId` of its events. It gives no access. */
  keyId: string
}

/** A user has removed an API key. */
export interface ApiKeyRemovedEvent extends EventBase {
  /** Identifies the kind of event. */
  type: 'api-key.removed'
  /** `id` of the account. */
  accountId: string
  /** `id` of the key. */
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
  /** Option whose function failed. Only if the dependency is `hook`. */
  option?: HookOption
  /** `true`: the request got `503`. `false`: the request continued, and a second event reports its end. */
  refused: boolean
  /** `id` of the account whose password could not be checked, or that has no address for a mail. Only on these failures. */
  accountId?: string
  /** Issuer whose keys are unavailable. Only on failures of the keys. */
  issuer?: string
  /** Error that the dependency threw, unchanged. Its content comes from your code. */
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
