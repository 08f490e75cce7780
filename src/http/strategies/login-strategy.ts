import type { IncomingMessage } from 'node:http'
import { createLogin, type LoggedIn, type LoginContext } from '../../accounts/login.js'
import { loadAddresses } from '../../accounts/throttle/client-network.js'
import type { AuthError } from '../../shared/errors.js'
import { type Emit, type EventSubject, emitter, refusalEvent } from '../../shared/events.js'
import { throwLater } from '../../shared/host/throw-later.js'
import { LOGIN, tracePromise } from '../../shared/tracing.js'
import { disconnectSignal } from '../shared/disconnect-signal.js'
import { TOKEN_CALLS } from '../shared/limits.js'
import { toRequestUser } from '../shared/request-user.js'
import { asRefusal } from '../shared/send-answer.js'
import { addressOf, sourceOf } from '../shared/source.js'
import { createTurnQueue } from '../shared/turn-queue.js'
import { credentialsIn } from '../token-endpoint/credentials.js'
import { type LoginSettings, type LoginStrategyOptions, readLoginOptions } from '../token-endpoint/options.js'
import { loadBodyReader, readBody } from '../token-endpoint/request-body.js'
import { type Done, failOrError, outcomeOf, type PassportActions, succeed } from './passport-actions.js'

/** Changes the user of a login, and calls `done` with the new user. */
export type LoginVerify = (user: object, done: Done) => unknown

/** The steps of a login, for the router and for Passport. */
export interface LoginSteps {
  logIn(req: IncomingMessage, subject: EventSubject): Promise<LoggedIn>
  /** Returns the refusal that was thrown, and reports it to the host's observer. */
  refuse(thrown: unknown, subject: EventSubject): AuthError
  emit: Emit
}

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

/**
 * Authenticates a request by the e-mail address and the password in its body, for `passport.use()` and for Nest's
 * `PassportStrategy()`. `tokenRouter` uses the same class, with the same failed-login limits and the same queue.
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
        ({ asOf, user }) => succeed(outcome, user, { asOf }, verify && ((done) => verify(user, done))),
        (thrown: unknown) => failOrError(outcome, refuse(thrown, subject)),
      )
      .catch(throwLater)
  }
}

/** Creates the steps of a login. */
export function createLoginSteps(settings: LoginSettings): LoginSteps {
  const { tokens, accounts, passwords, throttle, timeout, emailInEvents, onEvent } = settings
  loadBodyReader()
  loadAddresses()
  const login = createLogin({ store: accounts, passwords, throttle, timeout, clock: tokens })
  const emit = emitter(onEvent)
  const logIn = async (req: IncomingMessage, subject: EventSubject): Promise<LoggedIn> => {
    const { address } = subject
    const source = sourceOf(req)
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    const checked = login.checkAddress(address)
    const [parseBody] = await Promise.all([readBody(req, settings), checked])
    await waitForTurn(() => source)
    const credentials = credentialsIn(parseBody(), settings.bodyLimit)
    if (emailInEvents) subject.email = credentials.email
    const failed: LoginContext['failed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    return login(credentials, { address, source, signal: disconnectSignal(req.socket), failed })
  }
  return {
    emit,
    logIn: (req, subject) =>
      tracePromise(
        LOGIN,
        () => logIn(req, subject),
        {},
        ({ account }) => ({ accountId: account.id }),
      ),
    refuse(thrown, subject) {
      const error = asRefusal('token', thrown)
      emit(subject, refusalEvent('token', error))
      return error
    },
  }
}
