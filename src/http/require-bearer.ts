import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Account, type AccountStore, checkAccount } from '../accounts/account.js'
import { ask, timeoutOption } from '../dependency.js'
import { AuthError, type TokenRefusal } from '../errors.js'
import { type AuthObserver, emitter, refusalEvent } from '../events.js'
import {
  bool,
  type Check,
  type Duration,
  Expected,
  func,
  isPlainObject,
  named,
  optional,
  readOptions,
  SCOPE_TOKEN,
  text,
} from '../options.js'
import { isVerifiedToken, type VerifiedToken } from '../tokens/claims.js'
import type { TokenVerifier } from '../tokens/tokens.js'
import { bearerTokenOf, knownTokenOf, verifyByPassport } from './credentials.js'
import { asRefusal, challengeOf, sendRefusal } from './respond.js'

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
  ip?: string | undefined
  auth?: unknown
}

/** A middleware that leaves the types of the route's parameters alone, as `RequestHandler` would not. */
export type BearerGuard = (req: GuardedRequest, res: ServerResponse, next: (error?: unknown) => void) => void

/** Whether a token was revoked. `true` refuses it; anything that is no boolean, and any failure, is a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

export interface RequireBearerOptions {
  /** Verifies the tokens: what `createTokenIssuer` or `createTokenVerifier` made. */
  tokens: TokenVerifier
  /** Scopes that the token must all carry: an array, or a string with spaces between them. Default: none. */
  scope?: string | readonly string[] | undefined
  /**
   * A store with `findById`: the account is looked up on every request. A deleted or disabled account is refused, as are
   * tokens from before its `tokensValidAfter`; `req.user` is the account without its password hash.
   */
  accounts?: (AccountStore & Required<Pick<AccountStore, 'findById'>>) | undefined
  /** Is asked on every request whether the token was revoked. Key it on `auth.id`. */
  isRevoked?: RevocationCheck | undefined
  /** Lets a request without credentials through, without `req.auth`. Bad credentials are still refused. Default false. */
  optional?: boolean | undefined
  /** The `realm` of the challenge (RFC 9110 section 11.5). Default: the issuer. */
  realm?: string | undefined
  /** How long the account store and the revocation check may each take before the answer is `503`. Default five seconds. */
  timeout?: Duration | undefined
  /** Is told of every refusal and every failure. */
  onEvent?: AuthObserver | undefined
  /** Hands failures of the host's own parts (`503`) to the host's error handler instead of answering. Default false. */
  forwardErrors?: boolean | undefined
}

const tokenVerifier: Check<TokenVerifier> = (value) => {
  if (!isPlainObject(value) || typeof value['verify'] !== 'function' || typeof value['issuer'] !== 'string') {
    throw new Expected('what createTokenIssuer() or createTokenVerifier() returned')
  }
  return value as unknown as TokenVerifier
}

const scopeList: Check<readonly string[]> = (value) => {
  const list: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!Array.isArray(list) || list.length === 0 || !list.every((s) => typeof s === 'string' && SCOPE_TOKEN.test(s))) {
    throw new Expected("scope tokens, like 'reports:read' or ['reports:read', 'reports:write'] (RFC 6749 section 3.3)")
  }
  return Object.freeze([...list])
}

type FindById = NonNullable<AccountStore['findById']>

const storeWithIds: Check<FindById> = (value) => {
  if (!isPlainObject(value) || typeof value['findById'] !== 'function') {
    const hint = 'A look-up by e-mail cannot find the account of a token; leave "accounts" out to go without'
    throw new Expected('a store with "findById"', typeof value === 'function' || isPlainObject(value) ? hint : '')
  }
  const store = value as unknown as { findById: FindById }
  return (id) => store.findById(id)
}

const realmText = text('printable ASCII text', /^[\x20-\x7e]+$/)

const rows = {
  tokens: tokenVerifier,
  scope: optional(scopeList, [] as readonly string[]),
  accounts: optional(storeWithIds),
  isRevoked: optional(func<RevocationCheck>('a function (auth) => boolean')),
  optional: optional(bool, false),
  realm: optional(realmText),
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  forwardErrors: optional(bool, false),
}

const MISTAKES = {
  issuer: 'tokens',
  verifier: 'tokens',
  scopes: 'scope',
  requiredScopes: 'scope',
  account: 'accounts',
  store: 'accounts',
  revoked: 'isRevoked',
  secret: 'tokens',
  secretOrKey: 'tokens',
  algorithms: 'tokens',
  audience: 'tokens',
  jwtFromRequest: 'tokens',
  credentialsRequired: 'optional',
  required: 'optional',
}

/**
 * Makes the guard: a middleware that lets a request through when it brings a good bearer token (RFC 6750), and hangs the
 * verified token on `req.auth`.
 * @throws TypeError naming the option that cannot be used
 */
export function requireBearer(options: RequireBearerOptions): BearerGuard {
  const read = readOptions<RequireBearerOptions, typeof rows>('requireBearer', options, rows, MISTAKES)
  const { tokens, scope, accounts: findById, isRevoked, timeout, onEvent, forwardErrors } = read
  const realm = named(
    'requireBearer: "tokens.issuer", the realm unless it is set,',
    realmText,
    read.realm ?? tokens.issuer,
  )
  const emit = emitter(onEvent)

  const recall = (token: string) => tokens.recall?.(token)
  const allows = (auth: VerifiedToken) => scope.every((needed) => auth.scopes.includes(needed))
  const looksAgain = isRevoked !== undefined || findById !== undefined

  async function check(req: GuardedRequest): Promise<void> {
    // Another middleware's is no verified token.
    if (req.auth !== undefined) req.auth = undefined
    const token = bearerTokenOf(req)
    if (token === undefined) {
      if (read.optional) return
      throw new AuthError('missing_token')
    }
    const verify = (text: string) => ask('keys', timeout, () => tokens.verify(text), ['invalid_token'])
    const auth = recall(token) ?? (await verifyByPassport(token, verify))
    if (!allows(auth)) throw new AuthError('insufficient_scope', { scope, accountId: auth.accountId, tokenId: auth.id })
    if (isRevoked && (await ask('revocation', timeout, () => askRevoked(isRevoked, auth))))
      throw refusal('revoked', auth)
    if (findById) {
      const account = await ask('accounts', timeout, () => findAccount(findById, auth))
      Object.assign(req, { user: userOf(standing(account, auth)) })
    }
    req.auth = auth
  }

  return function requireBearerMiddleware(req, res, next) {
    const refuse = (thrown: unknown) => {
      const error = asRefusal(thrown)
      emit({ address: req.ip }, refusalEvent('bearer', error))
      if (forwardErrors && error.code === 'unavailable') return next(error)
      sendRefusal(res, error, challengeOf(error, realm))
    }
    const known = looksAgain ? undefined : knownTokenOf(req, recall)
    if (known && allows(known)) {
      req.auth = known
      return next()
    }
    check(req)
      .then(() => next(), refuse)
      .catch(next)
  }
}

async function askRevoked(isRevoked: RevocationCheck, auth: VerifiedToken): Promise<boolean> {
  const revoked: unknown = await isRevoked(auth)
  // `undefined` from a forgotten return would otherwise let every revoked token through.
  if (typeof revoked !== 'boolean') throw new TypeError('isRevoked: the answer must be true or false')
  return revoked
}

async function findAccount(findById: FindById, { accountId }: VerifiedToken): Promise<Account | undefined> {
  const account = checkAccount(await findById(accountId))
  if (account && account.id !== accountId) throw new TypeError('accounts: findById answered with another account')
  return account
}

/** The account, if it may still use this token. */
function standing(account: Account | undefined, auth: VerifiedToken): Account {
  if (!account) throw refusal('unknown_account', auth)
  if (account.disabled) throw refusal('account_disabled', auth)
  const { tokensValidAfter } = account
  if (tokensValidAfter && auth.issuedAt < tokensValidAfter) throw refusal('superseded', auth)
  return account
}

/** The account for the host's routes: its own members less the hash. Of a class that computes them, only what an account has. */
function userOf(account: Account): Omit<Account, 'passwordHash'> {
  if (Object.hasOwn(account, 'passwordHash')) {
    const { passwordHash: _, ...user } = account
    return user
  }
  const { id, disabled, scopes, claims, tokensValidAfter } = account
  return { id, disabled, scopes, claims, tokensValidAfter }
}

function refusal(reason: TokenRefusal, { accountId, id }: VerifiedToken): AuthError {
  return new AuthError('invalid_token', { reason, accountId, tokenId: id })
}

/**
 * The verified token of a guarded request.
 * @throws TypeError naming the route, when no guard has let the request through
 */
export function authOf(req: { auth?: unknown; method: string; baseUrl: string; path: string }): VerifiedToken {
  if (isVerifiedToken(req.auth)) return req.auth
  const route = `${req.method} ${req.baseUrl}${req.path}`
  throw new TypeError(
    `authOf: ${route} has no verified token. Put requireBearer() before it, or read req.auth where the guard is optional`,
  )
}
