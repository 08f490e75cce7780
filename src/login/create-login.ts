import type { IncomingMessage } from 'node:http'
import type { EventSubject } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import { LOGIN, tracePromise } from '../events/tracing.js'
import type { Origin } from '../http/origin.js'
import { rejectionOf } from '../http/refuse.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import {
  type Credentials,
  credentialsIn,
  type ExtraFields,
  fieldsIn,
  hasUnnamedIn,
  LONGEST_CREDENTIALS,
  type SentCredentials,
} from './body/credentials.js'
import { logIn } from './login.js'
import type { LoginSettings } from './login-options.js'
import { type LoginOrigin, originOf } from './login-origin.js'
import { LOGIN_REFUSALS } from './login-refusals.js'
import type { KnownSignIn } from './sign-in/known-sign-in.js'
import type { LoginTask } from './steps/login-task.js'
import { tenantIn } from './steps/tenant.js'

/** A successful login: who signed in, and what `issue` and `auth.signIn` need. */
export interface LoginResult<U = object> {
  /** The object that your look-up returned as `user`, or the account without its password hash. */
  account: U
  /** The account's id, scopes, claims and lifetime, and the time just before the account was looked up. */
  subject: TokenSubject
}

/**
 * Authenticates credentials: `auth.logIn`.
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

/** A login with credentials that were read. Reports only failures that do not end the login, and adds what it learns to the subject of events. */
export type LogInWith = (credentials: SentCredentials, origin: Origin, subject: EventSubject) => Promise<KnownSignIn>

/** Creates the login of the routes. */
export function createLogin({ emit, emailInEvents, tenant: tenantOf, ...dependencies }: LoginSettings): LogInWith {
  return function logInWith(credentials, origin, subject) {
    if (emailInEvents) subject.email = credentials.email
    const dependencyFailed: LoginTask['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    async function run(): Promise<KnownSignIn> {
      const tenant = tenantIn(tenantOf, origin.req, credentials.fields)
      if (tenant !== undefined) subject.tenant = tenant
      return logIn({ ...dependencies, ...credentials, ...origin, tenant, dependencyFailed })
    }
    return tracePromise(LOGIN, run, {}, (result) => ({ accountId: result.subject.accountId }))
  }
}

/** Creates the login for the host's own code. It reports its refusals. */
export function loginForHost({ emit, refuse, extraFields }: LoginSettings, logInWith: LogInWith): Login {
  return async function logIn(given, from) {
    const origin = originOf(from)
    const subject: EventSubject = { address: origin.address }
    try {
      const credentials = {
        ...credentialsIn(given, LONGEST_CREDENTIALS),
        fields: fieldsIn(given, extraFields),
        hasUnnamed: hasUnnamedIn(given, extraFields),
      }
      const { user, subject: owner } = await logInWith(credentials, origin, subject)
      return { account: user, subject: owner }
    } catch (thrown) {
      throw rejectionOf(refuse, reportRefusal(emit, subject, LOGIN_REFUSALS, thrown), origin.req)
    }
  }
}
