import { createGate } from '../concurrency/gate.js'
import { callHost } from '../concurrency/host-call.js'
import { type AuthErrorCode, REFUSALS } from '../errors/codes.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { brandOf } from '../options/brand.js'
import { describe } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import type { Login, LoginPort, LoginResult } from './create-login.js'

/** Limits the token calls that wait for a function of the host around a login, which may ask a store before the queue of the login. */
const { run: limitHostLogins } = createGate(TOKEN_CALLS)

/** The refusals that a function of the host around a login may end with. */
const LOGIN_CODES = Object.keys(REFUSALS) as AuthErrorCode[]

/**
 * Returns how to call a login: one of this package, or a function of the host around it.
 * @param timeout the time limit of a function of the host, in milliseconds
 */
export function loginPortOf(login: Login, timeout: number): LoginPort {
  const options = { timeout, passThrough: LOGIN_CODES, mayRefuse: true, about: { option: 'logIn' } } as const
  return (
    (brandOf('Login', login) as LoginPort | undefined) ?? {
      onEvent: undefined,
      extraFields: [],
      refuseAddress: () => undefined,
      logIn: async ({ email, password, fields }, { req, source }) => {
        const credentials = { ...fields, email, password }
        const logIn = async () => readResult(await login(credentials, req))
        return limitHostLogins(source, () => callHost('hook', logIn, options))
      },
    }
  )
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
