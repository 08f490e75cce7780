import type { Request } from 'express'
import type { Account } from '../accounts/account.js'
import { type FindById, storeWithIds } from '../accounts/find-account.js'
import type { UserOf } from '../accounts/request-user.js'
import { func, withMethods } from '../options/checks.js'
import { misuse, type Subject } from '../options/misuse.js'
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
import { isPlainObject, memberOf } from '../options/values.js'
import { bytes } from '../packages/on-first-use.cjs'
import { emitter, refusalReporter } from '../refusals/events.js'
import { ENDPOINTS } from '../refusals/responses.js'
import { warnOnce } from '../refusals/warnings.js'
import { refreshingOf } from '../sessions/refresh/refreshing.js'
import type { NewSession } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import { sessionsOption } from '../sessions/sessions-option.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { type HostOptions, hostSchema } from '../waiting/host-options.js'
import { FIELDS, type FieldNames, fieldsOption } from './body/field-names.js'
import { type Login, loginPortOf, loginWith } from './create-login.js'
import { type LoginOptions, loginAliases, loginSchema, settingsOf } from './login-options.js'
import { LONGEST_CREDENTIALS, type MapBody } from './read-credentials.js'
import { type RefreshChoice, type RefreshRoutes, refreshChoice } from './refresh-mode.js'

/** The options for reading the credentials of a request. */
export interface CredentialsOptions<R = Request> {
  /** The longest request body: a number of bytes, or a string like `'10kb'`. Default 10 kB, at most 1 MB. A longer body causes a `413`. */
  bodyLimit?: number | string | undefined
  /**
   * Origins whose pages may send credentials as a form, like `'https://app.example.com'`. Forms of other sites are refused, because any
   * page could send them. JSON needs the host's CORS settings instead. Default none.
   */
  allowedOrigins?: readonly string[] | undefined
  /** The names of the members of a request body that hold the credentials. Default `{ email: 'email', password: 'password' }`. */
  fields?: Partial<FieldNames> | undefined
  /**
   * Returns the credentials of a body that has another shape: `({ user }) => user` for `{ user: { email, password } }`. Other members of the
   * returned object are further fields of the sign-in. A body for which the function throws, or returns no credentials, causes a
   * `400`. Default: the members of the body.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows the shape of its bodies.
  credentials?: ((body: any, req: R) => unknown) | undefined
}

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

/** The login of a route: the options of `createLogin`, or its result. */
export interface LoginChoice<A extends Account = Account, R = Request>
  extends Partial<Omit<LoginOptions<A, R>, 'accounts' | 'clock'>> {
  /** Finds an account by its e-mail address: a function, or a store. Default: the accounts of `logIn`. */
  accounts?: LoginOptions<A>['accounts'] | undefined
  /**
   * Authenticates the credentials: the result of `createLogin`, or a function around it. Pass either `logIn`, or `accounts`, `passwords`
   * and `throttle`. Default: a login with these options.
   */
  logIn?: Login | undefined
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

/** The options of `LoginStrategy`. Exactly one of `accounts` and `logIn` is required. */
export interface LoginStrategyOptions extends CredentialsOptions, LoginChoice {}

export const tokenIssuer = withMethods<TokenIssuer>('what createTokenIssuer() returned', ['issue', 'now'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier issues no tokens' : '',
)

/** Narrower than bytes().parse(), which reads '10 kilobytes' as ten bytes. */
const BYTE_SIZE = /^\d+(\.\d+)? ?([km]?b)?$/i

const byteSize: Check<number> = (value) => {
  const readable = typeof value === 'number' || (typeof value === 'string' && BYTE_SIZE.test(value))
  const size = readable ? Number(bytes().parse(value as number | string)) : 0
  if (!Number.isInteger(size) || size < 1 || size > LONGEST_CREDENTIALS) {
    throw new InvalidOption("a number of bytes or a string like '10kb', from 1 byte to 1 MB")
  }
  return size
}

/** Apps have other schemes, whose origins `URL` does not know. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/

/** Returns whether a text is an origin as browsers write it (https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin). */
const isOrigin = (text: unknown) =>
  typeof text === 'string' && ORIGIN.test(text) && URL.canParse(text) && [text, 'null'].includes(new URL(text).origin)

const originList: Check<ReadonlySet<string>> = (value) => {
  if (Array.isArray(value) && value.every(isOrigin)) return new Set(value)
  const hint = 'Write them as browsers do: in lower case, without a path and without the default port'
  throw new InvalidOption("an array of origins, like ['https://app.example.com']", hint)
}

const credentialsSchema = {
  bodyLimit: optional(byteSize, 10_240),
  allowedOrigins: optional(originList, new Set<string>()),
  fields: fieldsOption,
  credentials: optional(func<MapBody>('a function (body, req) => ({ email, password })')),
}

const choiceSchema = {
  accounts: (value: unknown) => value,
  passwords: loginSchema.passwords,
  throttle: loginSchema.throttle,
  extraFields: loginSchema.extraFields,
  limitKey: loginSchema.limitKey,
  afterPassword: loginSchema.afterPassword,
  emailInEvents: loginSchema.emailInEvents,
  logIn: optional(func<Login>('a function, as createLogin() returns')),
}

const schema = {
  tokens: tokenIssuer,
  path: optional(plainPath, ENDPOINTS.token.path),
  respond: optional(func<NonNullable<TokenRouterOptions['respond']>>('a function')),
  sessions: optional(sessionsOption),
  sessionLabel: optional(func<NonNullable<TokenRouterOptions['sessionLabel']>>('a function')),
  refresh: refreshChoice,
  ...credentialsSchema,
  ...choiceSchema,
  ...hostSchema,
}

const aliases = aliasesOf({
  ...loginAliases,
  tokens: 'issuer tokenIssuer',
  path: 'url',
  logIn: 'login authenticate',
  allowedOrigins: 'origins origin cors',
  fields: 'usernameField passwordField',
  credentials: 'mapBody body',
  respond: 'response serialize',
  sessionLabel: 'label device',
  refresh: 'rememberMe cookie',
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
  if (typeof memberOf(Object(value), 'findById') === 'function') return storeWithIds(value)
  throw new InvalidOption('a store with "findById", because each refresh looks the account up by its id')
}

/** Requires what a refresh needs. */
function refreshRoutes(
  { sessions, accounts }: Pick<Checked<typeof schema>, 'sessions' | 'accounts'>,
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
    modeOf,
    findById: named('tokenRouter: option "accounts" with "refresh"', storeForRefresh, accounts),
  }
}

const { timeout, onEvent } = hostSchema
const strategySchema = { ...credentialsSchema, ...choiceSchema, timeout, onEvent }

export function readLoginStrategyOptions(options: LoginStrategyOptions) {
  const caller = 'LoginStrategy'
  const read = readOptions<LoginStrategyOptions, typeof strategySchema>(caller, options, strategySchema, aliases)
  return { ...read, ...loginIn(caller, read, Date.now) }
}

/** Returns the login of the options, and the reporter of their events. A login and its route share an observer that one of them has. */
function loginIn(caller: Subject, read: Checked<typeof strategySchema>, clock: () => number, needsAccounts = false) {
  const { logIn } = read
  if (read.credentials && read.fields !== FIELDS)
    throw misuse(`${caller}: option "fields" has no effect next to "credentials"`)
  const names = ['accounts', 'passwords', 'throttle', 'limitKey', 'afterPassword'] as const
  const misplaced = logIn && names.slice(Number(needsAccounts)).find((name) => read[name] !== undefined)
  if (misplaced)
    throw misuse(`${caller}: option "${misplaced}" has no effect next to "logIn". Pass it to createLogin()`)
  const createOwn = () => {
    const accounts = named(`${caller}: option "accounts"`, loginSchema.accounts, read.accounts)
    return loginWith(settingsOf({ ...read, accounts, clock }))
  }
  const login = loginPortOf(logIn ?? createOwn(), read.timeout)
  const observer = read.onEvent ?? login.onEvent
  const emit = emitter(observer)
  return { login, emit, observer, reportRefusal: refusalReporter(emit, observer) }
}
