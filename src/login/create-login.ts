import type { IncomingMessage } from 'node:http'
import type { Account } from '../accounts/account.js'
import type { UserOf } from '../accounts/request-user.js'
import { type Emit, type EventSubject, emitter } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { reportRefusal } from '../events/report-refusal.js'
import { LOGIN, tracePromise } from '../events/tracing.js'
import type { Origin, RequestOrigin } from '../http/origin.js'
import { rejectionOf } from '../http/refuse.js'
import { brandWith } from '../options/brand.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import {
  type Credentials,
  credentialsIn,
  type ExtraFields,
  fieldsIn,
  LONGEST_CREDENTIALS,
  type SentCredentials,
} from './body/credentials.js'
import { type LoggedIn, logIn } from './login.js'
import { type LoginOptions, type LoginSettings, readLoginOptions } from './login-options.js'
import { type LoginOrigin, originOf } from './login-origin.js'
import { withLookUp } from './steps/confirmation.js'
import type { LoginTask } from './steps/login-task.js'
import { subjectOf, withTerms } from './steps/sign-in-terms.js'
import { tenantIn } from './steps/tenant.js'

/** A successful login: who signed in, and what `issue` needs. */
export interface LoginResult<U = object> {
  /** The object that your store returned, without its password hash, or its member `user`. */
  account: U
  /** The account's id, scopes, claims and lifetime, and the time just before the account was looked up. */
  subject: TokenSubject
}

/**
 * Authenticates credentials. Returned by `createLogin`.
 * @param credentials the e-mail address and the password, as the client sent them, and the members that `extraFields` names. Other members
 * are ignored
 * @param origin the request, or the client's address. Default: a client without an address
 * @throws the error that `refuse` passes to `next`; SignInRefusal of `beforeSignIn`; AuthError `invalid_body` when the credentials are not two texts; `invalid_credentials`,
 * `too_many_attempts`, `overloaded`, `client_closed_request`, or `unavailable` when a dependency fails
 */
export type Login<U = object> = (
  credentials: Credentials & ExtraFields,
  origin?: IncomingMessage | LoginOrigin,
) => Promise<LoginResult<U>>

/**
 * Creates the login as a function, for custom routes: a second factor, GraphQL, a WebSocket. `tokenRouter({ tokens, logIn })` calls
 * the same function, so all of them share the failed-login limits and the queue.
 * @throws TypeError naming the option that is not valid
 */
export function createLogin<A extends Account>(options: LoginOptions<A>): Login<UserOf<A>> {
  return loginWith(readLoginOptions(options)) as Login<UserOf<A>>
}

/** A login as the routes of this package call it. */
export interface LoginPort {
  /** The observer of the login, which receives its refusals. */
  onEvent: AuthObserver | undefined
  /** The members of a request body that the login needs, in addition to the credentials. */
  extraFields: readonly string[]
  /** Refuses a client whose address has reached its failed-login limit. Call it before the body is read. */
  refuseAddress(address: string | undefined): void
  /**
   * @param emit reports failures of dependencies that do not end the login, when the login has no observer. Refusals are the route's
   * @param subject the client of these events
   */
  logIn(credentials: SentCredentials, origin: RequestOrigin, emit: Emit, subject: EventSubject): Promise<LoginResult>
}

export function loginWith({
  onEvent,
  refuse,
  emailInEvents,
  extraFields,
  tenant: tenantOf,
  ...dependencies
}: LoginSettings): Login {
  const emitToObserver = onEvent && emitter(onEvent)

  /** Logs in with credentials that were read. Reports only failures that do not end the login. */
  function logInWithTrace(credentials: SentCredentials, origin: Origin, emit: Emit, subject: EventSubject) {
    if (emailInEvents) subject.email = credentials.email
    const dependencyFailed: LoginTask['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    async function run(): Promise<LoginResult> {
      const tenant = tenantIn(tenantOf, origin.req, credentials.fields)
      if (tenant !== undefined) subject.tenant = tenant
      const found = await logIn({ ...dependencies, ...credentials, ...origin, tenant, dependencyFailed })
      return { account: found.user, subject: subjectOfLogin(found) }
    }
    return tracePromise(LOGIN, run, {}, (result) => ({ accountId: result.subject.accountId }))
  }

  const port: LoginPort = {
    onEvent,
    extraFields,
    refuseAddress: (address) => dependencies.limits.checkAddress(address),
    async logIn(credentials, origin, emit, subject) {
      try {
        return await logInWithTrace(credentials, origin, emitToObserver ?? emit, subject)
      } catch (thrown) {
        throw emitToObserver ? reportRefusal(emitToObserver, subject, 'token', thrown) : thrown
      }
    },
  }

  const emit = emitToObserver ?? emitter()
  const login: Login = async (given, from) => {
    const origin = originOf('logIn', from)
    const subject: EventSubject = { address: origin.address }
    try {
      const credentials = credentialsIn(given, LONGEST_CREDENTIALS)
      return await logInWithTrace({ ...credentials, fields: fieldsIn(given, extraFields) }, origin, emit, subject)
    } catch (thrown) {
      throw rejectionOf(refuse, reportRefusal(emit, subject, 'token', thrown), origin.req)
    }
  }
  return brandWith('Login', login, port)
}

function subjectOfLogin({ account, asOf, confirm, terms }: LoggedIn): TokenSubject {
  const lookedUp = subjectOf(account, asOf)
  const issuedAt = withLookUp(asOf, { confirm, subject: lookedUp, terms })
  return withTerms({ ...lookedUp, issuedAt }, terms)
}
