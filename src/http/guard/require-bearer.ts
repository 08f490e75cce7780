import type { IncomingMessage, ServerResponse } from 'node:http'
import { misuse, PAGE } from '../../shared/misuse.js'
import { isThenable } from '../../shared/values.js'
import { isVerifiedToken, type VerifiedToken } from '../../tokens/verified-token.js'
import { refusalAnswer } from '../shared/answers.js'
import { answerThenClose, hasUnreadBody } from '../shared/close-after-answer.js'
import { sendAnswer } from '../shared/send-answer.js'
import { BearerStrategy } from '../strategies/bearer-strategy.js'
import type { Admission } from './bearer-check.js'
import { type RequireBearerOptions, readRequireBearerOptions } from './options.js'

declare global {
  namespace Express {
    interface Request {
      /** The verified bearer token of a guarded route. `authOf` returns it without the type `undefined`. */
      auth?: VerifiedToken
    }
  }
}

/** A request as the guard uses it. Every request of Express fits. */
export interface GuardedRequest extends IncomingMessage {
  /** The client's address, for events (`req.ip`: mind `trust proxy`). */
  ip?: string | undefined
  /** The verified token. An earlier value is removed. */
  auth?: unknown
}

/** A middleware that keeps the types of the route's parameters, unlike `RequestHandler`. */
export type BearerGuard = (req: GuardedRequest, res: ServerResponse, next: Next) => void

/** @inline */
type Next = (error?: unknown) => void

/** The longest unread body that Node may read to its end after a refusal, in bytes. */
const DRAINED_BODY = 65_536

const finishOf = (req: IncomingMessage) => (hasUnreadBody(req, DRAINED_BODY) ? answerThenClose : undefined)

/**
 * Creates the guard: a middleware that admits a request with a valid bearer token (RFC 6750) and sets `req.auth` to the verified
 * token.
 * @throws TypeError naming the option that is not valid
 */
export function requireBearer(options: RequireBearerOptions): BearerGuard {
  const settings = readRequireBearerOptions(options)
  const { realm, forwardErrors } = settings
  const strategy = new BearerStrategy(options, undefined, settings)

  function admit({ auth, user }: Admission, req: GuardedRequest, next: Next): void {
    if (auth) req.auth = auth
    else if (req.auth !== undefined) req.auth = undefined
    if (user) Object.assign(req, { user })
    next()
  }

  function refuse(thrown: unknown, req: GuardedRequest, res: ServerResponse, next: Next): void {
    if (req.auth !== undefined) req.auth = undefined
    const error = strategy.refuse(thrown, req)
    if (forwardErrors && error.code === 'unavailable') next(error)
    else sendAnswer(res, refusalAnswer('guard', error, realm), finishOf(req))
  }

  async function finishLater(
    checked: Promise<Admission>,
    req: GuardedRequest,
    res: ServerResponse,
    next: Next,
  ): Promise<void> {
    // A listener that is already attached would take the body before the route does.
    const isFlowing = req.readableFlowing === true
    if (isFlowing) req.pause()
    const proceed = await checked.then(
      (admission) => () => admit(admission, req, next),
      (thrown: unknown) => () => refuse(thrown, req, res, next),
    )
    try {
      proceed()
    } finally {
      if (isFlowing) req.resume()
    }
  }

  return function requireBearerMiddleware(req, res, next) {
    let checked: Admission | Promise<Admission>
    try {
      checked = strategy.check(req)
    } catch (thrown) {
      return refuse(thrown, req, res, next)
    }
    if (isThenable(checked)) finishLater(checked, req, res, next).catch(next)
    else admit(checked, req, next)
  }
}

/**
 * Returns the verified token of a guarded request, `req.auth`.
 * @throws TypeError naming the route when no guard has admitted the request, so the result is never undefined
 */
export function authOf(req: { auth?: unknown; method: string; baseUrl: string; path: string }): VerifiedToken {
  if (isVerifiedToken(req.auth)) return req.auth
  const route = `${req.method} ${req.baseUrl}${req.path}`
  throw misuse(
    `authOf: ${route} has no verified token. Put requireBearer() before it, or read req.auth where the guard is optional`,
    PAGE.guard,
  )
}
