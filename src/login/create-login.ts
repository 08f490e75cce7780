import type { IncomingMessage } from 'node:http'
import { toRequestUser } from '../accounts/request-user.js'
import { brandOf, brandWith } from '../options/brand.js'
import { text } from '../options/checks.js'
import { describe, must, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import { type AuthErrorCode, REFUSALS } from '../refusals/codes.js'
import {
  type AuthObserver,
  type Emit,
  type EventSubject,
  emitter,
  refusalEvent,
  reportedCopy,
} from '../refusals/events.js'
import { asRefusal } from '../refusals/send-response.js'
import { LOGIN, tracePromise } from '../refusals/tracing.js'
import { clientNetwork } from '../requests/client-network.js'
import { disconnectSignal, followerOf, NEVER } from '../requests/disconnect-signal.js'
import { addressOf, sourceOf, warnOfTrustProxy } from '../requests/source.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { createGate } from '../waiting/gate.js'
import { callHost } from '../waiting/host-call.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { credentialsIn, LONGEST_CREDENTIALS } from './body/credentials.js'
import { type Credentials, createAuthentication, type LoggedIn, type LoginContext } from './login.js'
import { type LoginOptions, type LoginSettings, readLoginOptions } from './login-options.js'
import { withConfirmation } from './start-session.js'

/** The client that signs in, where there is no request. */
export interface LoginOrigin {
  /** The client's address, for the failed-login limits. All logins without an address count as one client network. */
  address?: string | undefined
  /** Aborts when the client has disconnected. The login then ends with `client_closed_request`. Default: never. */
  signal?: AbortSignal | undefined
}

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
  return loginOf(readLoginOptions(options))
}

/** A login as the routes of this package call it. */
export interface LoginDoor {
  /** The observer of the login, which receives its refusals. */
  onEvent: AuthObserver | undefined
  /** Refuses a client whose address is known to have reached its limit. */
  checkAddress(address: string | undefined): Promise<unknown> | undefined
  /**
   * @param emit reports failures of dependencies that do not end the login, when the login has no observer. Refusals are the route's
   * @param subject the client of these events
   */
  logIn(credentials: Credentials, origin: RequestOrigin, emit: Emit, subject: EventSubject): Promise<LoginResult>
}

export function loginOf(settings: LoginSettings): Login {
  const { accounts: store, onEvent, emailInEvents } = settings
  const authenticate = createAuthentication({ ...settings, store })
  const own = onEvent && emitter(onEvent)
  const warn = emitter()

  async function logIn(
    given: unknown,
    { address, source, signal }: Origin,
    emitForRoute: Emit,
    subject: EventSubject = { address },
  ): Promise<LoginResult> {
    const emit = own ?? emitForRoute
    const dependencyFailed: LoginContext['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    const run = async () => {
      const credentials = credentialsIn(given, LONGEST_CREDENTIALS)
      if (emailInEvents) subject.email = credentials.email
      return resultOf(await authenticate(credentials, { address, source, signal, dependencyFailed }))
    }
    try {
      return await tracePromise(LOGIN, run, {}, (result) => ({ accountId: result.subject.accountId }))
    } catch (thrown) {
      const error = asRefusal('token', thrown)
      if (!own && emit !== warn) throw error
      emit(subject, refusalEvent('token', error))
      throw reportedCopy(error, onEvent)
    }
  }

  const door: LoginDoor = { onEvent, checkAddress: authenticate.checkAddress, logIn }
  const login: Login = async (credentials, origin) => logIn(credentials, originOf(origin), warn)
  return brandWith('Login', login, door)
}

/** Limits the token calls that wait for a function of the host around a login, which may ask a store before the queue of the login. */
const { run: limitCalls } = createGate(TOKEN_CALLS)

/** The refusals that a function of the host around a login may end with. */
const LOGIN_CODES = Object.keys(REFUSALS) as AuthErrorCode[]

/**
 * Returns how to call a login: one of this package, or a function of the host around it.
 * @param timeout the time limit of a function of the host, in milliseconds
 */
export function doorOf(login: Login, timeout: number): LoginDoor {
  const door = brandOf('Login', login) as LoginDoor | undefined
  const options = { timeout, passThrough: LOGIN_CODES }
  return (
    door ?? {
      onEvent: undefined,
      checkAddress: () => undefined,
      logIn: async (credentials, { req, source }) =>
        readResult(await limitCalls(source, () => callHost('internal', () => login(credentials, req), options))),
    }
  )
}

function resultOf(found: LoggedIn): LoginResult {
  return { account: toRequestUser(found), subject: subjectOf(found) }
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

type Origin = Omit<LoginContext, 'dependencyFailed'>

export interface RequestOrigin extends Origin {
  req: IncomingMessage
}

const isSignal = (value: unknown) =>
  isPlainObject(value) &&
  typeof memberOf(value, 'aborted') === 'boolean' &&
  typeof memberOf(value, 'addEventListener') === 'function'
const signalOption = must<AbortSignal>('an AbortSignal', isSignal)

const originSchema = {
  address: optional(text('the address of a client')),
  signal: optional((value) => followerOf(signalOption(value)), NEVER),
}

/** An object with `headers` and an `address` is neither a request nor an origin, so that its address is not lost. */
export const isRequest = (origin: object): origin is IncomingMessage =>
  isPlainObject(memberOf(origin, 'headers')) && memberOf(origin, 'address') === undefined

export function originOf(origin: IncomingMessage | LoginOrigin = {}): Origin {
  if (isPlainObject(origin) && isRequest(origin)) return originOfRequest(origin)
  const { address, signal } = readOptions<LoginOrigin, typeof originSchema>(
    'logIn',
    origin as LoginOrigin,
    originSchema,
  )
  return { address, signal, source: { network: clientNetwork(address), connection: undefined } }
}

/** Read once for a request, because `req.ip` parses headers. */
export function originOfRequest(req: IncomingMessage): RequestOrigin {
  warnOfTrustProxy(req)
  const address = addressOf(req)
  return { req, address, source: sourceOf(req, address), signal: disconnectSignal(req.socket) }
}
