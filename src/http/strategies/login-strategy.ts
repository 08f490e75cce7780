import type { IncomingMessage } from 'node:http'
import type { EventSubject } from '../../shared/events.js'
import { throwLater } from '../../shared/host/throw-later.js'
import { toRequestUser } from '../shared/request-user.js'
import { addressOf } from '../shared/source.js'
import { createLoginSteps, type LoginSteps } from '../token-endpoint/login-steps.js'
import { type LoginStrategyOptions, readLoginOptions } from '../token-endpoint/options.js'
import { type Done, outcomeOf, type PassportActions } from './passport-actions.js'

/** Changes the user of a login, and calls `done` with the new user. */
export type LoginVerify = (user: object, done: Done) => unknown

/**
 * Authenticates a request by the e-mail address and the password in its body, for `passport.use()` and for Nest's
 * `PassportStrategy()`. `tokenRouter` takes the same steps, with the same failed-login limits and the same queue.
 *
 * On success `req.user` is the account without its password hash, and `req.authInfo.asOf` is the time just before the account was
 * looked up: pass it to `issue` as `issuedAt`. Invalid credentials (403) and a malformed body (400) fail. Every other refusal (413,
 * 415, 429, 503) is an error, an `AuthError` with `status` and `headers`.
 */
export class LoginStrategy {
  /** The name for `passport.authenticate`. */
  readonly name: string = 'login'
  readonly #steps: LoginSteps & { verify: LoginVerify | undefined }

  /**
   * Reads the options once.
   * @param options the options of `tokenRouter` without `path` and `forwardErrors`
   * @param verify changes the user. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: LoginStrategyOptions, verify?: LoginVerify) {
    this.#steps = { ...createLoginSteps(readLoginOptions('LoginStrategy', options)), verify }
  }

  /** Passport calls `authenticate` of an heir of the strategy, and an heir has no private members. */
  static #of(strategy: object): LoginSteps & { verify: LoginVerify | undefined } {
    return #steps in strategy ? strategy.#steps : LoginStrategy.#of(Object.getPrototypeOf(strategy))
  }

  /** Called by Passport, which adds its actions to `this`. */
  authenticate(this: PassportActions, req: IncomingMessage & { next?: unknown }): void {
    const { logIn, refuse, verify } = LoginStrategy.#of(this)
    const outcome = outcomeOf(this, req)
    const subject: EventSubject = { address: addressOf(req) }
    logIn(req, subject)
      .then(({ asOf, ...found }) => ({ asOf, user: toRequestUser(found) }))
      .then(
        ({ asOf, user }) => outcome.succeed(user, { asOf }, verify && ((done) => verify(user, done))),
        (thrown: unknown) => outcome.refuse(refuse(thrown, subject)),
      )
      .catch(throwLater)
  }
}
