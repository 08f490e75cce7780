import { isAuthError } from '../errors/auth-error.js'
import { refusalOf } from '../errors/refusal.js'
import { type EventSubject, emitter } from '../events/emitter.js'
import { hostAliases, hostSchema } from '../http/host-options.js'
import type { RequestOrigin } from '../http/origin.js'
import { NO_LIMITS } from '../limits/attempt.js'
import { credentialsSchema } from '../login/credentials-options.js'
import { createLogin } from '../login/log-in.js'
import type { Login, LoginResult } from '../login/login-for-host.js'
import { type LoginOptions, loginAliases, loginSchema, loginSettings } from '../login/login-options.js'
import { LOGIN_REFUSALS } from '../login/login-refusals.js'
import { createCredentialsReader, type SentCredentials } from '../login/read-credentials.js'
import { func } from '../options/checks.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'

/** The options of `LoginStrategy`: those of a login, or `logIn` with those of a request's body. */
// biome-ignore lint/suspicious/noExplicitAny: the host knows the type of its users.
export interface LoginStrategyOptions extends Omit<LoginOptions<any>, 'accounts'> {
  /**
   * Function `(email) => account`, or an [account
   * store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/accounts.md). Default: the accounts used
   * by `logIn`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  accounts?: LoginOptions<any>['accounts'] | undefined
  /**
   * `auth.logIn` from `createAuth`. If you pass `logIn`, the only other options are `bodyLimit`, `allowedOrigins`, `credentials`,
   * `timeout`, `onEvent`, and `refuse`. Default: a login with these options.
   */
  logIn?: Login | undefined
}

const CALLER = 'LoginStrategy'

type LogIn = (credentials: SentCredentials, origin: RequestOrigin, about: EventSubject) => Promise<LoginResult>

/** Returns the login of the options, the reader of its credentials, and the reporter of its refusals. */
export function readLoginStrategyOptions(options: LoginStrategyOptions) {
  return memberOf(Object(options), 'logIn') === undefined ? ownLogin(options) : givenLogin(options)
}

const logInOption = func<Login>('auth.logIn of createAuth()')

const ownSchema = { ...loginSchema, logIn: optional(logInOption) }
const ownAliases = aliasesOf({ ...hostAliases, ...loginAliases })

function ownLogin(options: LoginStrategyOptions) {
  const read = readOptions<LoginStrategyOptions, typeof ownSchema>(CALLER, options, ownSchema, ownAliases)
  const settings = loginSettings(read, Date.now)
  const logInWith = createLogin(settings)
  const logIn: LogIn = async (...call) => {
    const { user, subject } = await logInWith(...call).catch((thrown) => {
      throw isAuthError(thrown) ? thrown : refusalOf(LOGIN_REFUSALS, thrown)
    })
    return { account: user, subject }
  }
  const { emit, refuse } = settings
  return { logIn, emit, refuse, readCredentials: createCredentialsReader(settings) }
}

const givenSchema = {
  ...credentialsSchema,
  timeout: hostSchema.timeout,
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
  logIn: logInOption,
}

type GivenOptions = Pick<LoginStrategyOptions, keyof typeof givenSchema>

const OF_LOGIN = 'It has no effect next to "logIn". Pass it to createAuth()'
const givenAliases = aliasesOf({
  ...hostAliases,
  [OF_LOGIN]: Object.keys(loginSchema).join(' '),
})

function givenLogin(options: LoginStrategyOptions) {
  const given = options as GivenOptions
  const read = readOptions<GivenOptions, typeof givenSchema>(CALLER, given, givenSchema, givenAliases)
  const { logIn: logInOfApp, onEvent, refuse } = read
  const logIn: LogIn = async ({ email, password, fields }, { req }) => logInOfApp({ ...fields, email, password }, req)
  const body = { ...read, extraFields: undefined, limits: NO_LIMITS }
  return { logIn, emit: emitter(onEvent), refuse, readCredentials: createCredentialsReader(body) }
}
