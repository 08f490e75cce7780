import type { Request } from 'express'
import type { Account } from '../accounts/account.js'
import { type FindById, findByIdOption } from '../accounts/find-account.js'
import type { UserOf } from '../accounts/request-user.js'
import { warnOnce } from '../events/warnings.js'
import { type HostOptions, hostAliases, hostSchema } from '../http/host-options.js'
import { ENDPOINTS } from '../http/responses.js'
import { func } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { plainPath } from '../options/plain-path.js'
import {
  aliasesOf,
  type Check,
  type Checked,
  InvalidOption,
  named,
  optional,
  readOptions,
} from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { refreshingOf } from '../sessions/refresh/refreshing.js'
import type { NewSession } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import { sessionsOption } from '../sessions/sessions-option.js'
import { tokenIssuer } from '../tokens/issuer-option.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import type { CredentialsOptions } from './credentials-options.js'
import { choiceAliases, choiceSchema, type LoginChoice, loginIn } from './login-choice.js'
import { type RefreshChoice, type RefreshRoutes, refreshChoice } from './refresh-mode.js'

/** The facts of an issued token for the option `respond`. */
export interface IssuedResponse<A extends Account = Account> {
  /** The token's text. */
  token: string
  /** The token's own `exp`, to the second. */
  expiresAt: Date
  /** The object that your store returned, without its password hash, or its member `user`. */
  account: UserOf<A>
  /** The request. */
  req: Request
}

/** The options of `tokenRouter`. Exactly one of `accounts` and `logIn` is required. */
export interface TokenRouterOptions<A extends Account = Account>
  extends HostOptions,
    CredentialsOptions,
    LoginChoice<A> {
  /** Issues the tokens: the result of `createTokenIssuer`. */
  tokens: TokenIssuer
  /** The path of the endpoint below the router's mount point, without patterns. Default `/api/v2013/authentication/token`. */
  path?: string | undefined
  /**
   * Returns the JSON object of the response, for clients that cannot be changed. The status stays 200, and the headers stay. Default:
   * `authenticationToken` and `expiration`.
   */
  respond?: ((issued: IssuedResponse<A>) => object | Promise<object>) | undefined
  /**
   * The sessions of the app, as `createSessions` returns them. The session of each token is stored after `respond`, and a token whose
   * session could not be stored is not sent (`503`). Default: no sessions.
   */
  sessions?: Sessions | undefined
  /**
   * Returns the name of the device for the list of sessions, for example from a header of the request. It is cut to 64 characters, and
   * loses control characters. Default: no name.
   */
  sessionLabel?: ((req: Request) => Label | Promise<Label>) | undefined
  /**
   * Keeps users signed in: the router then has `POST` `/refresh` and `/sign-out` below `path`. `'cookie'` for pages, `'body'` for mobile
   * apps and scripts, or a function of the request, whose `undefined` means a client without refresh. Needs `sessions` with their option
   * `refresh`, and `accounts` with `findById`. Default: no refresh tokens.
   */
  refresh?: RefreshChoice | undefined
}

/** @inline */
type Label = NewSession['label']

const schema = {
  tokens: tokenIssuer,
  path: optional(plainPath, ENDPOINTS.token.path),
  respond: optional(func<NonNullable<TokenRouterOptions['respond']>>('a function')),
  sessions: optional(sessionsOption),
  sessionLabel: optional(func<NonNullable<TokenRouterOptions['sessionLabel']>>('a function')),
  refresh: refreshChoice,
  ...choiceSchema,
  ...hostSchema,
}

const ofIssuer = (option: string) => `Pass "${option}" to createTokenIssuer(), and the issuer as "tokens"`

const aliases = aliasesOf({
  ...hostAliases,
  ...choiceAliases,
  tokens: 'issuer',
  [ofIssuer('lifetime')]: 'lifetime expiresIn ttl',
  [ofIssuer('keys')]: 'keys secret secretOrKey privateKey algorithm algorithms',
})

/** The settings of a router, with its login. */
export type TokenRouterSettings = ReturnType<typeof readTokenRouterOptions>

export function readTokenRouterOptions<A extends Account>(options: TokenRouterOptions<A>) {
  const read = readOptions<TokenRouterOptions<A>, typeof schema>('tokenRouter', options, schema, aliases)
  if (read.sessionLabel && !read.sessions) throw misuse('tokenRouter: option "sessionLabel" needs "sessions"')
  const refresh = read.refresh && refreshRoutes(read, read.refresh)
  if (!refresh && read.sessions && refreshingOf(read.sessions)) warnOnce('unusedRefresh')
  return { ...read, refresh, ...loginIn('tokenRouter', read, () => Number(read.tokens.now()), refresh !== undefined) }
}

/** Each refresh looks the account of its session up. */
const storeForRefresh: Check<FindById> = (value) => {
  if (typeof memberOf(Object(value), 'findById') === 'function') return findByIdOption(value)
  throw new InvalidOption('a store with "findById", because each refresh looks the account up by its id')
}

/** Requires what a refresh needs. */
function refreshRoutes(
  { tokens, sessions, accounts }: Pick<Checked<typeof schema>, 'tokens' | 'sessions' | 'accounts'>,
  modeOf: RefreshRoutes['modeOf'],
): RefreshRoutes {
  const refreshing = sessions && refreshingOf(sessions)
  if (!refreshing) {
    throw misuse(
      'tokenRouter: option "refresh" needs "sessions" that can be refreshed. Pass createSessions(store, { refresh: { secret } })',
    )
  }
  return {
    refreshing,
    issuers: sessions.issuers ?? [tokens.issuer],
    modeOf,
    findById: named('tokenRouter: option "accounts" with "refresh"', storeForRefresh, accounts),
  }
}
