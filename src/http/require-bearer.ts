import type { IncomingMessage, ServerResponse } from 'node:http'
import { ask } from '../dependency.js'
import { AuthError } from '../errors.js'
import { emitter, refusalEvent } from '../events.js'
import { isPlainObject } from '../options.js'
import { type QuickPath, quickPathOf } from '../tokens/quick-path.js'
import type { TokenVerifier } from '../tokens/tokens.js'
import { isVerifiedToken, type VerifiedToken } from '../tokens/verified-token.js'
import { bearerByPassport, bearerTokenOf, knownTokenOf, look, mayHaveBody } from './credentials.js'
import { type RequireBearerOptions, readGuardOptions } from './guard-options.js'
import { asRefusal, send } from './respond.js'
import { askRevoked, findAccount, refusal, standing, userOf } from './second-look.js'
import { createTurnstile } from './turnstile.js'
import { refusalAnswer } from './wire.js'

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

/** How many tokens one turn of the event loop verifies for the first time, and how many may wait for it; of all guards together. */
const firstTime = createTurnstile(16, 1024)

/** For a verifier of the host's own, which is asked every time. */
const NO_QUICK_PATH: QuickPath = { recall: () => undefined, verifyNow: () => undefined }

/** What a verifier of the host's own answers is held to its form: a forgotten return would otherwise be no token at all. */
async function askVerifier(tokens: TokenVerifier, token: string): Promise<VerifiedToken> {
  const auth: unknown = await tokens.verify(token)
  if (isVerifiedToken(auth) || looksVerified(auth)) return auth
  throw new TypeError('tokens: verify must answer with a verified token, or throw')
}

function looksVerified(auth: unknown): auth is VerifiedToken {
  if (!isPlainObject(auth)) return false
  const { id, accountId, scopes, issuedAt } = auth
  return typeof id === 'string' && typeof accountId === 'string' && Array.isArray(scopes) && issuedAt instanceof Date
}

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

  const quick = quickPathOf(tokens) ?? NO_QUICK_PATH
  const verify = bearerByPassport(
    (token) =>
      quick.verifyNow(token) ??
      ask('keys', timeout, () => askVerifier(tokens, token), ['invalid_token', 'unavailable']),
  )
  const looksAgain = isRevoked !== undefined || findById !== undefined

  /**
   * The token that a request brings, when it is not remembered: those that are go on before it. One with a body does not wait, or
   * what already listens to that would have taken it before the route does.
   */
  function presented(req: GuardedRequest, header?: string): ReturnType<typeof verify> | undefined {
    const token = bearerTokenOf(req, header)
    if (token === undefined) return undefined
    const turn = mayHaveBody(req) ? undefined : firstTime()
    return turn ? turn.then(() => verify(token)) : verify(token)
  }

  function firstLook(auth: VerifiedToken | undefined): VerifiedToken | undefined {
    if (!auth && !optional) throw new AuthError('missing_token')
    if (auth && !allows(auth)) {
      throw new AuthError('insufficient_scope', { scope, accountId: auth.accountId, tokenId: auth.id })
    }
    return auth
  }

  function allows({ scopes }: VerifiedToken): boolean {
    return scope.every((needed) => scopes.includes(needed))
  }

  async function lookTwice(
    req: GuardedRequest,
    found: ReturnType<typeof presented>,
  ): Promise<VerifiedToken | undefined> {
    const auth = firstLook(await found)
    if (!auth) return undefined
    if (isRevoked && (await ask('revocation', timeout, () => askRevoked(isRevoked, auth))))
      throw refusal('revoked', auth)
    if (findById) {
      const account = await ask('accounts', timeout, () => findAccount(findById, auth))
      Object.assign(req, { user: userOf(standing(account, auth)) })
    }
    return auth
  }

  function admit(auth: VerifiedToken | undefined, req: GuardedRequest, next: Next): void {
    if (auth) req.auth = auth
    else clear(req)
    next()
  }

  /** Another middleware's is no verified token. */
  function clear(req: GuardedRequest): void {
    if (req.auth !== undefined) req.auth = undefined
  }

  function refuse(thrown: unknown, req: GuardedRequest, res: ServerResponse, next: Next): void {
    clear(req)
    const error = asRefusal('guard', thrown)
    emit({ address: req.ip }, refusalEvent('bearer', error))
    if (forwardErrors && error.code === 'unavailable') next(error)
    else send(res, refusalAnswer('guard', error, realm))
  }

  function later(auth: ReturnType<typeof lookTwice>, req: GuardedRequest, res: ServerResponse, next: Next): void {
    auth
      .then(
        (known) => admit(known, req, next),
        (error: unknown) => refuse(error, req, res, next),
      )
      .catch(next)
  }

  return function requireBearerMiddleware(req, res, next) {
    let auth: ReturnType<typeof presented> | ReturnType<typeof lookTwice>
    try {
      const { authorization: header } = look(req, 'headers')
      const found = knownTokenOf(req, header, quick.recall) ?? presented(req, header)
      auth = looksAgain || found instanceof Promise ? lookTwice(req, found) : firstLook(found)
    } catch (error) {
      return refuse(error, req, res, next)
    }
    if (auth instanceof Promise) later(auth, req, res, next)
    else admit(auth, req, next)
  }
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
