import type { Account, LookUpResult } from '../accounts/account.js'
import { findByIdOption } from '../accounts/find-account.js'
import { noteSecret } from '../events/shared-secrets.js'
import { type ApiKeysOptions, apiKeysOptions } from '../features/api-keys.js'
import { type ChangeAddressOptions, changeAddressOptions } from '../features/change-address.js'
import { type ChangePasswordOptions, changePasswordOptions } from '../features/change-password.js'
import { type DeletionOptions, deletionOptions } from '../features/deletion.js'
import { assertNeeds } from '../features/feature.js'
import { FEATURES } from '../features/features.js'
import { KEYS_PATH } from '../features/keys.js'
import { type PasskeysFeatureOptions, passkeysOptions } from '../features/passkeys.js'
import { type PasswordResetOptions, passwordResetOptions } from '../features/password-reset.js'
import { type RefreshFeatureOptions, refreshOptions } from '../features/refresh/refresh.js'
import { type SecondFactorOptions, secondFactorOptions } from '../features/second-factor.js'
import { SESSIONS_PATH, type SessionsOptions, sessionsOptions } from '../features/sessions.js'
import { type SignInOptions, signInOptions, TOKEN_PATH } from '../features/sign-in.js'
import { type SignInByMailOptions, signInByMailOptions } from '../features/sign-in-by-mail.js'
import { ACCOUNT_PATH, type SignUpOptions, signUpOptions } from '../features/sign-up.js'
import type { RequireBearerOptions } from '../guard/require-bearer-options.js'
import { hostAliases } from '../http/host-options.js'
import { loginAliases } from '../login/login-options.js'
import { originsOfCookie } from '../login/refresh-cookie-options.js'
import { text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { bare, isPlainObject, memberOf } from '../options/values.js'
import { type Store, storeOption } from '../store/store.js'
import { issuerSchema, type TokenIssuerOptions } from '../tokens/token-options.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'

const CALLER = 'createAuth'

/** The paths of `auth.router`, below its mount point and without patterns. */
export interface AuthPaths {
  /** The token endpoint. Refresh and sign-out are below it. Default `/api/v2013/authentication/token`. */
  token?: string | undefined
  /** The user's own sessions, where the app has a `store`. Default `/sessions`. */
  sessions?: string | undefined
  /** The routes of an account: sign-up, reset and changes. Default `/auth/account`. */
  account?: string | undefined
  /** The public keys, where the app has key pairs. Default `/.well-known/jwks.json`. */
  keys?: string | undefined
}

/** The options of `createAuth`: those of its login, its issuer and its guards, and its own. */
export interface AuthOptions<A extends LookUpResult = Account>
  extends Omit<TokenIssuerOptions, 'keys' | 'timeout'>,
    SignInOptions<A>,
    SessionsOptions,
    SignUpOptions,
    PasswordResetOptions,
    ChangePasswordOptions,
    ChangeAddressOptions,
    DeletionOptions,
    SignInByMailOptions,
    SecondFactorOptions,
    ApiKeysOptions,
    PasskeysFeatureOptions,
    RefreshFeatureOptions,
    Pick<RequireBearerOptions, 'isRevoked' | 'realm' | 'scheme' | 'tokenFrom'> {
  /**
   * [Store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#store) for sessions,
   * codes, and second factors, or some of these. Default: none.
   */
  store?: Partial<Store> | undefined
  /**
   * Signing keys, as in
   * [`createTokenIssuer`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createtokenissueroptions).
   * Default: HS256 with a key derived from `secret`.
   */
  keys?: TokenIssuerOptions['keys'] | undefined
  /**
   * Additional verifiers that all guards use, such as `oldTokens` or [custom
   * verifiers](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#custom-verifiers). Pass
   * at most 31 verifiers with different issuers. Default: `[]`.
   */
  alsoAccept?: readonly CustomTokenVerifier[] | undefined
  /**
   * Endpoint paths relative to the router's mount point. Patterns are not allowed. The refresh and sign-out paths start with the `token`
   * path. Default: `{ token: '/api/v2013/authentication/token', sessions: '/sessions', account: '/auth/account', keys:
   * '/.well-known/jwks.json' }`.
   */
  paths?: AuthPaths | undefined
  /** Public path at which you mount the router, such as `/api`. `auth.signIn` sets the refresh cookie for this path. Default: `''`. */
  mountPath?: string | undefined
}

/** The options of `auth.guard`: those of `requireBearer` that a route chooses, and `ticket`. */
export interface AuthGuardOptions<A extends LookUpResult = Account> extends RouteOptions<A> {
  /**
   * Allows
   * [tickets](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#authticketreq-options) in
   * the query parameter `ticket`. Default: `false`.
   *
   * Its `req.auth.claims` are only `path`, `method`, `auth_time` and the `act` of an administrator.
   */
  ticket?: boolean | undefined
  /**
   * Allows [API keys](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/second-factor.md#api-keys),
   * unless the guard sets `signedInWithin`. Default: `false`.
   */
  apiKeys?: boolean | undefined
}

/** @inline */
type RouteOptions<A extends LookUpResult> = Pick<
  RequireBearerOptions<A>,
  | 'scope'
  | 'anyScope'
  | 'signedInWithin'
  | 'secondFactor'
  | 'acting'
  | 'optional'
  | 'allow'
  | 'realm'
  | 'scheme'
  | 'tokenFrom'
  | 'refuse'
>

const pathSchema = {
  token: optional(plainPath, TOKEN_PATH),
  sessions: optional(plainPath, SESSIONS_PATH),
  account: optional(plainPath, ACCOUNT_PATH),
  keys: optional(plainPath, KEYS_PATH),
}

const pathsOption: Check<Required<Record<keyof AuthPaths, string>>> = (value) =>
  readOptions<AuthPaths, typeof pathSchema>(
    'createAuth: option "paths"',
    checkThat<AuthPaths>("an object of paths, like { token: '/login' }", isPlainObject)(value),
    pathSchema,
    { jwks: 'keys', login: 'token', signIn: 'token' },
  )

const CODE_IS_TAKEN =
  'createAuth: option "extraFields" must not include "code" with "signInByMail", because that route reads the emailed code from "code". Choose a different name, like "otp"'

/** The part that reads the option checks its value. */
const asGiven: Check<unknown> = (value) => value

/** The options of the issuer and of the guards, which read them. */
const { timeout: _, ...ofIssuer } = issuerSchema
const ISSUER = Object.keys(ofIssuer) as (keyof typeof ofIssuer)[]
const GUARD = ['isRevoked', 'realm', 'scheme', 'tokenFrom'] as const

type Given = keyof typeof ofIssuer | (typeof GUARD)[number]
const given = Object.fromEntries([...ISSUER, ...GUARD].map((name) => [name, asGiven])) as Record<Given, Check<unknown>>

const schema = {
  ...given,
  ...signInOptions,
  ...sessionsOptions,
  ...refreshOptions,
  ...signUpOptions,
  ...passwordResetOptions,
  ...changePasswordOptions,
  ...changeAddressOptions,
  ...deletionOptions,
  ...signInByMailOptions,
  ...secondFactorOptions,
  ...apiKeysOptions,
  ...passkeysOptions,
  store: optional(storeOption),
  paths: optional(pathsOption, pathsOption({})),
  alsoAccept: optional(
    checkThat<readonly CustomTokenVerifier[]>('a list of verifiers, like [oldTokens(…)]', Array.isArray),
    [],
  ),
  mountPath: optional(text('a path like "/api", without a trailing slash', /^(\/[^/?#\s]+)*$/), ''),
}

const aliases = aliasesOf({
  ...hostAliases,
  ...loginAliases,
  keys: 'privateKey publicKey',
  store: 'sessions codes',
  lifetime: 'expiresIn ttl',
  alsoAccept: 'oldTokens',
})

export type AuthSettings = ReturnType<typeof readAuthOptions>

/**
 * Reads the options, and returns those of the issuer and of the guards as they were given.
 * @throws TypeError naming the option that is not valid, and for an option whose parts are missing
 */
export function readAuthOptions<A extends LookUpResult>(options: AuthOptions<A>) {
  const read = readOptions<AuthOptions<A>, typeof schema>(CALLER, options, schema, aliases)
  const pick = (...names: string[]): object =>
    bare(Object.fromEntries(names.map((name) => [name, memberOf(Object(options), name)])))
  const sessions = read.store?.sessions
  for (const secret of read.secret?.decrypting ?? []) noteSecret('secret', secret)
  for (const feature of Object.values(FEATURES)) assertNeeds(CALLER, { ...read, accounts: options.accounts }, feature)
  if (read.signInByMail && read.extraFields.includes('code')) throw misuse(CODE_IS_TAKEN)
  return {
    read,
    ofIssuer: pick(...ISSUER, 'timeout') as TokenIssuerOptions,
    ofGuards: bare({
      ...pick(...GUARD, 'onEvent', 'refuse', 'timeout'),
      ...(sessions && { store: { sessions } }),
    }) as GuardOptions,
    lookUps: lookUpsIn(options.accounts),
    refresh: read.refresh && {
      ...read.refresh,
      cookieOrigins: originsOfCookie(read.refresh.cookie, read.allowedOrigins),
      secrets: read.secret?.verifying ?? [],
      findById: findByIdOption(options.accounts),
    },
  }
}

type GuardOptions = Omit<RequireBearerOptions, 'tokens'>

/** Returns the accounts where guards and refreshes can look them up by their id. */
function lookUpsIn(accounts: unknown): NonNullable<RequireBearerOptions['accounts']> | undefined {
  return typeof memberOf(Object(accounts), 'findById') === 'function' ? (accounts as never) : undefined
}
