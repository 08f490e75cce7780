import type { TokenRefusal } from '../errors.js'
import { isPlainObject, LAST_MOMENT, SCOPE_TOKEN } from '../options.js'
import { type Claims, describeToken, type Payload, type VerifiedToken } from './verified-token.js'

/** What a token is held against: this environment, at this moment. */
export interface Expectation {
  issuer: string
  audience: string
  /** Now, in milliseconds since the epoch. */
  now: number
  /** Milliseconds by which clocks may differ. */
  tolerance: number
}

const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) * 1000 <= LAST_MOMENT
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isScope = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value.split(' ').every((token) => SCOPE_TOKEN.test(token)))

function hasTypes(payload: Payload): payload is Claims {
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
  return { token: describeToken(payload, expected), notBefore, notAfter }
}
