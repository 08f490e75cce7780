import type { IncomingMessage } from 'node:http'
import type { ErrorRequestHandler, Router } from 'express'
import { createAccountCodes } from '../account/account-codes.js'
import type { AccountParts } from '../account/account-parts.js'
import { createOwnFactors } from '../account/own-factors.js'
import { notingBlocked } from '../account/sign-in-blocked.js'
import type { Account, LookUpResult, UserOf } from '../accounts/account.js'
import { type FindById, findAccount, findByIdOption } from '../accounts/find-account.js'
import { prepareAccounts } from '../accounts/prepare-accounts.js'
import { type Codes, createCodes } from '../codes/codes.js'
import { type ApiKeys, createApiKeys } from '../factors/api-keys.js'
import { createChallenges } from '../factors/challenges.js'
import type { FactorStore } from '../factors/factor-store.js'
import { createFactors, type Factors } from '../factors/factors.js'
import { createPasskeys, type Passkeys } from '../factors/passkeys.js'
import { apiKeyVerifier } from '../features/api-keys.js'
import { RECENT_MS } from '../features/feature.js'
import { mountAll } from '../features/features.js'
import type { PasskeysParts } from '../features/passkeys.js'
import { type HostFactors, hostFactors } from '../features/second-factor.js'
import { createTickets, type TicketOptions, ticketFrom, tokenOrTicket } from '../features/tickets.js'
import {
  type AuthenticatedRequest,
  authOf,
  type BearerGuard,
  bearerGuardOf,
  requireBearerFor,
} from '../guard/require-bearer.js'
import { type RequireBearerOptions, readRequireBearerOptions } from '../guard/require-bearer-options.js'
import { endpointRouter } from '../http/endpoint.js'
import type { Limits } from '../limits/limits.js'
import { createFinish } from '../login/finish-sign-in.js'
import { createLogin } from '../login/log-in.js'
import { type Login, loginForHost } from '../login/login-for-host.js'
import { loginSettings } from '../login/login-options.js'
import { OTP, secondFactorStep } from '../login/second-factor.js'
import { noteSessionsOf } from '../login/steps.js'
import { createMailer } from '../mail/mailer.js'
import type { OpenApiOptions } from '../openapi/document-options.js'
import { awaited } from '../options/awaited.js'
import { bool } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { named, optional } from '../options/read-options.js'
import { isExposed } from '../options/urls.js'
import type { Passwords } from '../passwords/passwords.js'
import { noteIssuing } from '../sessions/mistakes.js'
import { createSessions, type Sessions } from '../sessions/sessions.js'
import type { Store } from '../store/store.js'
import { createIssuers, type TokenIssuer } from '../tokens/tokens.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { toVerifier } from '../tokens/verifier.js'
import { authErrors } from './auth-errors.js'
import { type AuthGuardOptions, type AuthOptions, type AuthSettings, readAuthOptions } from './auth-options.js'
import { type AuthSignIn, createAuthSignIn } from './auth-sign-in.js'

/** The options of `openApiDocument` that `createAuth` knows. */
export type AuthDescription = Readonly<
  Pick<OpenApiOptions, 'path' | 'extraFields' | 'refresh' | 'sessions' | 'stepUp' | 'jwks' | 'account'>
>

/**
 * A part of an app that needs a part of its store.
 * @inline
 */
type PartOf<S, Name extends keyof Store, T> = S extends { readonly [part in Name]: Store[Name] } ? T : T | undefined

/** The authentication of an app. Returned by `createAuth`. `S` is the type of its store. */
export interface Auth<A extends LookUpResult = Account, S = Partial<Store> | undefined> {
  /**
   * The token endpoint with its refresh and sign-out, the sessions of a user, and the public keys: what the options provide. Mount it
   * with `app.use(auth.router)`.
   */
  readonly router: Router
  /**
   * Creates the guard of a route: `requireBearer` with the tokens, the accounts and the sessions of the app.
   * @throws TypeError naming the option that is not valid
   */
  guard(options?: AuthGuardOptions<A> & { optional?: false | undefined }): BearerGuard
  /** Creates the guard of a route that may be optional. */
  guard(options: AuthGuardOptions<A>): BearerGuard<VerifiedToken | undefined>
  /**
   * Returns the user of a guarded request, `req.user`: the object that your look-up returned as `user`, or the account without its password
   * hash.
   * @throws TypeError when no guard has admitted the request, and when the accounts have no `findById`
   */
  userOf(req: AuthenticatedRequest & { user?: unknown }): UserOf<A>
  /** Signs an account in that you have authenticated. */
  readonly signIn: AuthSignIn<UserOf<A>>
  /**
   * Creates a ticket for one path and one method, for links that send no header: `<img>`, a download, `EventSource`, a browser's WebSocket.
   * Add it to the URL as the query member `ticket`, and guard the route with `auth.guard({ ticket: true })`. It works until it expires.
   * @throws TypeError for an invalid option, and for a request without a verified token; AuthError `invalid_token` for a token of
   * `alsoAccept` or one that has expired, `unavailable`
   */
  ticket(req: AuthenticatedRequest & IncomingMessage, options: TicketOptions): Promise<string>
  /**
   * Sends the refusals of custom routes, and errors of Express's body parsers, which may hold a password: `app.use(auth.errors)` after them.
   */
  readonly errors: ErrorRequestHandler
  /**
   * Describes the router to `openApiDocument` of `express-token-endpoint/openapi`: `openApiDocument({ ...auth.openApi, servers, paths })`.
   * Add `refusals`, and with `respond` also `tokenResponse`.
   */
  readonly openApi: AuthDescription
  /** Issues and verifies the tokens. */
  readonly tokens: TokenIssuer
  /** Authenticates credentials in custom routes, with the limits and the queue of the router. */
  readonly logIn: Login<UserOf<A>>
  /** Hashes and checks passwords: the option, or the result of `createPasswords`. */
  readonly passwords: Passwords
  /** The failed-login limits: the option, or the result of `createLimits`. */
  readonly limits: Limits | false
  /** The sessions of all accounts, where `store` has `sessions`. */
  readonly sessions: PartOf<S, 'sessions', Sessions>
  /** The second factors of all accounts, with the option `secondFactor`. */
  readonly factors: HostFactors | undefined
  /** The codes that work once, where `store` has `codes`. */
  readonly codes: PartOf<S, 'codes', Codes>
}

/**
 * Creates the authentication of an app: an issuer of tokens, a login, and a router and guards that share them. Every guard has the
 * accounts and the sessions of the app, so that no route forgets one.
 * @throws TypeError naming the option that is not valid
 */
export function createAuth<A extends LookUpResult, S extends Partial<Store> | undefined = undefined | Partial<Store>>(
  options: AuthOptions<A> & { store?: S },
): Auth<A, S> {
  const given = readAuthOptions(options)
  const { read, ofGuards, lookUps } = given
  const { paths, mountPath, refuse, store, timeout, maxPerAccount = 100 } = read
  const { tokens, tickets: ticketTokens } = createIssuers(given.ofIssuer, read.secret?.verifying)
  if (given.refresh?.cookieOrigins) assertHttps(tokens.issuer)
  const now = () => Number(tokens.now())
  const ofLogin = loginSettings(read, now, tokens)
  const { emit, passwords, limits } = ofLogin
  const issuers = [tokens.issuer, ...issuersIn(read.alsoAccept)]
  const ofRefresh = [tokens.issuer, ...issuersOfPackage(read.alsoAccept)]
  const ofSteps = given.refresh && { ...given.refresh, hashOf: hashFinder(given.refresh.findById, timeout) }
  const { sessions, refreshSteps } = store?.sessions
    ? createSessions({ store: store.sessions, issuers, maxPerAccount, timeout, emit, now, refresh: ofSteps })
    : { sessions: undefined, refreshSteps: undefined }
  const codes = store?.codes && createCodes({ store: store.codes, timeout, now })
  const factors = read.secondFactor && factorsOf(read, tokens.issuer, now)
  const passkeys = passkeysOf(read, tokens.issuer, now)
  const apiKeys =
    read.apiKeys && createApiKeys({ store: store?.factors as FactorStore, issuer: tokens.issuer, timeout, now })
  const settings = {
    ...read,
    ...ofLogin,
    ...(factors && { extraFields: [...read.extraFields, OTP], allFields: read.extraFields.length === 0 }),
    secondFactor: factors && secondFactorStep(factors),
    tokens,
    path: paths.token,
    sessions,
    refresh: refreshSteps && given.refresh && { ...given.refresh, refreshSteps, issuers: ofRefresh },
  }
  const { refresh } = settings
  if (refresh) noteSessionsOf(settings.accounts, refresh.refreshSteps)
  const mailer = read.mail && createMailer({ send: read.mail, defer: read.defer, emit, timeout })
  const plainLogIn = createLogin(settings)
  const logIn = mailer ? notingBlocked(plainLogIn, { ...settings, mailer }) : plainLogIn
  const finishSignIn = createFinish(settings)

  noteIssuing(tokens, sessions)
  if (read.signUp || read.changeAddress || read.deletion) prepareAccounts(settings.accounts)

  const accepted = read.alsoAccept.length > 0 ? [tokens, ...read.alsoAccept] : tokens
  const ownGuard = { ...ofGuards, tokens: accepted, ...(lookUps && { accounts: lookUps }) }
  /** Returns the verifiers of a guard that also admits API keys. */
  function withKeys() {
    if (!apiKeys) throw misuse('createAuth: auth.guard() with "apiKeys" needs the option "apiKeys" of createAuth()')
    // Before those of the host, which may accept every text and send it to another service.
    return [tokens, apiKeyVerifier(apiKeys, tokens.issuer, now), ...read.alsoAccept]
  }
  function guard(options: AuthGuardOptions = {}): BearerGuard<VerifiedToken | undefined> {
    const { ticket, apiKeys: admitsKeys, ...chosen } = options
    const taken = OF_THE_APP.find((name) => Object.hasOwn(chosen, name))
    if (taken)
      throw misuse(`createAuth: auth.guard() does not take "${taken}". Pass it to createAuth(), or use requireBearer()`)
    // With the prototype, because the class of the options may provide some of them: a guard must not lose its scopes.
    const guardWith = (own: Partial<RequireBearerOptions>) =>
      requireBearerFor(
        'auth.guard',
        Object.setPrototypeOf({ ...ownGuard, ...chosen, ...own }, Object.getPrototypeOf(options)),
      )
    const byToken = guardWith(named('auth.guard: option "apiKeys"', onOption, admitsKeys) ? { tokens: withKeys() } : {})
    if (!named('auth.guard: option "ticket"', onOption, ticket)) return byToken
    return tokenOrTicket(byToken, guardWith({ tokens: ticketTokens, scheme: undefined, tokenFrom: ticketFrom }))
  }
  // Also checks the options of all guards.
  const guardSettings = readRequireBearerOptions('auth.guard', ownGuard)
  const plainGuard = bearerGuardOf(guardSettings)
  const accountParts = {
    ...settings,
    findById: findByIdIn(lookUps),
    finishSignIn,
    codes: codes && createAccountCodes(codes, tokens.issuer),
    mailer,
    apiKeys,
    ownFactors: createOwnFactors({ store: store?.factors, factors, passkeys, timeout }),
  } as AccountParts
  const hasKeys = tokens.jwks().keys.length > 0
  const mounted = mountAll(paths, {
    signIn: { ...settings, logIn, finishSignIn },
    refresh: refresh && { ...settings, refresh },
    keys: hasKeys ? { tokens } : undefined,
    sessions: sessions && { sessions },
    stepUp: sessions &&
      lookUps && { ...settings, sessions, logIn, passkeys, factors, findById: findByIdOption(lookUps) },
    ...accountFeatures(read, accountParts, { factors, apiKeys, passkeys }),
  })
  const guards = {
    user: guard({ acting: false }),
    recent: guard({ acting: false, signedInWithin: `${RECENT_MS}ms` }),
    session: plainGuard,
  }
  const router = endpointRouter(mounted, {
    ...settings,
    guards,
    challenge: guardSettings,
    modeOf: refresh?.modeOf,
    cookieOrigins: refresh?.cookieOrigins,
  })
  const openApi = {
    path: mountPath + paths.token,
    extraFields: options.extraFields,
    refresh: modeToDescribe(options.refresh),
    sessions: sessions !== undefined && mountPath + paths.sessions,
    stepUp: sessions !== undefined && lookUps !== undefined,
    jwks: hasKeys && mountPath + paths.keys,
    account: accountToDescribe(read, mountPath + paths.account),
  }

  const auth = {
    router,
    guard: guard as Auth<A>['guard'],
    userOf(req: AuthenticatedRequest & { user?: unknown }) {
      authOf(req)
      if (lookUps) return req.user as UserOf<A>
      throw misuse('createAuth: userOf() needs "accounts" with "findById"')
    },
    signIn: awaited(
      'signIn',
      createAuthSignIn(
        {
          ...settings,
          findById: lookUps && findByIdOption(lookUps),
          mountPath,
          issuers: [tokens, ...read.alsoAccept].map(({ issuer }) => issuer),
        },
        finishSignIn,
      ),
    ) as Auth<A>['signIn'],
    ticket: awaited('auth.ticket', createTickets(ticketTokens)),
    errors: authErrors({ emit, refuse }),
    openApi: Object.freeze(openApi),
    tokens,
    logIn: awaited('logIn', loginForHost(settings, logIn)) as Login<UserOf<A>>,
    passwords,
    limits: (options.limits ?? limits) as Auth<A>['limits'],
    factors: factors && hostFactors(factors, emit),
    sessions: sessions as Auth<A, S>['sessions'],
    codes: codes as Auth<A, S>['codes'],
  }
  return Object.freeze(auth)
}

/** @throws TypeError for an API over http, because browsers take a cookie of every site only over https */
function assertHttps(issuer: string): void {
  if (isExposed(new URL(issuer)))
    throw misuse(
      'createAuth: option "issuer" is an http URL. Use https, which browsers require for a cookie with "sameSite": \'none\'',
      PAGE.otherSites,
    )
}

/** Creates the look-up of an account's password hash. */
const hashFinder = (findById: FindById, timeout: number) => async (accountId: string) =>
  (await findAccount(findById, accountId, timeout))?.account.passwordHash

/** Returns the second factor of an app. */
const factorsOf = (
  { secondFactor, store, secret, timeout }: AuthSettings['read'],
  issuer: string,
  now: () => number,
): Factors =>
  createFactors({
    store: store?.factors as FactorStore,
    issuer,
    label: secondFactor?.name ?? new URL(issuer).hostname,
    secrets: secret?.decrypting ?? [],
    timeout,
    now,
  })

/** Returns the passkeys of an app, where it has them. */
function passkeysOf(
  { passkeys: checks, store, secret, timeout }: AuthSettings['read'],
  issuer: string,
  now: () => number,
): Passkeys | undefined {
  if (!checks) return undefined
  const { origin, hostname } = new URL(issuer)
  if (!checks.origins && hostname !== checks.rpId && !hostname.endsWith(`.${checks.rpId}`))
    throw misuse(
      'createAuth: option "passkeys" has an "rpId" that is neither the host of "issuer" nor a parent domain. Pass the "origins" of your pages to passkeys()',
      PAGE.secondFactor,
    )
  const challenges = createChallenges({ secrets: secret?.verifying ?? [], issuer, now })
  const factors = store?.factors as FactorStore
  return createPasskeys({
    store: factors,
    issuer,
    origins: checks.origins ?? [origin],
    checks,
    challenges,
    timeout,
    now,
  })
}

/** The look-up by id, where the accounts have it. */
const findByIdIn = (accounts: unknown) => (accounts === undefined ? undefined : findByIdOption(accounts))

/** The factors of an app. Each is undefined where it is off. */
interface AppFactors {
  factors: Factors | undefined
  apiKeys: ApiKeys | undefined
  passkeys: Passkeys | undefined
}

const passkeyFeatures = (parts: PasskeysParts | undefined) => ({ passkeys: parts, passkeySignIn: parts })

/** Returns the dependencies of the account routes that are on, whose parts `assertNeeds` has checked. */
const accountFeatures = (
  { signUp, passwordReset, changePassword, changeAddress, deletion, signInByMail }: AuthSettings['read'],
  parts: AccountParts,
  { factors, apiKeys, passkeys }: AppFactors,
) => ({
  ...passkeyFeatures(passkeys && { ...parts, passkeys, factors, signsInByMail: signInByMail === true }),
  apiKeys: apiKeys && { ...parts, apiKeys },
  secondFactor: factors && { ...parts, factors },
  signUp: signUp && { ...parts, fields: signUp.fields },
  passwordReset: passwordReset && parts,
  changePassword: changePassword && parts,
  changeAddress: changeAddress && parts,
  deletion: deletion && parts,
  signInByMail: signInByMail && parts,
})

/** The issuers of further tokens that may have sessions. */
const issuersIn = (verifiers: AuthOptions['alsoAccept'] = []) =>
  verifiers
    .map(toVerifier)
    .filter(({ accepts, hasSessions }) => !accepts || hasSessions)
    .map(({ issuer }) => issuer)

/** The issuers of further tokens that may have written refresh tokens of this app. An identity provider and old code have not. */
const issuersOfPackage = (verifiers: AuthOptions['alsoAccept'] = []) =>
  verifiers
    .map(toVerifier)
    .filter(({ isOfPackage }) => isOfPackage)
    .map(({ issuer }) => issuer)

/** The options of account routes, which the document has too. */
const ACCOUNT_OPTIONS = [
  'signUp',
  'passwordReset',
  'changePassword',
  'changeAddress',
  'deletion',
  'signInByMail',
  'secondFactor',
  'apiKeys',
  'passkeys',
] as const

/** Returns the account routes that are on, for the document. Undefined for an app that has none. */
function accountToDescribe(read: AuthSettings['read'], path: string): AuthDescription['account'] {
  const on = ACCOUNT_OPTIONS.filter((name) => read[name] !== undefined)
  return on.length > 0
    ? { path, ...Object.fromEntries(on.map((name) => [name, name === 'passkeys' || read[name]])) }
    : undefined
}

/** Returns the mode of refresh tokens for the document. True where a function decides. */
function modeToDescribe(refresh: AuthOptions['refresh']): AuthDescription['refresh'] {
  const mode = typeof refresh === 'object' ? (refresh.mode ?? 'cookie') : refresh
  return typeof mode === 'function' || mode
}

const onOption = optional(bool, false)

/** The options that all guards of an app share. A guard without one of them would admit what the others refuse. */
const OF_THE_APP = ['tokens', 'accounts', 'store', 'isRevoked', 'timeout', 'onEvent'] as const
