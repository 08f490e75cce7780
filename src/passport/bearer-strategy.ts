import type { IncomingMessage } from 'node:http'
import { Strategy } from 'passport-http-bearer'
import { readBearer } from '../guard/bearer-header.js'
import { type Admission, type BearerSteps, createBearerSteps } from '../guard/bearer-steps.js'
import {
  assertNoBearerOption,
  type BearerSettings,
  type BearerStrategyOptions,
  readBearerOptions,
} from '../guard/require-bearer-options.js'
import { attempt, bare, isThenable } from '../options/values.js'
import { refusalAnswer } from '../refusals/responses.js'
import { assertHeaderLines } from '../requests/header-lines.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { throwLater } from '../waiting/throw-later.js'
import {
  callVerify,
  type Done,
  failOrError,
  outcomeOf,
  type ParentOf,
  type PassportActions,
  withActions,
} from './passport-actions.js'

/** Changes the user of a verified token, and calls `done` with the new user. */
export type BearerVerify = (user: object, auth: VerifiedToken, done: Done) => unknown

/** The view of a request for the parent: its header, and neither a body nor a query. */
interface View {
  headers: { authorization: string | undefined }
  check(verified: Done): void
}

interface Parts extends BearerSteps, Pick<BearerSettings, 'challenge' | 'onEvent'> {
  verify: BearerVerify | undefined
}

const Bearer = Strategy as unknown as ParentOf<(view: View, token: string, verified: Done) => void>

/**
 * Authenticates a request by its bearer token (RFC 6750), for `passport.use()` and for Nest's `PassportStrategy()`: the strategy of
 * passport-http-bearer, whose callback takes the same steps as `requireBearer`.
 *
 * On success `req.auth` and `req.authInfo` are the verified token. `req.user` is the account where `accounts` is given, and the
 * verified token otherwise. A refused token (400, 401 or 403) fails with the challenge and the status. Every other refusal (503) is an
 * error, an `AuthError`. With `optional`, a request without a token passes without a user.
 *
 * The options belong to the constructor. An option such as `scope` in `passport.authenticate('bearer', { scope })` is a `TypeError`.
 */
export class BearerStrategy extends Bearer {
  /** The name for `passport.authenticate`. */
  override readonly name: string = 'bearer'
  readonly #parts: Parts

  /**
   * Reads the options once.
   * @param options the options of `requireBearer` without `forwardErrors`
   * @param verify changes the user. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: BearerStrategyOptions, verify?: BearerVerify) {
    super({ passReqToCallback: true }, ({ check }, _token, verified) => check(verified))
    const settings = readBearerOptions('BearerStrategy', options)
    this.#parts = { ...createBearerSteps(settings), challenge: settings.challenge, onEvent: settings.onEvent, verify }
  }

  /** Passport calls `authenticate` of an heir of the strategy, and an heir has no private members. */
  static #of(strategy: object): Parts {
    return #parts in strategy ? strategy.#parts : BearerStrategy.#of(Object.getPrototypeOf(strategy))
  }

  /** Called by Passport, which adds its actions to `this`. */
  override authenticate(
    this: PassportActions,
    req: IncomingMessage & { auth?: unknown; next?: unknown },
    options: object = {},
  ): void {
    assertHeaderLines('BearerStrategy', req)
    assertNoBearerOption(options)
    const { check, refuse, challenge, onEvent, verify } = BearerStrategy.#of(this)
    // Another middleware's value is not a verified token.
    req.auth = undefined
    let verified: VerifiedToken | undefined
    const outcome = outcomeOf(this, req, () => {
      req.auth = verified
    })

    function refused(thrown: unknown): void {
      const error = refuse(thrown, req)
      failOrError(outcome, error, onEvent, refusalAnswer('guard', error, challenge).headers['WWW-Authenticate'])
    }

    function admitted({ auth, user = auth }: Admission, done: Done): void {
      verified = auth
      // The steps admit a request without a token only when it is optional.
      if (auth && user) callVerify(outcome, done, user, auth, verify && ((end) => verify(user, auth, end)))
      else outcome.pass()
    }

    function run(done: Done): void {
      let checked: Admission | Promise<Admission>
      try {
        checked = check(req)
      } catch (thrown) {
        refused(thrown)
        return
      }
      if (isThenable(checked)) checked.then((admission) => admitted(admission, done), refused).catch(throwLater)
      else admitted(checked, done)
    }

    // The parent does not read a malformed header as RFC 6750 demands, so it receives none.
    const text = attempt(() => readBearer(req))
    const view: View = bare({ headers: bare({ authorization: text && `Bearer ${text}` }), check: run })
    const refuseUser = () => outcome.fail(undefined, 401)
    // The parent fails without a token, and when the verify callback has refused the user of a token.
    const fail = () => (verified ? refuseUser() : run(refuseUser))
    const actions = withActions(this, { ...outcome, fail })
    super.authenticate.call(actions, view)
  }
}
