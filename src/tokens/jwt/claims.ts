import { isPlainObject, LAST_MOMENT, SCOPE_TOKEN } from '../../shared/options.js'
import type { TokenRefusal } from '../../shared/refusals.js'
import { bare } from '../../shared/values.js'
import { privateClaims, Verified, type VerifiedToken } from '../verified-token.js'

/** The environment and the time that a token is checked against. */
export interface Expectation {
  issuer: string
  audience: string
  /** The current time, in milliseconds since the epoch. */
  now: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  tolerance: number
}

const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) * 1000 <= LAST_MOMENT
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isScope = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === 'string' && value.split(' ').every((token) => SCOPE_TOKEN.test(token)))

/** The verified token, and the time in which it is valid: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims {
  readonly token: VerifiedToken
  readonly notBefore: number
  readonly notAfter: number
}

/** Reads the claims of a token whose signature is valid. Returns the reason of a refusal, or the accepted claims. */
export function readClaims(payload: unknown, expected: Expectation): TokenRefusal | AcceptedClaims {
  if (!isPlainObject(payload)) return 'claims'
  const { iss, aud, sub, jti, client_id: clientId, iat, exp, nbf = 0, scope } = bare(payload)
  if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return 'claims'
  if (!isTime(iat) || !isTime(exp) || exp <= iat || !isTime(nbf) || !isScope(scope)) return 'claims'
  const { issuer, audience, now, tolerance } = expected
  if (iss !== issuer) return 'issuer'
  if (aud !== audience) return 'audience'
  const notBefore = Math.max(iat, nbf) * 1000 - tolerance
  const notAfter = exp * 1000 + tolerance
  if (now < notBefore) return 'not_yet_valid'
  if (now >= notAfter) return 'expired'
  const scopes = scope === undefined ? [] : scope.split(' ')
  const claims = privateClaims(payload)
  const token = new Verified({ id: jti, accountId: sub, issuer, audience, scopes, iat, exp, claims })
  return { token, notBefore, notAfter }
}
