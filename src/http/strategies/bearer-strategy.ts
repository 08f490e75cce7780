import type { IncomingMessage } from 'node:http'
import type { AuthError } from '../../shared/errors.js'
import { emitter, refusalEvent } from '../../shared/events.js'
import type { VerifiedToken } from '../../tokens/verified-token.js'
import { type BearerCheck, createBearerCheck } from '../guard/bearer-check.js'
import { type BearerSettings, type BearerStrategyOptions, readBearerOptions } from '../guard/options.js'
import { refusalAnswer } from '../shared/answers.js'
import { asRefusal } from '../shared/send-answer.js'
import { addressOf } from '../shared/source.js'
import { type Done, failOrError, firstAction, type PassportActions, reportError, succeed } from './passport-actions.js'

/** Changes the user of a verified token, and calls `done` with the new user. */
export type BearerVerify = (user: object, auth: VerifiedToken, done: Done) => unknown

/**
 * Authenticates a request by its bearer token (RFC 6750), for `passport.use()` and for Nest's `PassportStrategy()`. `requireBearer`
 * uses the same class.
 *
 * On success `req.auth` and `req.authInfo` are the verified token. `req.user` is the account where `accounts` is given, and the
 * verified token otherwise. A refused token (400, 401 or 403) fails with the challenge and the status. Every other refusal (503) is an
 * error, an `AuthError`. With `optional`, a request without a token passes without a user.
 *
 * Select the strategy by its name: `passport.authenticate('bearer')`. Passport shares a strategy that is passed as an object between
 * concurrent requests, which then get each other's responses.
 */
export class BearerStrategy {
  /** The name for `passport.authenticate`. */
  readonly name: string = 'bearer'
  /** @internal */
  readonly check: BearerCheck
  /** @internal */
  readonly refuse: (thrown: unknown, req: IncomingMessage) => AuthError
  /** @internal */
  readonly realm: string
  /** @internal */
  readonly verify: BearerVerify | undefined

  /**
   * Reads the options once.
   * @param options the options of `requireBearer` without `forwardErrors`
   * @param verify changes the user. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: BearerStrategyOptions, verify?: BearerVerify)
  /** @internal */
  constructor(options: BearerStrategyOptions, verify: BearerVerify | undefined, settings: BearerSettings)
  constructor(
    options: BearerStrategyOptions,
    verify?: BearerVerify,
    settings = readBearerOptions('BearerStrategy', options),
  ) {
    const emit = emitter(settings.onEvent)
    this.check = createBearerCheck(settings)
    this.realm = settings.realm
    this.verify = verify
    this.refuse = (thrown, req) => {
      const error = asRefusal('guard', thrown)
      emit({ address: addressOf(req) }, refusalEvent('bearer', error))
      return error
    }
  }

  /** Called by Passport, which adds its actions to `this`. */
  authenticate(this: PassportActions, req: IncomingMessage & { auth?: unknown }): void {
    const { check, refuse, realm, verify } = this as PassportActions & BearerStrategy
    const actions = firstAction(this)
    // Another middleware's value is not a verified token.
    req.auth = undefined
    const checked = async () => check(req)
    checked()
      .then(
        ({ auth, user: account }) => {
          if (!auth) return actions.pass()
          const user = account ?? auth
          const admit = (admitted: unknown, info?: object) => {
            req.auth = auth
            actions.success(admitted, info)
          }
          return succeed({ ...actions, success: admit }, user, auth, verify && ((done) => verify(user, auth, done)))
        },
        (thrown: unknown) => {
          const error = refuse(thrown, req)
          failOrError(actions, error, refusalAnswer('guard', error, realm).headers['WWW-Authenticate'])
        },
      )
      .catch(reportError(actions))
  }
}
