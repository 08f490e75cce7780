import type { IncomingMessage, ServerResponse } from 'node:http'
import { throwLater } from '../concurrency/throw-later.js'
import type { AuthError } from '../errors/auth-error.js'
import { isSignInRefusal } from '../errors/sign-in-refusal.js'
import { type Refuse, rejectionOf } from '../http/refuse.js'
import { closeAfterEnd } from '../http/send-response.js'
import { own } from '../options/values.js'

/** The actions that Passport adds to a strategy for each request. */
export interface PassportActions {
  /** Authenticates the user. `info` becomes `req.authInfo`. */
  success(user: unknown, info?: object | string): void
  /**
   * Refuses the credentials with a status, and with a challenge or the facts of the host. Passport sends a text as the challenge, and passes
   * both on to the callback of `authenticate`. Passport tries the next strategy, if there is one.
   */
  fail(challenge: string | object | undefined, status: number): void
  /** Continues without a user. */
  pass(): void
  /** Reports an error to the host's error handler. */
  error(error: unknown): void
}

/**
 * Ends a strategy's verify callback: with an error, or with the user for `req.user`. Without a user the authentication fails, and `info` says
 * why: a text, or an object with a `message`.
 */
export type Done = (error: unknown, user?: unknown, info?: object | string) => void

/** Returns what a verify callback says about a refusal, as an object. Passport would send a text as the challenge. */
export function factsIn(info: unknown): object | undefined {
  if (typeof info === 'string') return { message: info }
  return typeof info === 'object' && info !== null ? info : undefined
}

/** The actions of one request. */
interface Outcome extends PassportActions {
  /** Reports an error that the host's code threw: as the action, or after an action directly to Express. */
  thrown(error: unknown): void
}

/** The statuses of refused credentials. Passport tries the next strategy after them. */
const REFUSED_CREDENTIALS = new Set([400, 401, 403])

/** Ends with a refusal: a failure for refused credentials, and an error for everything else and for what `refuse` passes on. */
export function failOrError(
  actions: PassportActions,
  error: AuthError,
  refuse: Refuse | undefined,
  req: IncomingMessage,
): void {
  const rejection = rejectionOf(refuse, error, req)
  // The next strategy must not admit a user after a refusal of the host.
  const isFailure = rejection === error && REFUSED_CREDENTIALS.has(error.status) && !isSignInRefusal(error)
  if (isFailure) actions.fail(error.headers['WWW-Authenticate'], error.status)
  else actions.error(rejection)
}

/**
 * Returns the actions of a request. Only the first action counts, because a verify callback may call `done` twice. Express receives
 * what an action throws, as if the action were called before `authenticate` returns. Without Express, the action throws.
 *
 * Call it when `authenticate` is called: Passport replaces the actions of a strategy that is passed as an object for the next request.
 * @param admit called before `success`
 */
export function outcomeOf(
  strategy: PassportActions,
  req: IncomingMessage & { next?: unknown; res?: ServerResponse | undefined },
  admit: () => void = () => {},
): Outcome {
  const { success, fail, pass, error } = strategy
  // Express's own functions, such as `res.render`, use this member too.
  const [next, res] = [own(req, 'next'), own(req, 'res')]
  let taken = false

  function toExpress(thrown: unknown): void {
    if (typeof next !== 'function') throw thrown
    next(thrown)
  }

  const first =
    <A extends unknown[]>(act: (...args: A) => void, before = () => {}) =>
    (...args: A) => {
      if (taken) return
      taken = true
      try {
        before()
        act(...args)
      } catch (thrown) {
        toExpress(thrown)
      }
    }

  const close = () => res && closeAfterEnd(req, res)
  const report = first(error, close)
  return {
    success: first(success, admit),
    fail: first(fail, close),
    pass: first(pass),
    error: report,
    thrown: (thrown) => (taken ? toExpress(thrown) : report(thrown)),
  }
}

/** Ends a strategy's own work: with the user and its facts, or with those of the host's verify callback. */
export function callVerify(
  outcome: Outcome,
  verified: Done,
  user: object,
  info: object,
  verify?: (done: Done) => unknown,
): void {
  const done: Done = (error, changed, changedInfo = changed ? info : undefined) => verified(error, changed, changedInfo)
  if (!verify) {
    done(null, user)
    return
  }
  const called = async () => verify(done)
  called().catch(outcome.thrown).catch(throwLater)
}

/** The class of another package's strategy. `authenticate` reads a view of the request, without its query. */
export type ParentOf<Verify> = new (
  options: object,
  verify: Verify,
) => {
  readonly name: string
  authenticate(this: PassportActions, view: object): void
}

/** Returns an heir of a strategy with these actions, for the parent's `authenticate`. */
export function withActions(strategy: object, { success, fail, pass, error }: PassportActions): PassportActions {
  return Object.assign(Object.create(strategy), { success, fail, pass, error })
}
