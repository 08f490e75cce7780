import type { IncomingMessage } from 'node:http'
import type { EventSubject } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import { rejectionOf } from '../http/refuse.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import {
  type Credentials,
  credentialsIn,
  type ExtraFields,
  fieldsIn,
  hasUnnamedIn,
  LONGEST_CREDENTIALS,
} from './body/credentials.js'
import type { LogInWith } from './log-in.js'
import type { LoginSettings } from './login-options.js'
import { type LoginOrigin, originOf } from './login-origin.js'
import { LOGIN_REFUSALS } from './login-refusals.js'

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
