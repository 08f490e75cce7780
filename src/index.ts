export {
  type Account,
  type AccountAndUser,
  type AccountLookup,
  type AccountStore,
  type AccountStoreOption,
  type CreateContext,
  type LookUpContext,
  type LookUpRequest,
  type LookUpResult,
  type MemoryAccount,
  memoryAccounts,
  type NewAccount,
  type UserOf,
} from './accounts/account.js'
export type { AuthGuardOptions, AuthOptions, AuthPaths } from './auth/auth-options.js'
export type { AuthSignIn, AuthSignInDetails, SignedIn } from './auth/auth-sign-in.js'
export { type Auth, type AuthDescription, createAuth } from './auth/create-auth.js'
export { type TokenRouterOptions, tokenRouter } from './auth/token-router.js'
export type {
  CodeStore,
  Codes,
  NewCode,
  StoredCode,
  TakenCode,
} from './codes/codes.js'
export { AuthError, isAuthError, type Problem } from './errors/auth-error.js'
export type {
  AuthErrorCode,
  Dependency,
  HookOption,
  LimitName,
  LoginRefusal,
  PasswordRefusal,
  RefreshRefusal,
  TokenRefusal,
} from './errors/codes.js'
export { SignInRefusal, type SignInRefusalOptions } from './errors/sign-in-refusal.js'
export type {
  AccountCreatedEvent,
  AccountRemovedEvent,
  AddressChangedEvent,
  ApiKeyCreatedEvent,
  ApiKeyRemovedEvent,
  AuthEvent,
  AuthObserver,
  BearerRefusedEvent,
  DependencyFailedEvent,
  FactorAddedEvent,
  FactorRemovedEvent,
  PasswordChangedEvent,
  SessionEnd,
  SessionEndedEvent,
  SessionRefreshedEvent,
  SessionStartedEvent,
  TokenIssuedEvent,
  TokenOverloadedEvent,
  TokenRefusedEvent,
  TokenThrottledEvent,
} from './events/events.js'
export type { FactorStore, StoredFactor } from './factors/factor-store.js'
export type { ApiKeysOptions } from './features/api-keys.js'
export type { ChangeAddressOptions } from './features/change-address.js'
export type { ChangePasswordOptions } from './features/change-password.js'
export type { DeletionOptions } from './features/deletion.js'
export { type JwksRouterOptions, jwksRouter } from './features/keys.js'
export type { PasswordResetOptions } from './features/password-reset.js'
export type {
  OldRefreshCookie,
  OldRefreshToken,
  OldRefreshTokenCall,
  OldRefreshTokensOptions,
} from './features/refresh/old-refresh-options.js'
export type { HostFactors, SecondFactorName, SecondFactorOptions } from './features/second-factor.js'
export type { SignInByMailOptions } from './features/sign-in-by-mail.js'
export type { SignUpFields, SignUpOptions } from './features/sign-up.js'
export type { TicketOptions } from './features/tickets.js'
export type { TokenFrom } from './guard/bearer-header.js'
export { type CloseWhenEndedOptions, closeWhenEnded } from './guard/close-when-ended.js'
export type { GuardedRequest } from './guard/guard.js'
export {
  type AuthenticatedRequest,
  authOf,
  type BearerGuard,
  requireBearer,
} from './guard/require-bearer.js'
export type { RequireBearerOptions } from './guard/require-bearer-options.js'
export type { Allow, RevocationCheck } from './guard/steps.js'
export type { HostOptions } from './http/host-options.js'
export type { RefusalBody, Refuse } from './http/refuse.js'
export type { RefreshMode } from './http/responses.js'
export type { LoginLimit } from './limits/limit.js'
export { createLimits, type Limits, type LimitsOptions } from './limits/limits.js'
export type { Limiter, LimiterOptions } from './limits/shared-limit.js'
export type { BeforeSignIn, CheckedSignIn, SignInMethod, SignInTerms } from './login/before-sign-in.js'
export type { CredentialsOptions } from './login/credentials-options.js'
export type { Login, LoginOrigin, LoginResult } from './login/login-for-host.js'
export type { LoginOptions } from './login/login-options.js'
export type { Credentials, ExtraFields } from './login/read-credentials.js'
export type { RefreshCookieOptions } from './login/refresh-cookie-options.js'
export type { RefreshChoice, RefreshOptions } from './login/refresh-mode.js'
export type { TenantOf } from './login/steps.js'
export type { IssuedResponse } from './login/token-settings.js'
export type { CodeMail, CodeMailKind, Mail, MailKind, NoticeKind, NoticeMail, SendMail } from './mail/mail.js'
export type { Defer } from './mail/mailer.js'
export type { Clock, Duration } from './options/checks.js'
export type { DecryptingSecret, Secret } from './options/secret.js'
export type { HashQueueLoad } from './passwords/hash-queue.js'
export { type Argon2idOptions, argon2id } from './passwords/hashers/argon2id.js'
export { type BcryptOptions, bcrypt } from './passwords/hashers/bcrypt.js'
export { type FirebaseScryptOptions, firebaseScrypt } from './passwords/hashers/firebase-scrypt.js'
export type { Hasher } from './passwords/hashers/hasher.js'
export { pbkdf2 } from './passwords/hashers/pbkdf2.js'
export { scrypt } from './passwords/hashers/scrypt.js'
export { createPasswords, type Passwords } from './passwords/passwords.js'
export type { ForbiddenCheck, PasswordsOptions } from './passwords/passwords-options.js'
export type { RefreshTimes } from './sessions/refresh/refresh-options.js'
export type { FoundSession, NewSession, Session, SessionChange, SessionStore } from './sessions/session.js'
export type { SessionOwner, Sessions } from './sessions/sessions.js'
export { memoryStore } from './store/memory-store.js'
export type { Store, WholeStore } from './store/store.js'
export type { Algorithm, KeyPairAlgorithm, SecretAlgorithm } from './tokens/algorithms/algorithms.js'
export type { IdTokenVerifier, IdTokenVerifierOptions } from './tokens/id-token-verifier.js'
export type { VerifiedIdToken } from './tokens/jwt/id-token-claims.js'
export type { IssuedToken, TokenSubject } from './tokens/jwt/issue-token.js'
export type { AccountIdOf, ScopesOf } from './tokens/jwt/provider-claims.js'
export { discoverKeys } from './tokens/keys/discover-keys.js'
export type { KeysFetch, KeysResponse } from './tokens/keys/fetch-text.js'
export type { KeyMaterial, SecretMaterial } from './tokens/keys/key-material.js'
export type {
  HostSign,
  PrivateTokenKey,
  PublicJwk,
  PublicTokenKey,
  RemoteSigningKey,
  SecretTokenKey,
  TokenKey,
} from './tokens/keys/key-ring.js'
export { type RemoteKeys, remoteKeys } from './tokens/keys/remote-keys.js'
export type { RemoteKeysOptions } from './tokens/keys/remote-keys-options.js'
export { type OldTokensOptions, oldTokens } from './tokens/old-tokens.js'
export type { JwtVerifierOptions, TokenIssuerOptions, TokenVerifierOptions } from './tokens/token-options.js'
export type { CustomToken, CustomTokenVerifier, TokenVerifier } from './tokens/token-verifier.js'
export {
  createTokenIssuer,
  createTokenVerifier,
  type KeyVerifier,
  type TokenIssuer,
} from './tokens/tokens.js'
export { type ClaimsCheck, claimsOf, type PrivateClaims, type VerifiedToken } from './tokens/verified-token.js'
