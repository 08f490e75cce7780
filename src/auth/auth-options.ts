import type { Request } from 'express'
import type { Account, AccountLookup, AccountStoreOption, LookUpResult } from '../accounts/account.js'
import { findByIdOption } from '../accounts/find-account.js'
import type { Codes } from '../codes/codes.js'
import { warnOnce } from '../events/warnings.js'
import { KEYS_PATH } from '../features/keys.js'
import { TOKEN_PATH } from '../features/sign-in.js'
import type { RequireBearerOptions } from '../guard/require-bearer-options.js'
import { hostAliases } from '../http/host-options.js'
import { type LoginOptions, loginAliases, loginSchema } from '../login/login-options.js'
import { type RefreshChoice, type RefreshRoutes, refreshChoice } from '../login/refresh-mode.js'
import { type RespondOptions, respondOption } from '../login/token-settings.js'
import { func, text, withMethods } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { bare, isPlainObject, memberOf } from '../options/values.js'
import { refreshStepsOf } from '../sessions/internals.js'
import type { NewSession } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import { sessionsOption } from '../sessions/sessions-option.js'
import type { TokenIssuerOptions } from '../tokens/token-options.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'

const CALLER = 'createAuth'

/** The paths of `auth.router`, below its mount point and without patterns. */
export interface AuthPaths {
  /** The token endpoint. Refresh and sign-out are below it. Default `/api/v2013/authentication/token`. */
  token?: string | undefined
  /** The user's own sessions, where the app has `sessions`. Default `/sessions`. */
  sessions?: string | undefined
  /** The public keys, where the app has key pairs. Default `/.well-known/jwks.json`. */
  keys?: string | undefined
}

/** The options of `createAuth`: those of its login, its issuer and its guards, and its own. */
export interface AuthOptions<A extends LookUpResult = Account>
  extends TokenIssuerOptions,
    Omit<LoginOptions<A>, 'accounts' | 'timeout'>,
    RespondOptions<A>,
    Pick<RequireBearerOptions, 'isRevoked' | 'realm' | 'scheme' | 'tokenFrom'> {
  /** Finds the accounts: a function `(email) => account`, or a store. Guards look accounts up where the store has `findById`. */
  accounts: AccountLookup<A> | AccountStoreOption<A>
  /**
   * The sessions of the app, as `createSessions` returns them. The session of each token is stored after `respond`, and a token whose
   * session could not be stored is not sent (`503`). Default: no sessions.
   */
  sessions?: Sessions | undefined
  /**
   * Returns the name of the device for the list of sessions, for example from a header of the request. It is cut to 64 characters, and
   * loses control characters. Needs `sessions`. Default: no name.
   */
  sessionLabel?: ((req: Request) => Label | Promise<Label>) | undefined
  /**
   * Keeps users signed in: the router then has `POST` `/refresh` and `/sign-out` below the path of the token endpoint. `'cookie'` for pages,
   * `'body'` for mobile apps and scripts, or a function of the request, whose `undefined` means a client without refresh. Needs `sessions`
   * with their option `refresh`, and `accounts` with `findById`. Default: no refresh tokens.
   */
  refresh?: RefreshChoice | undefined
  /** Codes that work once, as `createCodes` returns them: `auth.codes`. Default: no codes. */
  codes?: Codes | undefined
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

/** @inline */
type Label = NewSession['label']

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
const ISSUER = ['issuer', 'audience', 'keys', 'clockTolerance', 'cache', 'clientId', 'lifetime', 'clock'] as const
const GUARD = ['isRevoked', 'realm', 'scheme', 'tokenFrom'] as const

type Given = (typeof ISSUER | typeof GUARD)[number]
const given = Object.fromEntries([...ISSUER, ...GUARD].map((name) => [name, asGiven])) as Record<Given, Check<unknown>>

const schema = {
  ...given,
  ...loginSchema,
  respond: respondOption,
  sessions: optional(sessionsOption),
  sessionLabel: optional(func<NonNullable<AuthOptions['sessionLabel']>>('a function')),
  refresh: refreshChoice,
  codes: optional(
    withMethods<Codes>('what createCodes() returned', ['create', 'take', 'removeAll'], (value) =>
      isPlainObject(value) && 'add' in value ? 'Pass the store to createCodes() first' : '',
    ),
  ),
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
  keys: 'secret privateKey publicKey',
  lifetime: 'expiresIn ttl',
  alsoAccept: 'oldTokens',
})

export type AuthSettings = ReturnType<typeof readAuthOptions>

/** Reads the options, and returns those of the issuer and of the guards as they were given. */
export function readAuthOptions<A extends LookUpResult>(options: AuthOptions<A>) {
  const read = readOptions<AuthOptions<A>, typeof schema>(CALLER, options, schema, aliases)
  const pick = (...names: string[]): object =>
    bare(Object.fromEntries(names.map((name) => [name, memberOf(Object(options), name)])))
  return {
    read,
    ofIssuer: pick(...ISSUER, 'timeout') as TokenIssuerOptions,
    ofGuards: pick(...GUARD, 'sessions', 'onEvent', 'refuse', 'timeout') as GuardOptions,
    store: storeIn(options.accounts),
  }
}

type GuardOptions = Omit<RequireBearerOptions, 'tokens'>

/** Returns the accounts where guards and refreshes can look them up by their id. */
function storeIn(accounts: unknown): NonNullable<RequireBearerOptions['accounts']> | undefined {
  return typeof memberOf(Object(accounts), 'findById') === 'function' ? (accounts as never) : undefined
}

/** Returns what the routes of refresh tokens need, where the app has them. */
export function refreshRoutesIn({ read, store }: AuthSettings, issuer: string): RefreshRoutes | undefined {
  const { refresh: modeOf, sessions } = read
  const refreshSteps = sessions && refreshStepsOf(sessions)
  if (!modeOf) {
    if (refreshSteps) warnOnce('unusedRefresh')
    return undefined
  }
  if (!refreshSteps)
    throw misuse(
      `${CALLER}: option "refresh" needs "sessions" that can be refreshed. Pass createSessions(store, { refresh: { secret } })`,
    )
  if (!store)
    throw misuse(
      `${CALLER}: option "refresh" needs "accounts" with "findById", because each refresh looks the account up by its id`,
    )
  return { refreshSteps, issuers: sessions.issuers ?? [issuer], modeOf, findById: findByIdOption(store) }
}
