export type {
  Account,
  AccountLookup,
  AccountStore,
} from './accounts/account.js'
export type { GateLoad } from './accounts/hash-gate.js'
export { type Argon2idOptions, argon2id, type BcryptOptions, bcrypt, type Hasher } from './accounts/hashers.js'
export type { Limiter, LimiterOptions } from './accounts/limiter.js'
export { type MemoryAccount, memoryAccounts } from './accounts/memory-accounts.js'
export { createPasswords, type Passwords, type PasswordsOptions, type PasswordsPlace } from './accounts/passwords.js'
export {
  type Budget,
  createThrottle,
  type Throttle,
  type ThrottleOptions,
} from './accounts/throttle.js'
export { AuthError, type AuthErrorCode, type Dependency, type LoginRefusal, type TokenRefusal } from './errors.js'
export type {
  AuthEvent,
  AuthObserver,
  BearerRefusedEvent,
  DependencyFailedEvent,
  TokenIssuedEvent,
  TokenOverloadedEvent,
  TokenRefusedEvent,
  TokenThrottledEvent,
} from './events.js'
export type { RequireBearerOptions } from './http/guard-options.js'
export { type JwksRouterOptions, jwksRouter } from './http/jwks-router.js'
export { authOf, type BearerGuard, type GuardedRequest, requireBearer } from './http/require-bearer.js'
export type { RevocationCheck } from './http/second-look.js'
export { type TokenRouterOptions, tokenRouter } from './http/token-router.js'
export type { Clock, Duration } from './options.js'
export type { Algorithm, KeyPairAlgorithm, SecretAlgorithm } from './tokens/algorithms.js'
export type { IssuedToken, TokenSubject } from './tokens/issue.js'
export type { KeyMaterial, SecretMaterial } from './tokens/key-material.js'
export type { PrivateTokenKey, PublicJwk, PublicTokenKey, SecretTokenKey, TokenKey } from './tokens/keys.js'
export { type RemoteKeys, type RemoteKeysOptions, remoteKeys } from './tokens/remote-keys.js'
export type { TokenIssuerOptions, TokenVerifierOptions } from './tokens/token-options.js'
export { createTokenIssuer, createTokenVerifier, type TokenIssuer, type TokenVerifier } from './tokens/tokens.js'
export type { VerifiedToken } from './tokens/verified-token.js'
