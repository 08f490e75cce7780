import { randomUUID } from 'node:crypto'
import type { TokenRefusal } from '../../errors/codes.js'
import { LAST_MOMENT, SCOPE_TOKEN } from '../../options/checks.js'
import { bare, isPlainObject, own } from '../../options/values.js'
import { deepFreeze, type PrivateClaims, Verified, type VerifiedToken } from '../verified-token.js'
import type { CompactToken } from './compact-jws.js'

/** The media type of a JWT access token, in its `typ` header (RFC 9068 section 2.1). */
export const TYP = 'at+jwt'

/** The form of the tokens that a verifier accepts. */
export interface TokenForm<T = VerifiedToken> {
  /** Returns whether tokens of this form may have a `typ` in their header. */
  isType(typ: unknown): boolean
  /**
   * The keys of a token that names none: `only` for the only key, where the token has no `kid`, and `each` for all keys, also where the `kid`
   * is unknown. Default: none.
   */
  readonly unnamedKeys?: 'only' | 'each'
  /** Reads the claims of a token whose signature is valid. Returns the reason of a refusal, or the accepted claims. */
  readClaims(payload: unknown, expected: Expectation, token: CompactToken): TokenRefusal | AcceptedClaims<T>
}

export interface Expectation {
  issuer: string
  audience: string
  /** Milliseconds since the epoch. */
  now: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  tolerance: number
  /** The `nonce` of an ID token. Undefined when the token must have none. */
  nonce?: string | undefined
}

/** The verified token, and the time in which it is valid: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims<T = VerifiedToken> {
  readonly token: T
  readonly notBefore: number
  readonly notAfter: number
}

interface ValidTime extends Omit<AcceptedClaims, 'token'> {
  readonly iat: number
  readonly exp: number
}

/** Returns a check for the `typ` of other issuers' tokens, in any letter case as a media type (RFC 7515 section 4.1.9). */
export const anyCase =
  (types: readonly (string | undefined)[]) =>
  (typ: unknown): boolean =>
    types.includes(typeof typ === 'string' ? typ.toLowerCase() : (typ as undefined))

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value * 1000 <= LAST_MOMENT
const isWholeTime = (value: unknown): value is number => isTime(value) && Number.isInteger(value)
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns the scopes of a `scope` claim, undefined when it is not valid. */
function readScopes(scope: unknown): string[] | undefined {
  if (scope === undefined) return []
  const scopes = typeof scope === 'string' ? scope.split(' ') : undefined
  return scopes?.every((token) => SCOPE_TOKEN.test(token)) ? scopes : undefined
}

/**
 * Returns the times of a token, or the reason of a refusal: `claims` for times that are not seconds, or not in their order. A token whose
 * `exp` has passed is `expired`, also when its `iat` is later.
 * @param isValid Default: a time in whole seconds
 */
export function readTimes(
  payload: Readonly<Record<string, unknown>>,
  { now, tolerance }: Expectation,
  isValid = isWholeTime,
): TokenRefusal | ValidTime {
  const iat = own(payload, 'iat')
  const exp = own(payload, 'exp')
  const nbf = Object.hasOwn(payload, 'nbf') ? payload['nbf'] : 0
  if (!isValid(iat) || !isValid(exp) || !isValid(nbf)) return 'claims'
  const issued = Math.floor(iat)
  const notBefore = Math.max(issued, nbf) * 1000 - tolerance
  const notAfter = exp * 1000 + tolerance
  const isExpired = now >= notAfter
  if (exp <= iat) return isExpired ? 'expired' : 'claims'
  if (now < notBefore) return 'not_yet_valid'
  return isExpired ? 'expired' : { iat: issued, exp, notBefore, notAfter }
}

/**
 * Returns the times of another issuer's token, which may be fractions of seconds (RFC 7519 section 2). `iat` is rounded down: a guard must
 * rather refuse a new token than admit an old one.
 */
export const readForeignTimes: typeof readTimes = (payload, expected) => readTimes(payload, expected, isTime)

/** Claims that only the issuer writes (RFC 7519 section 4.1, RFC 9068 section 2.2). Private claims cannot overwrite them. */
const REGISTERED: ReadonlySet<string> = new Set(['iss', 'aud', 'sub', 'client_id', 'iat', 'nbf', 'exp', 'jti', 'scope'])

/** The same and `sid`, which names the session of a token of this package. No private claim may name one. */
const RESERVED: ReadonlySet<string> = new Set([...REGISTERED, 'sid'])

const NO_CLAIMS = {}

/** Returns a name of private claims that only the issuer writes. */
export const reservedIn = (claims: object): string | undefined => Object.keys(claims).find((name) => RESERVED.has(name))

/** Returns the private claims of a token that this package issues. */
export const ownPrivateClaims = (claims: PrivateClaims) => privateClaims(claims, RESERVED)

/** Returns the claims that the issuer does not write itself. Omits functions, because a `toJSON` could replace the whole payload. */
export function privateClaims(claims: PrivateClaims, written = REGISTERED): PrivateClaims {
  let kept: Record<string, unknown> | undefined
  for (const name of Object.keys(claims)) {
    if (written.has(name)) continue
    const value = claims[name]
    if (typeof value === 'function') continue
    kept ??= {}
    // An assignment would reach the prototype: `__proto__`, or a name of a frozen prototype.
    if (name in kept) Object.defineProperty(kept, name, bare({ value, enumerable: true }))
    else kept[name] = value
  }
  // Most tokens have no private claims, so cached tokens share one object.
  return kept ?? NO_CLAIMS
}

/** A UUID of version 7 in the spelling that `createTokenId` writes (RFC 9562 sections 4 and 5.7). */
const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/**
 * Creates the `jti` of a token: a UUID of version 7 (RFC 9562 section 5.7), which holds the time of issue in milliseconds. `iat` stays in whole
 * seconds, because many verifiers accept no fraction. 74 bits are random.
 */
export function createTokenId(time: number): string {
  // Two halves, because Node converts integers of 32 bits much faster.
  const high = Math.floor(time / 0x10000).toString(16)
  const low = (time % 0x10000).toString(16)
  return `${high.padStart(8, '0')}-${low.padStart(4, '0')}-7${randomUUID().slice(15)}`
}

/**
 * Returns the time of issue in milliseconds. A `jti` that is not ours, or contradicts `iat`, counts as the start of the second: a guard must
 * rather refuse a new token than admit an old one.
 */
export function timeOfIssue(jti: string, iat: number): number {
  const time = UUID_V7.test(jti) ? Number.parseInt(jti.slice(0, 8) + jti.slice(9, 13), 16) : Number.NaN
  return Math.floor(time / 1000) === iat ? time : iat * 1000
}

/** The form of the tokens that this package issues (RFC 9068). */
export const ISSUED_FORM: TokenForm = {
  isType: (typ) => typ === TYP,
  readClaims(payload, expected) {
    if (!isPlainObject(payload)) return 'claims'
    const iss = own(payload, 'iss')
    const aud = own(payload, 'aud')
    const sub = own(payload, 'sub')
    const jti = own(payload, 'jti')
    const clientId = own(payload, 'client_id')
    const scopes = readScopes(own(payload, 'scope'))
    const sid = own(payload, 'sid')
    if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return 'claims'
    const times = readTimes(payload, expected)
    if (times === 'claims' || !scopes || (sid !== undefined && !isText(sid))) return 'claims'
    const { issuer, audience } = expected
    if (iss !== issuer) return 'issuer'
    if (aud !== audience) return 'audience'
    if (typeof times === 'string') return times
    const { iat, exp, notBefore, notAfter } = times
    const claims = deepFreeze(ownPrivateClaims(payload))
    const names = { id: jti, accountId: sub, issuer, audience, clientId, scopes, sessionId: sid, iat, exp, claims }
    const token = new Verified({ ...names, timeOfIssue })
    return { token, notBefore, notAfter }
  },
}
