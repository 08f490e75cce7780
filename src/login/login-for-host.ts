import type { IncomingMessage } from 'node:http'
import type { EventSubject } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import { clientNetwork } from '../http/client-network.js'
import { followerOf, NEVER, type Origin, originOfRequest } from '../http/origin.js'
import { rejectionOf } from '../http/refuse.js'
import { text } from '../options/checks.js'
import { checkThat, named, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import type { LogInWith } from './log-in.js'
import type { LoginSettings } from './login-options.js'
import { LOGIN_REFUSALS } from './login-refusals.js'
import {
  type Credentials,
  credentialsIn,
  type ExtraFields,
  fieldsIn,
  hasUnnamedIn,
  LONGEST_CREDENTIALS,
} from './read-credentials.js'

/** The client that signs in, where there is no request. */
export interface LoginOrigin {
  /** The client's address, for the failed-login limits. All logins without an address count as one client network. */
  address?: string | undefined
  /** Aborts when the client has disconnected. The login then ends with `client_closed_request`. Default: never. */
  signal?: AbortSignal | undefined
}

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
  credentials: Credentials | (Credentials & ExtraFields),
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

const isSignal = (value: unknown) =>
  isPlainObject(value) &&
  typeof memberOf(value, 'aborted') === 'boolean' &&
  typeof memberOf(value, 'addEventListener') === 'function'
const signalOption = checkThat<AbortSignal>('an AbortSignal', isSignal)

const originOption = checkThat<LoginOrigin>('the request or { address }', isPlainObject, (value) =>
  typeof value === 'string' ? 'Pass the credentials as one object: logIn({ email, password }, req)' : '',
)

const originSchema = {
  address: optional(text('the address of a client')),
  signal: optional((value) => followerOf(signalOption(value)), NEVER),
}

/** An object with `headers` and an `address` is neither a request nor an origin, so that its address is not lost. */
const isRequest = (origin: object): origin is IncomingMessage =>
  isPlainObject(memberOf(origin, 'headers')) && memberOf(origin, 'address') === undefined

function originOf(origin: IncomingMessage | LoginOrigin = {}): Origin {
  if (isPlainObject(origin) && isRequest(origin)) return originOfRequest(origin)
  const given = named('logIn: the origin', originOption, origin)
  const { address, signal } = readOptions<LoginOrigin, typeof originSchema>('logIn', given, originSchema)
  return { req: undefined, address, signal, network: clientNetwork(address) }
}
