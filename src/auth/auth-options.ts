import type { Account, AccountLookup, AccountStoreOption } from '../accounts/account.js'
import type { RequireBearerOptions } from '../guard/require-bearer-options.js'
import { hostAliases } from '../http/host-options.js'
import { ENDPOINTS } from '../http/responses.js'
import { choiceAliases } from '../login/login-choice.js'
import type { TokenRouterOptions } from '../login/token-router-options.js'
import { text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { bare, isPlainObject } from '../options/values.js'
import type { TokenIssuerOptions } from '../tokens/token-options.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'

/** The paths of `auth.router`, below its mount point and without patterns. */
export interface AuthPaths {
  /** The token endpoint. Refresh and sign-out are below it. Default `/api/v2013/authentication/token`. */
  token?: string | undefined
  /** The user's own sessions, where the app has `sessions`. Default `/sessions`. */
  sessions?: string | undefined
  /** The public keys, where the app has key pairs. Default `/.well-known/jwks.json`. */
  keys?: string | undefined
}

type FromRouter =
  | 'respond'
  | 'sessions'
  | 'sessionLabel'
  | 'refresh'
  | 'bodyLimit'
  | 'allowedOrigins'
  | 'extraFields'
  | 'credentials'
  | 'beforeSignIn'
  | 'tenant'
  | 'passwords'
  | 'limits'
  | 'emailInEvents'

/** The options of `createAuth`: those of the parts that it makes. */
export interface AuthOptions<A extends Account = Account>
  extends TokenIssuerOptions,
    Pick<TokenRouterOptions<A>, FromRouter>,
    Pick<RequireBearerOptions, 'isRevoked' | 'realm' | 'scheme' | 'tokenFrom' | 'onEvent' | 'refuse'> {
  /** Finds the accounts: a function `(email) => account`, or a store. Guards look accounts up where the store has `findById`. */
  accounts: AccountLookup<A> | AccountStoreOption<A>
  /**
   * Verifiers of further tokens for all guards, such as `oldTokens`: the list after the app's own issuer in `tokens` of `requireBearer`. At
   * most
   * 31. Default: none.
   */
  alsoAccept?: readonly CustomTokenVerifier[] | undefined
  /** The paths of the router. Default: those of the parts. */
  paths?: AuthPaths | undefined
  /**
   * The path at which you mount `auth.router`, as browsers see it, for example `/api`. `auth.signIn` needs it for the cookie with the refresh
   * token. Default: the router has no mount path.
   */
  mountPath?: string | undefined
}

/** The options of `auth.guard`: those of `requireBearer` that a route chooses, and `ticket`. */
export interface AuthGuardOptions<A extends Account = Account> extends RouteOptions<A> {
  /**
   * Also admits a ticket of `auth.ticket` in the query member `ticket`. Its `req.auth.claims` are only `path`, `method`, `auth_time` and
   * the `act` of an administrator. Default false.
   */
  ticket?: boolean | undefined
}

/** @inline */
type RouteOptions<A extends Account> = Pick<
  RequireBearerOptions<A>,
  'scope' | 'anyScope' | 'signedInWithin' | 'optional' | 'allow' | 'realm' | 'scheme' | 'tokenFrom' | 'refuse'
>

const pathSchema = {
  token: optional(plainPath, ENDPOINTS.token.path),
  sessions: optional(plainPath, '/sessions'),
  keys: optional(plainPath, ENDPOINTS.keys.path),
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

/** The options of each part. */
const LOGIN = [
  'accounts',
  'passwords',
  'limits',
  'extraFields',
  'tenant',
  'beforeSignIn',
  'emailInEvents',
  'refuse',
] as const
const ROUTER = [
  'respond',
  'sessions',
  'sessionLabel',
  'refresh',
  'bodyLimit',
  'allowedOrigins',
  'credentials',
  'refuse',
] as const
const ISSUER = ['issuer', 'audience', 'keys', 'clockTolerance', 'cache', 'clientId', 'lifetime'] as const
const GUARD = ['sessions', 'isRevoked', 'realm', 'scheme', 'tokenFrom', 'refuse'] as const
const ALL = ['clock', 'timeout', 'onEvent'] as const

type Name = (typeof LOGIN | typeof ROUTER | typeof ISSUER | typeof GUARD | typeof ALL)[number]
const names: readonly Name[] = [...LOGIN, ...ROUTER, ...ISSUER, ...GUARD, ...ALL]

const schema = {
  ...(Object.fromEntries(names.map((name) => [name, asGiven])) as Record<Name, Check<unknown>>),
  paths: optional(pathsOption, pathsOption({})),
  alsoAccept: optional(
    checkThat<readonly CustomTokenVerifier[]>('a list of verifiers, like [oldTokens(…)]', Array.isArray),
    [],
  ),
  mountPath: optional(text('a path like "/api", without a slash at its end', /^(\/[^/?#\s]+)*$/)),
}

const aliases = aliasesOf({
  ...hostAliases,
  ...choiceAliases,
  keys: 'secret privateKey publicKey',
  lifetime: 'expiresIn ttl',
  alsoAccept: 'oldTokens',
})

/** Reads the options, and returns those of each part. */
export function readAuthOptions<A extends Account>(options: AuthOptions<A>) {
  const read = readOptions<AuthOptions<A>, typeof schema>('createAuth', options, schema, aliases)
  function pick<N extends Name>(...lists: (readonly N[])[]) {
    return bare(Object.fromEntries(lists.flat().map((name) => [name, read[name]]))) as Pick<AuthOptions<A>, N>
  }
  return {
    issuer: pick(ISSUER, ['clock', 'timeout']),
    login: pick(LOGIN, ALL),
    // The router has the observer of the login.
    router: pick(ROUTER, ['timeout']),
    guard: pick(GUARD, ['timeout', 'onEvent']),
    paths: read.paths,
    mountPath: read.mountPath,
    alsoAccept: read.alsoAccept,
  }
}
