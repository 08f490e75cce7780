import type { ErrorRequestHandler, Router } from 'express'
import type { Account } from '../accounts/account.js'
import { storeWithIds } from '../accounts/find-account.js'
import type { CustomPasswords } from '../accounts/passwords/host-passwords.js'
import { createPasswords, type Passwords } from '../accounts/passwords/passwords.js'
import type { CustomThrottle } from '../accounts/throttle/host-throttle.js'
import type { Throttle } from '../accounts/throttle/throttle.js'
import { type AuthenticatedRequest, authOf, type BearerGuard, requireBearer } from '../guard/require-bearer.js'
import type { RequireBearerOptions } from '../guard/require-bearer-options.js'
import { createLogin, type Login } from '../login/create-login.js'
import { defaultThrottle } from '../login/default-throttle.js'
import type { LoginOptions } from '../login/login-options.js'
import { readTokenRouterOptions } from '../login/token-router-options.js'
import { misuse } from '../options/misuse.js'
import { memberOf } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import { authErrors } from '../routes/auth-errors.js'
import { jwksRouter } from '../routes/jwks-router.js'
import { sessionRouter } from '../routes/session-router.js'
import { tokenRouter } from '../routes/token-router.js'
import type { Sessions } from '../sessions/sessions.js'
import { createTokenIssuer, type TokenIssuer } from '../tokens/tokens.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { type AuthGuardOptions, type AuthOptions, readAuthOptions } from './auth-options.js'
import { type AuthSignIn, createAuthSignIn } from './auth-sign-in.js'

/** The authentication of an app. Returned by `createAuth`. */
export interface Auth<A extends Account = Account> {
  /**
   * The token endpoint with its refresh and sign-out, the sessions of a user, and the public keys: what the options provide. Mount it
   * with `app.use(auth.router)`.
   */
  readonly router: Router
  /**
   * Creates the guard of a route: `requireBearer` with the tokens, the accounts and the sessions of the app.
   * @throws TypeError naming the option that is not valid
   */
  guard(options?: AuthGuardOptions & { optional?: false | undefined }): BearerGuard
  /** Creates the guard of a route that may be optional. */
  guard(options: AuthGuardOptions): BearerGuard<VerifiedToken | undefined>
  /**
   * Returns the account of a guarded request, `req.user`, with the type of your accounts and without its password hash.
   * @throws TypeError when no guard has admitted the request, and when the accounts have no `findById`
   */
  userOf(req: AuthenticatedRequest & { user?: unknown }): Omit<A, 'passwordHash'>
  /** Signs an account in that you have authenticated yourself. */
  readonly signIn: AuthSignIn
  /** Sends the refusals of custom routes: `app.use(auth.errors)` after them. The result of `authErrors`. */
  readonly errors: ErrorRequestHandler
  /** Issues and verifies the tokens. */
  readonly tokens: TokenIssuer
  /** Authenticates credentials in custom routes. */
  readonly logIn: Login
  /** Hashes and checks passwords: the option, or the result of `createPasswords`. */
  readonly passwords: Passwords | CustomPasswords
  /** The failed-login limits: the option, or the result of `createThrottle`. */
  readonly throttle: Throttle | CustomThrottle | false
  /** The option `sessions`. */
  readonly sessions: Sessions | undefined
}

/**
 * Creates the authentication of an app: an issuer of tokens, a login, and a router and guards that share them. Every guard has the
 * accounts and the sessions of the app, so that no route forgets one.
 * @throws TypeError naming the option that is not valid
 */
export function createAuth<A extends Account>(options: AuthOptions<A>): Auth<A> {
  const given = readAuthOptions(options)
  const { paths, mountPath = '' } = given
  const { sessions, onEvent } = given.guard
  const tokens = createTokenIssuer(given.issuer)
  const passwords = given.login.passwords ?? createPasswords()
  const throttle = given.login.throttle ?? defaultThrottle([given.login.accounts])
  // A custom route that calls `auth.logIn` passes the request.
  const logIn = createLogin<A>({ ...given.login, passwords, throttle } as LoginOptions<A>)
  const { accounts } = given.login
  const store = typeof memberOf(Object(accounts), 'findById') === 'function' && (accounts as StoreWithIds)
  const findById = store ? storeWithIds(store) : undefined
  const routerOptions = {
    ...given.router,
    tokens,
    logIn,
    path: paths.token,
    ...(given.router.refresh !== undefined && { accounts }),
  }

  const router = express().Router({ caseSensitive: true })
  router.use(tokenRouter(routerOptions))

  const ownGuard = { ...given.guard, tokens, ...(store && { accounts: store }) }
  function guard(chosen: AuthGuardOptions & { optional?: false | undefined } = {}): BearerGuard {
    return requireBearer({ ...ownGuard, ...chosen })
  }
  if (sessions) router.use(paths.sessions, sessionRouter({ guard: guard(), sessions, onEvent }))
  if (tokens.jwks().keys.length > 0) router.use(jwksRouter({ tokens, path: paths.keys }))

  const settings = readTokenRouterOptions(routerOptions)
  return Object.freeze({
    router,
    guard: guard as Auth<A>['guard'],
    userOf(req: AuthenticatedRequest & { user?: unknown }) {
      authOf(req)
      if (findById) return req.user as Omit<A, 'passwordHash'>
      throw misuse('createAuth: userOf() needs "accounts" with "findById"')
    },
    signIn: createAuthSignIn({ ...settings, findById, mountPath }),
    errors: authErrors({ onEvent }),
    tokens,
    logIn,
    passwords,
    throttle,
    sessions,
  })
}

type StoreWithIds = NonNullable<RequireBearerOptions['accounts']>
