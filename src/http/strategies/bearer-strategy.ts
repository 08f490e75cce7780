import type { IncomingMessage } from 'node:http'
import { throwLater } from '../../shared/host/throw-later.js'
import { isThenable } from '../../shared/values.js'
import type { VerifiedToken } from '../../tokens/verified-token.js'
import { type Admission, type BearerSteps, createBearerSteps } from '../guard/bearer-steps.js'
import {
  assertNoBearerOption,
  type BearerSettings,
  type BearerStrategyOptions,
  readBearerOptions,
} from '../guard/options.js'
import { refusalAnswer } from '../shared/answers.js'
import { assertHeaderLines } from '../shared/header-lines.js'
import { type Done, outcomeOf, type PassportActions } from './passport-actions.js'

/** Changes the user of a verified token, and calls `done` with the new user. */
export type BearerVerify = (user: object, auth: VerifiedToken, done: Done) => unknown

interface Strategy extends BearerSteps, Pick<BearerSettings, 'realm'> {
  verify: BearerVerify | undefined
}

/**
 * Authenticates a request by its bearer token (RFC 6750), for `passport.use()` and for Nest's `PassportStrategy()`. It takes the same
 * steps as `requireBearer`.
 *
 * On success `req.auth` and `req.authInfo` are the verified token. `req.user` is the account where `accounts` is given, and the
 * verified token otherwise. A refused token (400, 401 or 403) fails with the challenge and the status. Every other refusal (503) is an
 * error, an `AuthError`. With `optional`, a request without a token passes without a user.
 *
 * The options belong to the constructor. An option such as `scope` in `passport.authenticate('bearer', { scope })` is a `TypeError`.
 */
export class BearerStrategy {
  /** The name for `passport.authenticate`. */
  readonly name: string = 'bearer'
  readonly #strategy: Strategy

  /**
   * Reads the options once.
   * @param options the options of `requireBearer` without `forwardErrors`
   * @param verify changes the user. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: BearerStrategyOptions, verify?: BearerVerify) {
    const settings = readBearerOptions('BearerStrategy', options)
    this.#strategy = { ...createBearerSteps(settings), realm: settings.realm, verify }
  }

  /** Passport calls `authenticate` of an heir of the strategy, and an heir has no private members. */
  static #of(strategy: object): Strategy {
    return #strategy in strategy ? strategy.#strategy : BearerStrategy.#of(Object.getPrototypeOf(strategy))
  }

  /** Called by Passport, which adds its actions to `this`. */
  authenticate(
    this: PassportActions,
    req: IncomingMessage & { auth?: unknown; next?: unknown },
    options: object = {},
  ): void {
    assertHeaderLines('BearerStrategy', req)
    assertNoBearerOption(options)
    const { check, refuse, realm, verify } = BearerStrategy.#of(this)
    // Another middleware's value is not a verified token.
    req.auth = undefined
    let verified: VerifiedToken | undefined
    const outcome = outcomeOf(this, req, () => {
      req.auth = verified
    })

    function refused(thrown: unknown): void {
      const error = refuse(thrown, req)
      outcome.refuse(error, refusalAnswer('guard', error, realm).headers['WWW-Authenticate'])
    }

    function admitted({ auth, user }: Admission): void {
      verified = auth
      // The steps admit a request without a token only when it is optional.
      if (!auth) outcome.pass()
      else outcome.succeed(user ?? auth, auth, verify && ((done) => verify(user ?? auth, auth, done)))
    }

    let checked: Admission | Promise<Admission>
    try {
      checked = check(req)
    } catch (thrown) {
      refused(thrown)
      return
    }
    if (isThenable(checked)) checked.then(admitted, refused).catch(throwLater)
    else admitted(checked)
  }
}
