import { Strategy } from 'passport-local'
import { throwLater } from '../concurrency/throw-later.js'
import { isAuthError } from '../errors/auth-error.js'
import type { EventSubject } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import type { BodyRequest } from '../http/body.js'
import { originOfRequest } from '../http/origin.js'
import { LOGIN_REFUSALS } from '../login/login-refusals.js'
import type { Credentials, SentCredentials } from '../login/read-credentials.js'
import { bare } from '../options/values.js'
import { type LoginStrategyOptions, readLoginStrategyOptions } from './login-strategy-options.js'
import {
  callVerify,
  type Done,
  factsIn,
  failOrError,
  outcomeOf,
  type ParentOf,
  type PassportActions,
  withActions,
} from './passport-actions.js'

/** Changes the user of a login, and calls `done` with the new user, or without one to refuse the login. */
export type LoginVerify = (user: object, done: Done) => unknown

type StrategySettings = ReturnType<typeof readLoginStrategyOptions>

/** The view of a request for the parent: the checked credentials, and no query. */
interface LoginView {
  body: Credentials
  logIn(verified: Done): void
}

interface LoginSetup extends StrategySettings {
  verify: LoginVerify | undefined
}

const FIELDS = { usernameField: 'email', passwordField: 'password', passReqToCallback: true }
const Local = Strategy as unknown as ParentOf<
  (view: LoginView, email: string, password: string, verified: Done) => void
>

/**
 * Authenticates a request by the e-mail address and the password in its body, for `passport.use()` and for Nest's `PassportStrategy()`. It
 * is the strategy of passport-local, whose callback is the login of `tokenRouter`, or `auth.logIn`.
 *
 * On success `req.user` is the account without its password hash, and `req.authInfo.subject` is what `issue` and `auth.signIn` need. Invalid credentials
 * (403) and a malformed body (400) fail. A refusal of the verify callback fails with 401 and the `info` of the callback. Every other refusal
 * (413, 415, 429, 503) is an error, an `AuthError` with `status` and `headers`.
 */
export class LoginStrategy extends Local {
  /** The name for `passport.authenticate`. */
  override readonly name: string = 'login'
  readonly #setup: LoginSetup

  /**
   * Reads the options once.
   * @param options the login options of `tokenRouter`, or `logIn`
   * @param verify changes the user, or refuses it. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: LoginStrategyOptions, verify?: LoginVerify) {
    super(FIELDS, ({ logIn }, _email, _password, verified) => logIn(verified))
    this.#setup = { ...readLoginStrategyOptions(options), verify }
  }

  /** Passport calls `authenticate` of an heir of the strategy, and an heir has no private members. */
  static #of(strategy: object): LoginSetup {
    return #setup in strategy ? strategy.#setup : LoginStrategy.#of(Object.getPrototypeOf(strategy))
  }

  /** Called by Passport, which adds its actions to `this`. */
  override authenticate(this: PassportActions, req: BodyRequest & { next?: unknown }): void {
    const { readCredentials, logIn, emit, refuse, verify } = LoginStrategy.#of(this)
    const outcome = outcomeOf(this, req)
    const origin = originOfRequest(req)
    const about: EventSubject = { address: origin.address }

    function refused(thrown: unknown): void {
      failOrError(outcome, reportRefusal(emit, about, LOGIN_REFUSALS, thrown), refuse, req)
    }

    function authenticateWith(credentials: SentCredentials, verified: Done): void {
      logIn(credentials, origin, about)
        .then(
          ({ account, subject }) =>
            callVerify(outcome, verified, account, { subject }, verify && ((done) => verify(account, done))),
          // Not always a refusal: `refuse` of the app may have passed an error on.
          verified,
        )
        .catch(throwLater)
    }

    const refuseUser = (info: unknown) => outcome.fail(factsIn(info), 401)
    const error = (thrown: unknown) => (isAuthError(thrown) ? refused(thrown) : outcome.error(thrown))
    readCredentials(req, origin)
      .then((credentials) => {
        const verified: Done = (thrown, user, info) =>
          thrown ? error(thrown) : user ? outcome.success(user, info) : refuseUser(info)
        // With a status, the parent refuses an empty text, which takes the same steps here as any other text.
        const fail = (info: unknown, status: unknown) =>
          status === undefined ? refuseUser(info) : authenticateWith(credentials, verified)
        super.authenticate.call(
          withActions(this, { ...outcome, error, fail }),
          bare({ body: bare(credentials), logIn: (done: Done) => authenticateWith(credentials, done) }),
        )
      }, refused)
      .catch(throwLater)
  }
}
