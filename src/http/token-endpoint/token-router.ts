import bytes from 'bytes'
import { type Request, Router } from 'express'
import { type AccountLookup, type AccountStore, storeOf } from '../../accounts/account.js'
import { createLogin, type LoginContext } from '../../accounts/login.js'
import { createPasswords, type Passwords } from '../../accounts/passwords/passwords.js'
import { createThrottle, type Throttle } from '../../accounts/throttle/throttle.js'
import { AuthError } from '../../shared/errors.js'
import { type EventSubject, emitter, refusalEvent } from '../../shared/events.js'
import {
  bool,
  type Check,
  InvalidOption,
  isPlainObject,
  optional,
  readOptions,
  withMethods,
} from '../../shared/options.js'
import type { TokenIssuer } from '../../tokens/tokens.js'
import { ENDPOINTS, refusalAnswer, takes, tokenAnswer } from '../shared/answers.js'
import { answerThenClose, hasUnreadBody } from '../shared/close-after-answer.js'
import { credentialsIn, loginByPassport } from '../shared/credentials.js'
import { disconnectSignal } from '../shared/disconnect-signal.js'
import { type HostOptions, hostSchema } from '../shared/host-options.js'
import { plainPath } from '../shared/mount-path.js'
import { asRefusal, sendAnswer } from '../shared/send-answer.js'
import { addressOf, sourceOf } from '../shared/source.js'
import { createTurnQueue } from '../shared/turn-queue.js'
import { readBody } from './request-body.js'

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
    throw new InvalidOption('a function (email) => account, or a store with "findByEmail"')
  }
  return storeOf(value as AccountLookup | AccountStore)
}

const PASSWORDS = ['what createPasswords() returned', 'Hashers go into createPasswords({ hashers: [...] })'] as const
const passwordsObject = withMethods<Passwords>(PASSWORDS[0], ['verify', 'hash'], () => PASSWORDS[1])
const passwordsOption: Check<Passwords> = (value) => {
  const passwords = passwordsObject(value)
  if ('accepts' in passwords) throw new InvalidOption(...PASSWORDS)
  return passwords
}

const throttleObject = withMethods<Throttle>(
  'what createThrottle() returned, or false',
  ['spend'],
  () => 'Budgets go into createThrottle({ budgets })',
)
const throttleOption: Check<Throttle | false> = (value) => value !== false && throttleObject(value)

const MAX_BODY = 1_048_576

/** How many token calls may wait for a turn of the event loop, at all routers together. No client has a reason to pipeline them. */
export const TOKEN_CALLS = { total: 2048, perNetwork: 1024, perConnection: 16 }

const waitForTurn = createTurnQueue(TOKEN_CALLS)

/** Narrower than bytes.parse(), which reads '10 kilobytes' as ten bytes. */
const BYTE_SIZE = /^\d+(\.\d+)? ?([km]?b)?$/i

const byteSize: Check<number> = (value) => {
  const readable = typeof value === 'number' || (typeof value === 'string' && BYTE_SIZE.test(value))
  const size = readable ? bytes.parse(value as number | string) : null
  if (size === null || !Number.isInteger(size) || size < 1 || size > MAX_BODY) {
    throw new InvalidOption("a number of bytes or a string like '10kb', from 1 byte to 1 MB")
  }
  return size
}

const schema = {
  tokens: tokenIssuer,
  accounts: accountsOption,
  path: optional(plainPath, ENDPOINTS.token.path),
  passwords: optional(passwordsOption),
  throttle: optional(throttleOption),
  bodyLimit: optional(byteSize, 10_240),
  emailInEvents: optional(bool, false),
  ...hostSchema,
}

const aliases = {
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
  const read = readOptions<TokenRouterOptions, typeof schema>('tokenRouter', options, schema, aliases)
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
  const login = createLogin({ store: accounts, passwords, throttle, timeout, now: () => tokens.now() })
  const emit = emitter(read.onEvent)

  async function logIn(req: Request, subject: EventSubject) {
    if (!takes('token', req.method)) throw new AuthError('method_not_allowed')
    const source = sourceOf(req)
    const credentials = credentialsIn(await readBody(req, bodyLimit), bodyLimit)
    if (emailInEvents) subject.email = credentials.email
    await waitForTurn(source)
    const failed: LoginContext['failed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    const context = { address: subject.address, source, signal: disconnectSignal(req.socket), failed }
    const { account, asOf } = await loginByPassport(credentials, (seen) => login(seen, context))
    const { id, scopes, claims } = account
    const issued = tokens.issue({ accountId: id, scopes: scopes ?? [], claims: claims ?? {}, issuedAt: asOf })
    return { accountId: id, issued, answer: tokenAnswer(issued.token, issued.expiresAt) }
  }

  const router = Router({ caseSensitive: true, strict: true })
  router.all(path, function tokenEndpoint(req, res, next) {
    const subject: EventSubject = { address: addressOf(req) }
    const refuse = (thrown: unknown) => {
      const error = asRefusal('token', thrown)
      emit(subject, refusalEvent('token', error))
      if (forwardErrors && error.code === 'unavailable') return next(error)
      sendAnswer(res, refusalAnswer('token', error), hasUnreadBody(req, bodyLimit) ? answerThenClose : undefined)
    }
    const succeed = ({ accountId, issued, answer }: Awaited<ReturnType<typeof logIn>>) => {
      emit(subject, { type: 'token.issued', accountId, tokenId: issued.id, expiresAt: issued.expiresAt })
      sendAnswer(res, answer)
    }
    // Not `catch(refuse)`: whatever sending throws belongs to the host, and the call has had its event.
    logIn(req, subject).then(succeed, refuse).catch(next)
  })
  return router
}
