import type { Account, LookUpResult } from '../accounts/account.js'
import { findByIdOption } from '../accounts/find-account.js'
import { noteSecret } from '../events/shared-secrets.js'
import { assertNeeds } from '../features/feature.js'
import { FEATURES } from '../features/features.js'
import { KEYS_PATH } from '../features/keys.js'
import { type RefreshFeatureOptions, refreshOptions } from '../features/refresh/refresh.js'
import { type SessionsOptions, sessionsOptions } from '../features/sessions.js'
import { type SignInOptions, signInOptions, TOKEN_PATH } from '../features/sign-in.js'
import type { RequireBearerOptions } from '../guard/require-bearer-options.js'
import { hostAliases } from '../http/host-options.js'
import { loginAliases } from '../login/login-options.js'
import { text } from '../options/checks.js'
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
  /** The public keys, where the app has key pairs. Default `/.well-known/jwks.json`. */
  keys?: string | undefined
}

/** The options of `createAuth`: those of its login, its issuer and its guards, and its own. */
export interface AuthOptions<A extends LookUpResult = Account>
  extends Omit<TokenIssuerOptions, 'keys'>,
    SignInOptions<A>,
    SessionsOptions,
    RefreshFeatureOptions,
    Pick<RequireBearerOptions, 'isRevoked' | 'realm' | 'scheme' | 'tokenFrom'> {
  /**
   * The store of the app: `memoryStore()`, one of a database, or your own object with `sessions`, `codes` or both. The session of each token
   * is stored after `respond`, and a token whose session could not be stored is not sent (`503`). Default: no sessions and no codes.
   */
  store?: Partial<Store> | undefined
  /** The keys of the tokens, as for `createTokenIssuer`. Default: HS256 with a key of `secret`. */
  keys?: TokenIssuerOptions['keys'] | undefined
  /**
   * Verifiers of further tokens for all guards, such as `oldTokens`: the list after the app's own issuer in `tokens` of `requireBearer`. At
   * most
   * 31. Default: none.
   */
  alsoAccept?: readonly CustomTokenVerifier[] | undefined
  /** The paths of the router. Default: `/api/v2013/authentication/token`, `/sessions` and `/.well-known/jwks.json`. */
  paths?: AuthPaths | undefined
  /**
   * The path at which you mount `auth.router`, as browsers see it, for example `/api`. `auth.signIn` needs it for the cookie with the refresh
   * token. Default: the router has no mount path.
   */
  mountPath?: string | undefined
}

/** The options of `auth.guard`: those of `requireBearer` that a route chooses, and `ticket`. */
export interface AuthGuardOptions<A extends LookUpResult = Account> extends RouteOptions<A> {
  /**
   * Also admits a ticket of `auth.ticket` in the query member `ticket`. Its `req.auth.claims` are only `path`, `method`, `auth_time` and
   * the `act` of an administrator. Default false.
   */
  ticket?: boolean | undefined
}

/** @inline */
type RouteOptions<A extends LookUpResult> = Pick<
  RequireBearerOptions<A>,
  | 'scope'
  | 'anyScope'
  | 'signedInWithin'
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
  sessions: optional(plainPath, '/sessions'),
  keys: optional(plainPath, KEYS_PATH),
}

const pathsOption: Check<Required<Record<keyof AuthPaths, string>>> = (value) =>
  readOptions<AuthPaths, typeof pathSchema>(
    'createAuth: option "paths"',
    checkThat<AuthPaths>("an object of paths, like { token: '/login' }", isPlainObject)(value),
    pathSchema,
    { jwks: 'keys', login: 'token', signIn: 'token' },
  )

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
  store: optional(storeOption),
  paths: optional(pathsOption, pathsOption({})),
  alsoAccept: optional(
    checkThat<readonly CustomTokenVerifier[]>('a list of verifiers, like [oldTokens(…)]', Array.isArray),
    [],
  ),
  mountPath: optional(text('a path like "/api", without a slash at its end', /^(\/[^/?#\s]+)*$/), ''),
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
  for (const secret of read.secret ?? []) noteSecret('secret', secret)
  for (const feature of Object.values(FEATURES)) assertNeeds(CALLER, { ...read, accounts: options.accounts }, feature)
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
      secrets: read.secret ?? [],
      findById: findByIdOption(options.accounts),
    },
  }
}

type GuardOptions = Omit<RequireBearerOptions, 'tokens'>

/** Returns the accounts where guards and refreshes can look them up by their id. */
function lookUpsIn(accounts: unknown): NonNullable<RequireBearerOptions['accounts']> | undefined {
  return typeof memberOf(Object(accounts), 'findById') === 'function' ? (accounts as never) : undefined
}
