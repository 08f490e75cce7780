import type { TokenRefusal } from '../errors.js'
import { isPlainObject, LAST_MOMENT, SCOPE_TOKEN } from '../options.js'

/** A verified token. Frozen, shared between requests, and without the token's text. */
export interface VerifiedToken {
  /** The token's own id (`jti`): what a denylist is keyed on. */
  readonly id: string
  /** The account that the token was issued to (`sub`). */
  readonly accountId: string
  /** The environment that issued it (`iss`). */
  readonly issuer: string
  /** Whom it is meant for (`aud`). */
  readonly audience: string
  /** What it allows (`scope`). Empty when it carries none. */
  readonly scopes: readonly string[]
  /** When it was issued (`iat`), to the second. */
  readonly issuedAt: Date
  /** From when on it is refused (`exp`), to the second. */
  readonly expiresAt: Date
  /** The account's private claims. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Claims that the issuer alone writes (RFC 7519 section 4.1, RFC 9068 section 2.2). An account's private claims cannot. */
export const REGISTERED = ['iss', 'aud', 'sub', 'iat', 'nbf', 'exp', 'jti', 'scope'] as const

/** What a token is held against: this environment, at this moment. */
export interface Expectation {
  issuer: string
  audience: string
  /** Now, in milliseconds since the epoch. */
  now: number
  /** Milliseconds by which clocks may differ. */
  tolerance: number
}

type Payload = Readonly<Record<string, unknown>>

const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) * 1000 <= LAST_MOMENT
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isScope = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value.split(' ').every((token) => SCOPE_TOKEN.test(token)))

interface Claims {
  iss: string
  aud: string
  sub: string
  jti: string
  iat: number
  exp: number
  nbf?: number
  scope?: string
}

function hasTypes(payload: Payload): payload is Payload & Claims {
  const { iss, aud, sub, jti, iat, exp, nbf, scope } = payload
  return (
    [iss, aud, sub, jti].every(isText) &&
    isTime(iat) &&
    isTime(exp) &&
    exp > iat &&
    (nbf === undefined || isTime(nbf)) &&
    isScope(scope)
  )
}

/** What the claims of a token say, and from when until when: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims {
  token: VerifiedToken
  notBefore: number
  notAfter: number
}

/** Why the claims of a token with a good signature are refused, or what they say. */
export function readClaims(payload: unknown, expected: Expectation): TokenRefusal | AcceptedClaims {
  if (!isPlainObject(payload) || !hasTypes(payload)) return 'claims'
  if (payload.iss !== expected.issuer) return 'issuer'
  if (payload.aud !== expected.audience) return 'audience'
  const { now, tolerance } = expected
  const notBefore = Math.max(payload.iat, payload.nbf ?? 0) * 1000 - tolerance
  const notAfter = payload.exp * 1000 + tolerance
  if (now < notBefore) return 'not_yet_valid'
  if (now >= notAfter) return 'expired'
  return { token: describeToken(payload), notBefore, notAfter }
}

const verified = new WeakSet<object>()

/** Whether a value is a token that this package has verified. */
export function isVerifiedToken(value: unknown): value is VerifiedToken {
  return typeof value === 'object' && value !== null && verified.has(value)
}

function describeToken({ iss, aud, sub, jti, iat, exp, scope, ...rest }: Payload & Claims): VerifiedToken {
  const { nbf: _, ...claims } = rest
  const token = Object.freeze({
    id: jti,
    accountId: sub,
    issuer: iss,
    audience: aud,
    scopes: Object.freeze(scope === undefined ? [] : scope.split(' ')),
    // A frozen object can still hold a Date that anyone may set: each reader gets its own.
    get issuedAt() {
      return new Date(iat * 1000)
    },
    get expiresAt() {
      return new Date(exp * 1000)
    },
    claims: deepFreeze(claims),
  })
  verified.add(token)
  return token
}

/** Level by level: claims may be nested deeper than the stack is. */
function deepFreeze<T>(root: T): T {
  for (let level: unknown[] = [root]; level.length > 0; ) {
    const objects = level.filter((value) => typeof value === 'object' && value !== null)
    level = objects.flatMap((value) => Object.values(Object.freeze(value) as object))
  }
  return root
}
