import type { IncomingMessage } from 'node:http'
import { toRequestUser } from '../accounts/account.js'
import { brandOf, brandWith } from '../options/brand.js'
import { describe } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import { type AuthError, asRefusal } from '../refusals/auth-error.js'
import { type AuthErrorCode, REFUSALS } from '../refusals/codes.js'
import {
  type AuthObserver,
  type Emit,
  type EventSubject,
  emitter,
  refusalEvent,
  reportedCopy,
} from '../refusals/events.js'
import { LOGIN, tracePromise } from '../refusals/tracing.js'
import type { Origin, RequestOrigin } from '../requests/origin.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { createGate } from '../waiting/gate.js'
import { callHost } from '../waiting/host-call.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { withConfirmation } from './confirmation.js'
import { type Credentials, type LoggedIn, type LoginTask, logIn, refuseKnownAddress } from './login.js'
import { type LoginOptions, type LoginSettings, readLoginOptions } from './login-options.js'
import { type LoginOrigin, originOf } from './login-origin.js'
import { credentialsIn, LONGEST_CREDENTIALS } from './read-credentials.js'

/** A successful login: who signed in, and what `issue` needs. */
export interface LoginResult {
  /** The account without its password hash. */
  account: object
  /** The account's id, scopes, claims and lifetime, and the time just before the account was looked up. */
  subject: TokenSubject
}

/**
 * Authenticates credentials. Returned by `createLogin`.
 * @param credentials the e-mail address and the password, as the client sent them. Other members are ignored
 * @param origin the request, or the client's address. Default: a client without an address
 * @throws AuthError `invalid_body` when the credentials are not two texts; `invalid_credentials`, `too_many_attempts`, `overloaded`,
 * `client_closed_request`, or `unavailable` when a dependency fails
 */
export type Login = (credentials: Credentials, origin?: IncomingMessage | LoginOrigin) => Promise<LoginResult>

/**
 * Creates the login as a function, for custom routes: a second factor, GraphQL, a WebSocket. `tokenRouter({ tokens, logIn })` calls
 * the same function, so all of them share the failed-login limits and the queue.
 * @throws TypeError naming the option that is not valid
 */
export function createLogin(options: LoginOptions): Login {
  return loginWith(readLoginOptions(options))
}

/** A login as the routes of this package call it. */
export interface LoginPort {
  /** The observer of the login, which receives its refusals. */
  onEvent: AuthObserver | undefined
  /** Refuses a client whose address is known to have reached its limit, see `refuseKnownAddress`. */
  refuseAddress(address: string | undefined): Promise<unknown> | undefined
  /**
   * @param emit reports failures of dependencies that do not end the login, when the login has no observer. Refusals are the route's
   * @param subject the client of these events
   */
  logIn(credentials: Credentials, origin: RequestOrigin, emit: Emit, subject: EventSubject): Promise<LoginResult>
}

export function loginWith({ onEvent, emailInEvents, ...dependencies }: LoginSettings): Login {
  const emitToObserver = onEvent && emitter(onEvent)

  /** Logs in with credentials that were read. Reports only failures that do not end the login. */
  async function traced(credentials: Credentials, origin: Origin, emit: Emit, subject: EventSubject) {
    if (emailInEvents) subject.email = credentials.email
    const dependencyFailed: LoginTask['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    const { address, source, signal } = origin
    async function run(): Promise<LoginResult> {
      const found = await logIn({ ...dependencies, ...credentials, address, source, signal, dependencyFailed })
      return { account: toRequestUser(found), subject: subjectOf(found) }
    }
    return tracePromise(LOGIN, run, {}, (result) => ({ accountId: result.subject.accountId }))
  }

  /** Reports the refusal to an observer, which then does not receive it again. */
  function reported(thrown: unknown, emit: Emit, subject: EventSubject): AuthError {
    const error = asRefusal('token', thrown)
    emit(subject, refusalEvent('token', error))
    return reportedCopy(error, onEvent)
  }

  const port: LoginPort = {
    onEvent,
    refuseAddress: (address) => refuseKnownAddress(dependencies, address),
    async logIn(credentials, origin, emit, subject) {
      try {
        return await traced(credentials, origin, emitToObserver ?? emit, subject)
      } catch (thrown) {
        throw emitToObserver ? reported(thrown, emitToObserver, subject) : asRefusal('token', thrown)
      }
    },
  }

  const emit = emitToObserver ?? emitter()
  const login: Login = async (given, from) => {
    const origin = originOf(from)
    const subject: EventSubject = { address: origin.address }
    try {
      return await traced(credentialsIn(given, LONGEST_CREDENTIALS), origin, emit, subject)
    } catch (thrown) {
      throw reported(thrown, emit, subject)
    }
  }
  return brandWith('Login', login, port)
}

/** Limits the token calls that wait for a function of the host around a login, which may ask a store before the queue of the login. */
const { run: limitCalls } = createGate(TOKEN_CALLS)

/** The refusals that a function of the host around a login may end with. */
const LOGIN_CODES = Object.keys(REFUSALS) as AuthErrorCode[]

/**
 * Returns how to call a login: one of this package, or a function of the host around it.
 * @param timeout the time limit of a function of the host, in milliseconds
 */
export function loginPortOf(login: Login, timeout: number): LoginPort {
  const options = { timeout, passThrough: LOGIN_CODES }
  return (
    (brandOf('Login', login) as LoginPort | undefined) ?? {
      onEvent: undefined,
      refuseAddress: () => undefined,
      logIn: async (credentials, { req, source }) =>
        readResult(await limitCalls(source, () => callHost('internal', () => login(credentials, req), options))),
    }
  )
}

/** Returns the whole subject of an account: a token without a part of it would last longer, or outlive a password change. */
export function subjectOf({ account, asOf, confirm }: LoggedIn): TokenSubject {
  const { id: accountId, scopes, claims, lifetime } = account
  const issuedAt = withConfirmation(asOf, confirm)
  return { accountId, scopes: scopes ?? [], claims: claims ?? {}, lifetime, issuedAt }
}

/** @throws TypeError when a function of the host did not return what a login returns */
function readResult(result: unknown): LoginResult {
  const [account, subject] = [memberOf(Object(result), 'account'), memberOf(Object(result), 'subject')]
  if (!isPlainObject(account) || !isPlainObject(subject)) {
    throw new TypeError(
      `logIn: must return { account, subject }, as createLogin() does, but returned ${describe(result)}`,
    )
  }
  return { account, subject: subject as unknown as TokenSubject }
}
