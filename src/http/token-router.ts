import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import bytes from 'bytes'
import { type Request, type Response, Router } from 'express'
import { type AccountLookup, type AccountStore, storeOf } from '../accounts/account.js'
import { createLogin, type LoginContext } from '../accounts/login.js'
import { createPasswords, type Passwords } from '../accounts/passwords.js'
import { createThrottle, type Throttle } from '../accounts/throttle.js'
import { AuthError, type AuthErrorCode } from '../errors.js'
import { type EventSubject, emitter, refusalEvent } from '../events.js'
import { bool, type Check, Expected, isPlainObject, optional, readOptions, withMethods } from '../options.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { readBody } from './body.js'
import { credentialsIn, loginByPassport } from './credentials.js'
import { type HostOptions, hostRows } from './host-options.js'
import { endAndCut, mayGoOnSending } from './linger.js'
import { createPacer } from './pacer.js'
import { plainPath } from './path.js'
import { asRefusal, send } from './respond.js'
import { createTurnstile } from './turnstile.js'
import { ENDPOINTS, refusalAnswer, takes, tokenAnswer } from './wire.js'

/** What `tokenRouter` takes. */
export interface TokenRouterOptions extends HostOptions {
  /** Issues the tokens: what `createTokenIssuer` made. */
  tokens: TokenIssuer
  /** Finds an account by its e-mail address: a function, or a whole store. */
  accounts: AccountLookup | AccountStore
  /** Where the endpoint is, below the router's mount point: a plain path, no patterns. Default `/api/v2013/authentication/token`. */
  path?: string | undefined
  /** Checks passwords. Default: `createPasswords()`. */
  passwords?: Passwords | undefined
  /** Failed-login budgets. Default: `createThrottle()`, in this process's memory. `false` goes without. */
  throttle?: Throttle | false | undefined
  /** The longest request body: bytes as a number, or a string like `'10kb'`; at most 1 MB. Default 10 kB. A longer one is a `413`. */
  bodyLimit?: number | string | undefined
  /** Puts the e-mail address, as the client sent it, into the events of logins. It is personal data. Default false. */
  emailInEvents?: boolean | undefined
}

const tokenIssuer = withMethods<TokenIssuer>('what createTokenIssuer() returned', ['issue', 'now'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier issues nothing' : '',
)

const accountsOption: Check<AccountStore> = (value) => {
  if (typeof value !== 'function' && !(isPlainObject(value) && typeof value['findByEmail'] === 'function')) {
    throw new Expected('a function (email) => account, or a store with "findByEmail"')
  }
  return storeOf(value as AccountLookup | AccountStore)
}

const PASSWORDS = ['what createPasswords() returned', 'Hashers go into createPasswords({ hashers: [...] })'] as const
const passwordsObject = withMethods<Passwords>(PASSWORDS[0], ['verify', 'hash'], () => PASSWORDS[1])
const passwordsOption: Check<Passwords> = (value) => {
  const passwords = passwordsObject(value)
  if ('accepts' in passwords) throw new Expected(...PASSWORDS)
  return passwords
}

const throttleObject = withMethods<Throttle>(
  'what createThrottle() returned, or false',
  ['spend'],
  () => 'Budgets go into createThrottle({ budgets })',
)
const throttleOption: Check<Throttle | false> = (value) => value !== false && throttleObject(value)

const MAX_BODY = 1_048_576

/** How many token calls one turn of the event loop takes up. Each costs about as much as a plain route's. */
const CALLS_PER_TURN = 8

/** How many may wait for it. */
const MOST_WAITING = 1024

/** Refusals that a flood is answered with, and cost nothing else: sent as fast as they come, they would be all the app does. */
const PACED: ReadonlySet<AuthErrorCode> = new Set(['overloaded', 'too_many_attempts'])

/** Five hundred a second, after a hundred at once; none later than a second. */
const PACE = { every: 2, burst: 100, most: 1000 }

/** Narrower than bytes.parse(), which reads '10 kilobytes' as ten bytes. */
const BYTE_SIZE = /^\d+(\.\d+)? ?([km]?b)?$/i

const byteSize: Check<number> = (value) => {
  const readable = typeof value === 'number' || (typeof value === 'string' && BYTE_SIZE.test(value))
  const size = readable ? bytes.parse(value as number | string) : null
  if (size === null || !Number.isInteger(size) || size < 1 || size > MAX_BODY) {
    throw new Expected("a number of bytes or a string like '10kb', from 1 byte to 1 MB")
  }
  return size
}

const rows = {
  tokens: tokenIssuer,
  accounts: accountsOption,
  path: optional(plainPath, ENDPOINTS.token.path),
  passwords: optional(passwordsOption),
  throttle: optional(throttleOption),
  bodyLimit: optional(byteSize, 10_240),
  emailInEvents: optional(bool, false),
  ...hostRows,
}

const MISTAKES = {
  issuer: 'tokens',
  tokenIssuer: 'tokens',
  account: 'accounts',
  findAccount: 'accounts',
  findByEmail: 'accounts',
  store: 'accounts',
  users: 'accounts',
  hashers: 'passwords',
  limiter: 'throttle',
  rateLimit: 'throttle',
  limit: 'bodyLimit',
  url: 'path',
}

/**
 * Makes the router with the token endpoint: `POST` e-mail and password, get a token and its expiration.
 * It parses its own body, and takes one that the host's parser has read.
 * @throws TypeError naming the option that cannot be used
 */
export function tokenRouter(options: TokenRouterOptions): Router {
  const read = readOptions<TokenRouterOptions, typeof rows>('tokenRouter', options, rows, MISTAKES)
  const {
    tokens,
    accounts,
    path,
    passwords = createPasswords(),
    bodyLimit,
    timeout,
    emailInEvents,
    forwardErrors,
  } = read
  const throttle = read.throttle === false ? undefined : (read.throttle ?? createThrottle())
  const login = createLogin({ store: accounts, passwords, throttle, timeout })
  const emit = emitter(read.onEvent)
  const turn = createTurnstile(CALLS_PER_TURN, MOST_WAITING)
  const pace = createPacer(PACE.every, PACE.burst, PACE.most)

  async function answer(req: Request, res: Response, subject: EventSubject): Promise<void> {
    const isTaken = takes('token', req.method)
    // Before it waits, or whoever listens to the body besides would have taken it.
    const body = isTaken ? await readBody(req, bodyLimit) : undefined
    await turn()
    if (!isTaken) throw new AuthError('method_not_allowed')
    const credentials = credentialsIn(body, bodyLimit)
    if (emailInEvents) subject.email = credentials.email
    const failed: LoginContext['failed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    const context = { address: subject.address, signal: goneSignal(req.socket), failed }
    const issuedAt = tokens.now()
    const account = await loginByPassport(credentials, (seen) => login(seen, context))
    const { scopes, claims } = account
    const issued = tokens.issue({ accountId: account.id, scopes: scopes ?? [], claims: claims ?? {}, issuedAt })
    send(res, tokenAnswer(issued.token, issued.expiresAt))
    emit(subject, { type: 'token.issued', accountId: account.id, tokenId: issued.id, expiresAt: issued.expiresAt })
  }

  const router = Router({ caseSensitive: true, strict: true })
  router.all(path, function tokenEndpoint(req, res, next) {
    const subject: EventSubject = { address: req.ip }
    const refuse = (thrown: unknown) => {
      const error = asRefusal('token', thrown)
      emit(subject, refusalEvent('token', error))
      if (forwardErrors && error.code === 'unavailable') return next(error)
      // All that is kept while it waits: the error holds on to the whole login by its stack.
      const refusal = refusalAnswer('token', error)
      const respond = () => send(res, refusal, mayGoOnSending(req, bodyLimit) ? endAndCut : undefined)
      const wait = PACED.has(error.code) ? pace() : 0
      return wait > 0 ? sleep(wait).then(respond) : respond()
    }
    answer(req, res, subject).catch(refuse).catch(next)
  })
  return router
}

const gone = new WeakMap<Socket, AbortSignal>()

/** Tells when nobody waits for an answer any more. One for each connection, whose requests may stand in a line. */
function goneSignal(socket: Socket): AbortSignal {
  if (socket.destroyed) return AbortSignal.abort()
  const known = gone.get(socket)
  if (known) return known
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  socket.once('close', () => controller.abort())
  gone.set(socket, controller.signal)
  return controller.signal
}
