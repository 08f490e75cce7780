import { AuthError } from '../errors/auth-error.js'
import type { TokenRefusal } from '../errors/codes.js'
import { brand, hasBrand, markOf } from '../options/brand.js'
import { isScopeList, isTextList, LAST_MOMENT } from '../options/checks.js'
import { isPlainObject, isThenable, isValidDate, memberOf, own, resultOrUndefined } from '../options/values.js'

/** Private claims: JSON values, or what a custom verifier returns. */
export type PrivateClaims = Readonly<Record<string, unknown>>

/** @inline */
// biome-ignore lint/suspicious/noExplicitAny: with unknown, no interface would fit, because it has no index signature.
type AnyClaims = Readonly<Record<string, any>>

/** Returns whether the private claims of a token have a type: `(claims): claims is Claims => typeof claims.tenant === 'string'`. */
export type ClaimsCheck<C> = (claims: AnyClaims) => claims is AnyClaims & C

/**
 * A verified token. Frozen, except the claims of a custom verifier, and without the token's text. Requests share the object, unless their
 * guard looks accounts up. `C` is the type of its private claims.
 */
export interface VerifiedToken<C = PrivateClaims> {
  /** The token's id (`jti`), the key for a denylist. */
  readonly id: string
  /** The account that the token was issued to (`sub`). */
  readonly accountId: string
  /** The environment that issued it (`iss`). */
  readonly issuer: string
  /** The audience (`aud`). */
  readonly audience: string
  /** The client that the token was issued to (`client_id`). Undefined when the token names none. */
  readonly clientId?: string | undefined
  /** The scopes (`scope`). After a look-up of the account: those that the token and the account both have. Empty without scopes. */
  readonly scopes: readonly string[]
  /** The session of a token that this package issued with `refresh` (`sid`). Other tokens with a session have its id as their own. */
  readonly sessionId?: string | undefined
  /**
   * The time of issue: `iat`, with the milliseconds of the `jti` that this package writes. To the second for a token of an identity
   * provider, and for a token of an earlier release.
   */
  readonly issuedAt: Date
  /** The expiration (`exp`), to the second. The token is refused from this time on. */
  readonly expiresAt: Date
  /** The account's private claims. */
  readonly claims: C
  /**
   * The authentication methods of the sign-in (RFC 8176), like `['pwd']`. Undefined when the claim `amr` is absent, or not a list of texts.
   */
  readonly amr?: readonly string[] | undefined
  /** The data that the app has stored with `auth.sessions.update`, where the guard looks sessions up. Undefined without data. */
  readonly session?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Returns the private claims of a verified token, with the type that a check promises. Use it as the way to earn the type `C` of
 * `authOf<C>()` and `verify<C>()`, which do not check it.
 * @throws AuthError `invalid_token` with the reason `claims` when the check does not return true
 */
export function claimsOf<C>(auth: VerifiedToken<unknown>, check: ClaimsCheck<C>): PrivateClaims & C {
  const claims = auth.claims as PrivateClaims
  if (check(claims) === true) return claims
  throw invalidToken('claims', auth)
}

/** Returns what errors and events tell about a token whose signature is valid. */
export const factsOf = ({ accountId, id, issuer }: VerifiedToken<unknown>) => ({ accountId, tokenId: id, issuer })

/** Returns the refusal of a token whose signature is valid. */
export const invalidToken = (reason: TokenRefusal, auth: VerifiedToken<unknown>) =>
  new AuthError('invalid_token', { reason, ...factsOf(auth) })

/** Returns whether a value is a token that this package has verified, in this copy or in another copy of it. */
export function isVerifiedToken(value: unknown): value is VerifiedToken {
  return hasBrand('VerifiedToken', value)
}

/** The kinds of tokens that this package has not issued: of an identity provider, of old code with a session, and `unnamed` of a verifier with `accepts`. */
type ForeignKind = 'provider' | 'old' | 'unnamed'

/** Returns whether a token may be newer than its sign-in, because another issuer has issued it. */
export const mayBeRefreshed = (auth: VerifiedToken) => markOf('VerifiedToken', auth) !== undefined

/**
 * Returns the time of the sign-in, in milliseconds. `auth_time` (RFC 9470 section 6) stays when another issuer refreshes a token. NaN for an
 * `auth_time` that is not a number, and for another issuer's token without it or with one after its issue. A time in milliseconds would
 * otherwise make each refreshed token a recent sign-in.
 */
export function signInOf(auth: VerifiedToken): number {
  const isForeign = mayBeRefreshed(auth)
  const time = memberOf(auth.claims, 'auth_time') ?? (isForeign ? undefined : Number.POSITIVE_INFINITY)
  const issuedAt = auth.issuedAt.getTime()
  if (typeof time !== 'number' || (isForeign && Math.floor(time) * 1000 > issuedAt)) return Number.NaN
  return Math.min(time * 1000, issuedAt)
}

/** Returns the time of the sign-in for another token of the account. A time that is not known is the earliest one. */
export const signedInAtOf = (auth: VerifiedToken) => new Date(signInOf(auth) || 0)

/** Returns whether a token may have a session. API keys have none, and old tokens only where the host says which. */
export const mayHaveSession = (auth: VerifiedToken) => markOf('VerifiedToken', auth) !== 'unnamed'

/** Returns whether an administrator, or another service, uses the token as the account (RFC 8693 section 4.1). */
export const isActing = (auth: VerifiedToken) => memberOf(auth.claims, 'act') !== undefined

/**
 * Creates a verified token from the result of a host's own verifier. A token of this package is returned unchanged. From another object,
 * each member of a token is read once and copied, except the claims, which stay as they are. Defaults: the verifier's issuer, an empty
 * audience and claims, and as `expiresAt` the latest time that a `Date` can hold.
 * @returns undefined for a value that is not a token
 */
export function toVerifiedToken(value: unknown, verifiedBy: string, isUnnamed: boolean): VerifiedToken | undefined {
  if (isVerifiedToken(value)) return value
  if (!isPlainObject(value) || isThenable(value)) return undefined
  const id = memberOf(value, 'id')
  const accountId = memberOf(value, 'accountId')
  const issuer = memberOf(value, 'issuer') ?? verifiedBy
  const audience = memberOf(value, 'audience') ?? ''
  const clientId = memberOf(value, 'clientId')
  const given = memberOf(value, 'scopes')
  const scopes: unknown = Array.isArray(given) ? [...given] : given
  const issuedAt = memberOf(value, 'issuedAt')
  const expiresAt = memberOf(value, 'expiresAt') ?? new Date(LAST_MOMENT)
  const claims = memberOf(value, 'claims') ?? {}
  if (typeof id !== 'string' || id === '' || typeof accountId !== 'string' || accountId === '') return undefined
  if (typeof issuer !== 'string' || typeof audience !== 'string' || !isScopeList(scopes)) return undefined
  if (clientId !== undefined && typeof clientId !== 'string') return undefined
  if (!isValidDate(issuedAt) || !isValidDate(expiresAt)) return undefined
  if (!isPlainObject(claims) || isThenable(claims)) return undefined
  const [iat, exp] = [issuedAt.getTime() / 1000, expiresAt.getTime() / 1000]
  const kind = isUnnamed ? 'unnamed' : undefined
  return new Verified({ id, accountId, issuer, audience, clientId, scopes, iat, exp, claims, kind })
}

/**
 * The members of a token. Times are in seconds, because whole numbers of this size need no extra memory. `iat` of a custom verifier may
 * have milliseconds, as a fraction.
 */
interface Members extends Omit<VerifiedToken, 'issuedAt' | 'expiresAt' | 'amr'> {
  /** Frozen, unless they are those of a host's verifier. */
  claims: PrivateClaims
  iat: number
  exp: number
  /** Returns the time of issue in milliseconds, when it is read. Default: that of `iat`. */
  timeOfIssue?: ((id: string, iat: number) => number) | undefined
  /** Default: a token of this package, or of a custom verifier for an issuer. */
  kind?: ForeignKind | undefined
}

/** Adds an enumerable accessor. `Object.defineProperty` takes twice as long, and each new token has two. */
const defineGetter: (this: object, name: string, get: () => Date) => void = Reflect.get(
  Object.prototype,
  '__defineGetter__',
)

export class Verified implements VerifiedToken {
  readonly id: string
  readonly accountId: string
  readonly issuer: string
  readonly audience: string
  readonly clientId: string | undefined
  readonly scopes: readonly string[]
  readonly sessionId: string | undefined
  declare readonly issuedAt: Date
  declare readonly expiresAt: Date
  readonly claims: PrivateClaims
  readonly amr: readonly string[] | undefined
  readonly session: VerifiedToken['session']
  readonly #timeOfIssue: (id: string, iat: number) => number
  readonly #iat: number
  readonly #exp: number

  // Each reader gets its own Date, because a Date in a frozen object can still be changed. All tokens share the two functions.
  static readonly #issuedAt = function (this: Verified): Date {
    return dateOf(this.#timeOfIssue(this.id, this.#iat))
  }
  static readonly #expiresAt = function (this: Verified): Date {
    return dateOf(this.#exp * 1000)
  }

  constructor(members: Members) {
    const { id, accountId, issuer, audience, scopes, iat, exp, claims } = members
    this.id = id
    this.accountId = accountId
    this.issuer = issuer
    this.audience = audience
    // Other members may be absent, and a polluted `Object.prototype` must not set them.
    this.clientId = own(members, 'clientId')
    this.scopes = Object.freeze(scopes)
    this.sessionId = own(members, 'sessionId')
    this.#timeOfIssue = own(members, 'timeOfIssue') ?? timeOfIat
    this.#iat = iat
    this.#exp = exp
    defineGetter.call(this, 'issuedAt', Verified.#issuedAt)
    defineGetter.call(this, 'expiresAt', Verified.#expiresAt)
    this.claims = claims
    this.amr = amrIn(claims)
    const session = own(members, 'session')
    this.session = session && deepFreeze(session)
    Object.freeze(brand('VerifiedToken', this, own(members, 'kind')))
  }

  static {
    // Without this, a holder of a token could create another token by its constructor.
    Reflect.deleteProperty(Verified.prototype, 'constructor')
    Object.freeze(Verified.prototype)
  }
}

/** Returns the authentication methods that claims name. Those of a custom verifier may have a getter that throws. */
function amrIn(claims: PrivateClaims): readonly string[] | undefined {
  const amr = resultOrUndefined(() => memberOf(claims, 'amr'))
  if (!isTextList(amr)) return undefined
  return Object.isFrozen(amr) ? amr : Object.freeze([...amr])
}

/** The facts that the app knows of a token at one request. */
interface RequestFacts {
  /** The scopes of its account. Undefined where the guard looks no accounts up. */
  scopes: readonly string[] | undefined
  /** The data of its session. */
  session: Readonly<Record<string, unknown>> | undefined
}

/** Returns the token for one request: with the scopes that it and its account have, and the data of its session. The token itself may belong to other requests. */
export function forRequest(auth: VerifiedToken, { scopes, session }: RequestFacts): VerifiedToken {
  if (!scopes && !session) return auth
  const { id, accountId, issuer, audience, clientId, sessionId, claims, issuedAt, expiresAt } = auth
  const members = { id, accountId, issuer, audience, clientId, sessionId, claims }
  const [iat, exp] = [issuedAt.getTime() / 1000, expiresAt.getTime() / 1000]
  const kept = scopes ? auth.scopes.filter((scope) => scopes.includes(scope)) : auth.scopes
  const kind = markOf('VerifiedToken', auth) as ForeignKind | undefined
  return new Verified({ ...members, scopes: kept, iat, exp, session, kind })
}

/** Rounds, because a fraction of a second is not exact. */
const dateOf = (milliseconds: number) => new Date(Math.round(milliseconds))

const timeOfIat = (_id: string, iat: number) => iat * 1000

/** Freezes an object and all objects in it, without recursion, because claims may be nested deeper than the stack. */
export function deepFreeze<T extends object>(root: T): T {
  let open: object[] | undefined
  for (let object: object | undefined = root; object; object = open?.pop()) {
    for (const value of Object.values(Object.freeze(object))) {
      if (typeof value !== 'object' || value === null) continue
      // Most claims hold no object, so most tokens need no list.
      if (open) open.push(value)
      else open = [value]
    }
  }
  return root
}
