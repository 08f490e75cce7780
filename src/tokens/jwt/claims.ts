import { isPlainObject, LAST_MOMENT, SCOPE_TOKEN } from '../../shared/options.js'
import type { TokenRefusal } from '../../shared/refusals.js'
import { own } from '../../shared/values.js'
import { type Claims, describeToken, type Payload, type VerifiedToken } from '../verified-token.js'

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

/** Returns the registered claims of a payload, or undefined when one of them is missing or of the wrong type. */
function registeredClaims(payload: Payload): Claims | undefined {
  const iss = own(payload, 'iss')
  const aud = own(payload, 'aud')
  const sub = own(payload, 'sub')
  const jti = own(payload, 'jti')
  const clientId = own(payload, 'client_id')
  const iat = own(payload, 'iat')
  const exp = own(payload, 'exp')
  const nbf = own(payload, 'nbf')
  const scope = own(payload, 'scope')
  if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return undefined
  if (!isTime(iat) || !isTime(exp) || exp <= iat) return undefined
  if ((nbf !== undefined && !isTime(nbf)) || !isScope(scope)) return undefined
  return { iss, aud, sub, jti, iat, exp, nbf, scope }
}

/** The verified token, and the time in which it is valid: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims {
  token: VerifiedToken
  notBefore: number
  notAfter: number
}

/** Reads the claims of a token whose signature is valid. Returns the reason of a refusal, or the accepted claims. */
export function readClaims(payload: unknown, expected: Expectation): TokenRefusal | AcceptedClaims {
  if (!isPlainObject(payload)) return 'claims'
  const claims = registeredClaims(payload)
  if (!claims) return 'claims'
  if (claims.iss !== expected.issuer) return 'issuer'
  if (claims.aud !== expected.audience) return 'audience'
  const { now, tolerance } = expected
  const notBefore = Math.max(claims.iat, claims.nbf ?? 0) * 1000 - tolerance
  const notAfter = claims.exp * 1000 + tolerance
  if (now < notBefore) return 'not_yet_valid'
  if (now >= notAfter) return 'expired'
  return { token: describeToken(claims, payload, expected), notBefore, notAfter }
}
