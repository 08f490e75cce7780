import type { IncomingMessage, ServerResponse } from 'node:http'
import { Strategy } from 'passport-http-bearer'
import { throwLater } from '../concurrency/throw-later.js'
import { AuthError, type AuthErrorDetails } from '../errors/auth-error.js'
import {
  type Admission,
  checkBearer,
  contextOf,
  createGuard,
  forgetEarlier,
  type Guard,
  keepPrivate,
} from '../guard/guard.js'
import { refusalAt } from '../guard/refuse.js'
import {
  guardAliases,
  guardSchema,
  type RequireBearerOptions,
  readRequireBearerOptions,
} from '../guard/require-bearer-options.js'
import { assertHeaderLines } from '../http/header-lines.js'
import { misuse, PAGE } from '../options/misuse.js'
import { bare, memberOf } from '../options/values.js'
import { factsOf, type VerifiedToken } from '../tokens/verified-token.js'
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

/** The options of `BearerStrategy`: those of `requireBearer`. */
// biome-ignore lint/suspicious/noExplicitAny: the host knows the type of its users.
export type BearerStrategyOptions = RequireBearerOptions<any>

/** The options of the strategy, and other names of its scopes. Passport and other strategies have other names. */
const NO_EFFECT = [...Object.keys(guardSchema), ...Object.keys(guardAliases).filter((name) => /scope/i.test(name))]

/** Refuses an option of the strategy that is passed to `passport.authenticate()`, where it would have no effect. */
export function assertNoBearerOption(options: object): void {
  const name = NO_EFFECT.find((known) => Object.hasOwn(options, known))
  if (name === undefined) return
  throw misuse(
    `BearerStrategy: passport.authenticate() does not take "${name}". Pass it to new BearerStrategy({ ${name} })`,
    PAGE.guard,
  )
}

/** Changes the user of a verified token, and calls `done` with the new user, or without one to refuse the token. */
export type BearerVerify = (user: object, auth: VerifiedToken, done: Done) => unknown

/** The view of a request for the parent: a header that makes it call its callback, and neither a body nor a query. */
interface BearerView {
  headers: object
  check(verified: Done): void
}

/** Returns what a verify callback says about a refusal. It becomes the `error_description` of the challenge. */
function messageIn(info: unknown): { message?: string } {
  const message = memberOf(Object(factsIn(info)), 'message')
  return typeof message === 'string' && message !== '' ? { message } : {}
}

/** The parent does not read a header as RFC 6750 demands. The guard's steps read the real one. */
const HEADERS = bare({ authorization: 'Bearer token' })

interface BearerSetup {
  readonly guard: Guard
  readonly verify: BearerVerify | undefined
}

const Bearer = Strategy as unknown as ParentOf<(view: BearerView, token: string, verified: Done) => void>

/**
 * Authenticates a request by its bearer token (RFC 6750), for `passport.use()` and for Nest's `PassportStrategy()`: the strategy of
 * passport-http-bearer, whose callback takes the same steps as `requireBearer`.
 *
 * On success `req.auth` and `req.authInfo` are the verified token. `req.user` is the account where `accounts` is given, and the
 * verified token otherwise. A refused token (400, 401 or 403) fails with the challenge and the status. So does a
 * refusal of the verify callback (401), with the `message` of its `info` as `error_description`. Every other refusal (503) is an
 * error, an `AuthError`. With `optional`, a request without a token passes without a user.
 *
 * The options belong to the constructor. An option such as `scope` in `passport.authenticate('bearer', { scope })` is a `TypeError`.
 */
export class BearerStrategy extends Bearer {
  /** The name for `passport.authenticate`. */
  override readonly name: string = 'bearer'
  readonly #setup: BearerSetup

  /**
   * Reads the options once.
   * @param options the options of `requireBearer`. The strategy ends with the error that `refuse` passes to `next`. A response that
   * `refuse` returns has no effect, because Passport responds
   * @param verify changes the user, or refuses it. Default: the user stays as it is.
   * @throws TypeError naming the option that is not valid
   */
  constructor(options: BearerStrategyOptions, verify?: BearerVerify) {
    super({ passReqToCallback: true }, ({ check }, _token, verified) => check(verified))
    this.#setup = { guard: createGuard(readRequireBearerOptions('BearerStrategy', options)), verify }
  }

  /** Passport calls `authenticate` of an heir of the strategy, and an heir has no private members. */
  static #of(strategy: object): BearerSetup {
    return #setup in strategy ? strategy.#setup : BearerStrategy.#of(Object.getPrototypeOf(strategy))
  }

  /** Called by Passport, which adds its actions to `this`. */
  override authenticate(
    this: PassportActions,
    req: IncomingMessage & { auth?: unknown; next?: unknown; res?: ServerResponse | undefined },
    options: object = {},
  ): void {
    assertHeaderLines('BearerStrategy', req)
    assertNoBearerOption(options)
    const { guard, verify } = BearerStrategy.#of(this)
    const context = contextOf(guard, req)
    forgetEarlier(req)
    let admission: Admission = {}
    let refusal: AuthErrorDetails = {}
    const outcome = outcomeOf(this, req, () => {
      req.auth = admission.auth
      // Express sets it. Without Express, the host has to keep its responses private itself.
      if (req.res) keepPrivate(req.res)
    })

    function refused(thrown: unknown): void {
      failOrError(outcome, refusalAt(context, thrown), guard.settings.refuse, req)
    }

    function admitted(done: Done): void {
      const { auth, user = auth } = admission
      // The steps admit a request without a token only when it is optional.
      if (!auth || !user) {
        outcome.pass()
        return
      }
      const ended: Done = (error, changed, info) => {
        refusal = { ...factsOf(auth), ...messageIn(info) }
        done(error, changed, info)
      }
      callVerify(outcome, ended, user, auth, verify && ((end) => verify(user, auth, end)))
    }

    function check(done: Done): void {
      const admit = (checked: Admission) => {
        admission = checked
        admitted(done)
      }
      checkBearer(context).then(admit, refused).catch(throwLater)
    }

    const view: BearerView = bare({ headers: HEADERS, check })
    // The parent fails when the verify callback has refused the user of a token. Its challenge has another realm.
    const fail = () => refused(new AuthError('invalid_token', refusal))
    super.authenticate.call(withActions(this, { ...outcome, fail }), view)
  }
}
