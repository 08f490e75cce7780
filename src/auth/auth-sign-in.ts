import type { Request, Response } from 'express'
import type { FindById } from '../accounts/find-account.js'
import { accountIdOf } from '../accounts/request-user.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { NO_STORE } from '../errors/headers.js'
import { reportRefusal } from '../events/report-refusal.js'
import { addressOf, originOfRequest, type RequestOrigin } from '../http/origin.js'
import { rejectionOf } from '../http/refuse.js'
import type { FinishSignIn } from '../login/finish-sign-in.js'
import { type KnownSignIn, knownSignInOf } from '../login/known-sign-in.js'
import { withLongest } from '../login/refresh-mode.js'
import { type SignInWithParts, signInById } from '../login/sign-in-with.js'
import type { TokenSettings } from '../login/token-settings.js'
import { bool, isTextList } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { checkThat, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, isValidDate, memberOf, own } from '../options/values.js'
import type { NewSession } from '../sessions/session.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import {
  factsOf,
  invalidToken,
  isActing,
  isVerifiedToken,
  mayHaveSession,
  signedInAtOf,
  type VerifiedToken,
} from '../tokens/verified-token.js'
import { refusalsWith } from './auth-errors.js'

/** The details of `auth.signIn`. */
export interface AuthSignInDetails {
  /**
   * The token of the administrator who [acts as the
   * user](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-in-steps.md#an-administrator-acts-as-a-user).
   * Pass `authOf(req)`. The new token expires with the administrator's token and cannot be refreshed. Default: none.
   */
  actor?: VerifiedToken
  /** Device name in the session list. Default: the result of `sessionLabel`. */
  label?: NewSession['label']
  /**
   * Time just before you authenticated the account. If the account's `tokensValidAfter` is later than `issuedAt`, guards reject the token.
   * Default: the time of the call.
   */
  issuedAt?: Date | undefined
  /**
   * Authentication methods (RFC 8176) for the claim `amr`, such as `['hwk', 'user']`. Default: from the `subject` or `actor`, otherwise
   * none.
   */
  amr?: readonly string[] | undefined
  /** `false` makes the browser delete the cookie when it closes. Default: `true`. */
  remember?: boolean | undefined
}

/** The body of the response: that of the token endpoint, or what `respond` returned. */
export interface SignedIn {
  /** The token. */
  authenticationToken: string
  /** The expiration of the token, in ISO 8601 and UTC. */
  expiration: string
  /** The refresh token, for clients that keep it themselves. */
  refreshToken?: string
  /** A member that `respond` has added. */
  [member: string]: unknown
}

/**
 * Signs in an account that you have authenticated: by `auth.logIn`, a passkey, a mailed link or another provider. Issues a token, starts
 * the session, sets the cookie with the refresh token, and keeps the response out of caches. With a cookie, it ends the session that the request
 * had for this account. A disabled account is refused.
 *
 * `beforeSignIn` is called with `method: 'host'` and no fields, except for the `subject` of `auth.logIn`, for which it has been called. It is not
 * called with `actor`, because then the user does not sign in.
 * @param whom the account, the object that stood for it in `req.user`, or its id. The account is looked up again by its id. Or the `subject`
 * that `auth.logIn` or `LoginStrategy` returned, whose terms then hold, and whose password must not have changed meanwhile
 * @param res the response. Required where the refresh token is in a cookie
 * @throws the error that `refuse` passes to `next`. Otherwise AuthError `invalid_credentials` for an account that is gone, disabled or changed meanwhile, or that is itself one of the actors;
 * `unavailable`, `overloaded`, `client_closed_request`. Then no session remains. SignInRefusal of `beforeSignIn`. `forbidden` without `actor`, for the request of an
 * administrator who acts as an account. `invalid_token` for an actor whose token expires in less than 1 s. TypeError for an invalid argument
 */
export type AuthSignIn<U = never> = (
  whom: { readonly id: string } | TokenSubject | U | string,
  req: Request,
  res?: Response,
  details?: AuthSignInDetails,
) => Promise<SignedIn>

const amrOption = checkThat<readonly string[]>("an array of texts, like ['hwk', 'user']", isTextList)

const schema = {
  actor: optional(checkThat<VerifiedToken>('the verified token of the administrator: authOf(req)', isVerifiedToken)),
  label: (value: unknown) => value as NewSession['label'],
  issuedAt: optional(checkThat<Date>('a valid Date', isValidDate)),
  remember: optional(bool, true),
  amr: optional((value) => Object.freeze([...amrOption(value)])),
}

/** The details of a call that decide about its sign-in. */
interface CalledSignIn {
  amr: readonly string[] | undefined
  since: Date | undefined
  /** Undefined for an administrator who acts as the account. */
  origin: RequestOrigin | undefined
}

/** Creates the function that returns the sign-in of a call: that of the login whose subject the host passes, or another one of the account. */
function createKnownIn(parts: SignInWithParts) {
  return async (ofLogin: KnownSignIn | undefined, id: string, { amr, since, origin }: CalledSignIn) => {
    if (!ofLogin) {
      const by = { method: 'host', amr: amr ?? [], fields: {}, hasUnnamed: false } as const
      return signInById(parts, id, { ...by, origin, since })
    }
    return amr ? { ...ofLogin, subject: { ...ofLogin.subject, amr } } : ofLogin
  }
}

interface AuthSignInSettings extends TokenSettings {
  findById: FindById | undefined
  mountPath: string
  /** The issuers whose tokens are for the accounts of the app. */
  issuers: readonly string[]
}

/** Creates `auth.signIn`. */
export function createAuthSignIn(settings: AuthSignInSettings, finishSignIn: FinishSignIn): AuthSignIn {
  const { tokens, refresh, findById, mountPath, issuers, emit, refuse } = settings
  const knownIn = createKnownIn({ ...settings, findById: findById as FindById })

  function idOf(whom: unknown): string {
    const id = typeof whom === 'string' ? whom : accountIdOf(Object(whom))
    if (typeof id === 'string' && id !== '') return id
    throw misuse('signIn: pass the account, its id as a non-empty string, or the subject that auth.logIn() returned')
  }

  const signIn: AuthSignIn = async (whom, req, res, details) => {
    const read = readOptions<AuthSignInDetails, typeof schema>('signIn', details, schema)
    const { actor, label, issuedAt, remember, amr } = read
    const ofLogin = knownSignInOf(whom)
    const id = ofLogin?.subject.accountId ?? idOf(whom)
    if (!isPlainObject(memberOf(Object(req), 'headers')))
      throw misuse('signIn: pass the request as the second argument')
    if (details && Object.hasOwn(details, 'actor') && !actor)
      throw misuse('signIn: "actor" is undefined. Pass authOf(req), or omit it to sign the account in itself')
    if (!ofLogin && !findById)
      throw misuse('signIn: the account store has no "findById". Pass createAuth() a store with this method')
    const current = memberOf(req, 'auth')
    if (!actor && isVerifiedToken(current) && isActing(current)) throw new AuthError('forbidden', factsOf(current))
    const mode = actor ? undefined : refresh?.modeOf(req)
    if (mode === 'cookie' && !res)
      throw misuse('signIn: pass the response too, because it sends the cookie. Call signIn(account, req, res)')
    const origin = originOfRequest(req)
    const known = await knownIn(ofLogin, id, { amr, since: issuedAt, origin: actor ? undefined : origin })
    const { body } = await finishSignIn({
      ...known,
      subject: withActor(known.subject, actor, issuers, Number(tokens.now())),
      req,
      res,
      origin,
      about: { address: origin.address },
      mode,
      remember,
      label,
      mountPath,
      actor,
    })
    if (res && !res.headersSent) res.set(NO_STORE)
    return JSON.parse(body)
  }

  return async function signInOrRefuse(whom, req, res, details) {
    try {
      return await signIn(whom, req, res, details)
    } catch (thrown) {
      if (!isAuthError(thrown)) throw thrown
      const refusal = reportRefusal(emit, { address: addressOf(req) }, refusalsWith(thrown), thrown)
      throw rejectionOf(refuse, refusal, req)
    }
  }
}

/**
 * Adds the actor to the claims (RFC 8693 section 4.1), with the actor's own actor.
 * @param issuers the issuers whose tokens are for the accounts of the app
 * @throws AuthError `invalid_credentials` for an account that is one of the actors: acting as oneself would renew a token without end.
 * `invalid_token` when less than 1 s is left of the actor's token, which the new token must not outlive
 */
function withActor(
  subject: TokenSubject,
  actor: VerifiedToken | undefined,
  issuers: readonly string[],
  now: number,
): TokenSubject {
  if (!actor) return subject
  const { accountId, claims } = subject
  const act = { sub: actor.accountId, iss: actor.issuer, ...earlierActor(actor.claims, actor.issuer) }
  for (let one: unknown = act; isPlainObject(one); one = own(one, 'act')) {
    // API keys and old tokens are for the accounts of the app too, also where another guard has admitted them.
    const isOurs = issuers.includes(String(own(one, 'iss'))) || (one === act && !mayHaveSession(actor))
    if (isOurs && own(one, 'sub') === accountId) throw new AuthError('invalid_credentials', { accountId })
  }
  const left = actor.expiresAt.getTime() - now
  if (left < 1000) throw invalidToken('expired', actor)
  // The epoch for a token that does not tell: a sign-in at an unknown time is not recent.
  const ofActor = { signedInAt: signedInAtOf(actor), amr: actor.amr }
  return { ...withLongest(subject, left), claims: { ...claims, act }, ...ofActor }
}

/** Returns the actor in a token, with its own. One without an issuer is of the token's issuer. */
function earlierActor(claims: Readonly<Record<string, unknown>>, issuer: string): { act?: object } {
  const act = memberOf(claims, 'act')
  return isPlainObject(act) ? { act: { iss: issuer, ...act, ...earlierActor(act, issuer) } } : {}
}
