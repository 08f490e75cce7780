import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError } from '../../shared/errors.js'
import { emitter, refusalEvent } from '../../shared/events.js'
import type { Source } from '../../shared/fair-queue.js'
import { ask } from '../../shared/host-call.js'
import { isThenable } from '../../shared/values.js'
import { type SyncVerifier, syncVerifierOf } from '../../tokens/sync-verifier.js'
import type { TokenVerifier } from '../../tokens/tokens.js'
import { isVerifiedToken, toVerifiedToken, type VerifiedToken } from '../../tokens/verified-token.js'
import { refusalAnswer } from '../shared/answers.js'
import { answerThenClose, hasUnreadBody } from '../shared/close-after-answer.js'
import { bearerByPassport, bearerTokenOf, knownTokenOf, look } from '../shared/credentials.js'
import { createHostCallLimit } from '../shared/host-call-limit.js'
import { asRefusal, sendAnswer } from '../shared/send-answer.js'
import { addressOf, sourceOf } from '../shared/source.js'
import { createTurnQueue } from '../shared/turn-queue.js'
import { assertUsable, checkRevoked, findAccount, refusal, toRequestUser } from './account-check.js'
import { type RequireBearerOptions, readGuardOptions } from './options.js'

declare global {
  namespace Express {
    interface Request {
      /** The verified bearer token of a guarded route; see `authOf` for one that is never undefined. */
      auth?: VerifiedToken
    }
  }
}

/** What the guard uses of a request; Express's fits, whatever its route's parameters. */
export interface GuardedRequest extends IncomingMessage {
  /** The client's address, for events (`req.ip`: mind `trust proxy`). */
  ip?: string | undefined
  /** Where the verified token is put. What stood there before is taken away. */
  auth?: unknown
}

/** A middleware that leaves the types of the route's parameters alone, as `RequestHandler` would not. */
export type BearerGuard = (req: GuardedRequest, res: ServerResponse, next: Next) => void

/** @inline */
type Next = (error?: unknown) => void

/** How many requests may wait at all guards together. Only a client that pipelines has more than one per connection. */
export const GUARDED_REQUESTS = { total: 4096, perNetwork: 2048, perConnection: 128 }

/** A request with a token that is not cached waits for its verification. */
const waitForTurn = createTurnQueue(GUARDED_REQUESTS)

/** A request waits for the key source, the revocation check and the account store. */
const holdPlace = createHostCallLimit(GUARDED_REQUESTS)

/** The longest unread body that Node may read to its end after a refusal, in bytes. */
const DRAINED_BODY = 65_536

/** For a verifier of the host's own, which is asked every time. */
const NO_QUICK_PATH: SyncVerifier = { fromCache: () => undefined, verifySync: () => undefined }

/** Asks a verifier, which may be the host's own: a forgotten `return` must not pass for a token. */
async function askVerifier(tokens: TokenVerifier, token: string): Promise<VerifiedToken> {
  const auth = toVerifiedToken(await tokens.verify(token))
  if (auth) return auth
  throw new TypeError('tokens: verify must return a verified token, or throw')
}

/** What a step of the guard returns: at once for a cached token without further checks, otherwise later. */
type Found = VerifiedToken | undefined | PromiseLike<VerifiedToken | undefined>

/**
 * Makes the guard: a middleware that lets a request through when it brings a good bearer token (RFC 6750), and hangs the
 * verified token on `req.auth`.
 * @throws TypeError naming the option that cannot be used
 */
export function requireBearer(options: RequireBearerOptions): BearerGuard {
  const {
    tokens,
    scope,
    accounts: findById,
    isRevoked,
    optional,
    realm,
    timeout,
    onEvent,
    forwardErrors,
  } = readGuardOptions(options)
  const emit = emitter(onEvent)

  const quick = syncVerifierOf(tokens) ?? NO_QUICK_PATH
  const verifyByPassport = bearerByPassport(
    (token) =>
      quick.verifySync(token) ??
      (() => ask('keys', timeout, () => askVerifier(tokens, token), ['invalid_token', 'unavailable'])),
  )
  const asksHost = isRevoked !== undefined || findById !== undefined

  /** Reads the header, and returns the token: from the cache, or verified in a later turn of the event loop. */
  function identify(req: GuardedRequest): Found {
    const { authorization: header } = look(req, 'headers')
    const known = knownTokenOf(req, header, quick.fromCache)
    if (known) return known
    const token = bearerTokenOf(req, header)
    return token === undefined ? undefined : verify(token, sourceOf(req))
  }

  async function verify(token: string, source: Source): Promise<VerifiedToken> {
    await waitForTurn(source)
    const verified = verifyByPassport(token)
    return typeof verified === 'function' ? holdPlace(source, verified) : verified
  }

  /** Refuses a request without a token, unless the guard is optional, and a token without the scopes. */
  function authorize(auth: VerifiedToken | undefined): void {
    if (!auth && !optional) throw new AuthError('missing_token')
    if (auth && !scope.every((needed) => auth.scopes.includes(needed))) {
      throw new AuthError('insufficient_scope', { scope, accountId: auth.accountId, tokenId: auth.id })
    }
  }

  /** Asks whether the token was revoked, and looks the account up. Returns the token that passed. */
  async function askHost(req: GuardedRequest, auth: VerifiedToken): Promise<VerifiedToken> {
    if (isRevoked) {
      const revoked = await ask('revocation', timeout, () => checkRevoked(isRevoked, auth))
      if (revoked !== false) throw refusal('revoked', auth)
    }
    if (findById) {
      const found = await ask('accounts', timeout, () => findAccount(findById, auth))
      Object.assign(req, { user: toRequestUser(assertUsable(found, auth)) })
    }
    return auth
  }

  async function settle(req: GuardedRequest, found: Found): Promise<VerifiedToken | undefined> {
    const auth = await found
    authorize(auth)
    return auth && asksHost ? holdPlace(sourceOf(req), () => askHost(req, auth)) : auth
  }

  function admit(auth: VerifiedToken | undefined, req: GuardedRequest, next: Next): void {
    if (auth) req.auth = auth
    else clear(req)
    next()
  }

  /** Another middleware's value is not a verified token. */
  function clear(req: GuardedRequest): void {
    if (req.auth !== undefined) req.auth = undefined
  }

  function refuse(thrown: unknown, req: GuardedRequest, res: ServerResponse, next: Next): void {
    clear(req)
    const error = asRefusal('guard', thrown)
    emit({ address: addressOf(req) }, refusalEvent('bearer', error))
    if (forwardErrors && error.code === 'unavailable') next(error)
    else
      sendAnswer(
        res,
        refusalAnswer('guard', error, realm),
        hasUnreadBody(req, DRAINED_BODY) ? answerThenClose : undefined,
      )
  }

  async function finishLater(found: Found, req: GuardedRequest, res: ServerResponse, next: Next): Promise<void> {
    // A listener that is already attached would take the body before the route does.
    const isFlowing = req.readableFlowing === true
    if (isFlowing) req.pause()
    let proceed: () => void
    try {
      const auth = admissible(await settle(req, found), optional)
      proceed = () => admit(auth, req, next)
    } catch (error) {
      proceed = () => refuse(error, req, res, next)
    }
    try {
      proceed()
    } finally {
      if (isFlowing) req.resume()
    }
  }

  return function requireBearerMiddleware(req, res, next) {
    let auth: VerifiedToken | undefined
    try {
      const found = identify(req)
      if (isThenable(found) || (found && asksHost)) return void finishLater(found, req, res, next).catch(next)
      authorize(found)
      auth = admissible(found, optional)
    } catch (error) {
      return refuse(error, req, res, next)
    }
    admit(auth, req, next)
  }
}

/**
 * Returns a verified token, or undefined where the guard is optional.
 * @throws TypeError for anything else, whatever the steps before let through
 */
function admissible(auth: unknown, optional: boolean): VerifiedToken | undefined {
  if (isVerifiedToken(auth)) return auth
  if (auth === undefined && optional) return undefined
  throw new TypeError('requireBearer: only a verified token is admitted')
}

/**
 * The verified token of a guarded request: `req.auth`, less the doubt whether there is one.
 * @throws TypeError naming the route, when no guard has let the request through
 */
export function authOf(req: { auth?: unknown; method: string; baseUrl: string; path: string }): VerifiedToken {
  if (isVerifiedToken(req.auth)) return req.auth
  const route = `${req.method} ${req.baseUrl}${req.path}`
  throw new TypeError(
    `authOf: ${route} has no verified token. Put requireBearer() before it, or read req.auth where the guard is optional`,
  )
}
