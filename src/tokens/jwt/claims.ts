import { isPlainObject, LAST_MOMENT, SCOPE_TOKEN } from '../../shared/options.js'
import type { TokenRefusal } from '../../shared/refusals.js'
import { bare } from '../../shared/values.js'
import { privateClaims, Verified, type VerifiedToken } from '../verified-token.js'
import type { CompactToken } from './compact-jws.js'
import { TYP } from './issue-token.js'

/** The form of the tokens that a verifier accepts. */
export interface TokenForm {
  /** Returns whether tokens of this form have this `typ` in their header. */
  hasType(typ: unknown): boolean
  /** Reads the claims of a token whose signature is valid. Returns the reason of a refusal, or the accepted claims. */
  readClaims(payload: unknown, expected: Expectation, token: CompactToken): TokenRefusal | AcceptedClaims
}

/** The environment and the time that a token is checked against. */
export interface Expectation {
  issuer: string
  audience: string
  /** The current time, in milliseconds since the epoch. */
  now: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  tolerance: number
}

/** The verified token, and the time in which it is valid: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims extends ValidTime {
  readonly token: VerifiedToken
}

interface ValidTime {
  readonly notBefore: number
  readonly notAfter: number
}

const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) * 1000 <= LAST_MOMENT
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isScope = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === 'string' && value.split(' ').every((token) => SCOPE_TOKEN.test(token)))

interface Times {
  iat: number
  exp: number
  nbf: number
}

/** Returns whether the times of a token are whole seconds, and in their order. */
export const areTimes = (times: { iat: unknown; exp: unknown; nbf: unknown }): times is Times =>
  isTime(times.iat) && isTime(times.exp) && times.exp > times.iat && isTime(times.nbf)

/** Returns the time in which a token is valid, or the reason of a refusal. */
export function validTime({ iat, exp, nbf }: Times, { now, tolerance }: Expectation): TokenRefusal | ValidTime {
  const notBefore = Math.max(iat, nbf) * 1000 - tolerance
  const notAfter = exp * 1000 + tolerance
  if (now < notBefore) return 'not_yet_valid'
  return now >= notAfter ? 'expired' : { notBefore, notAfter }
}

/** The tokens that this package issues (RFC 9068). */
export const OWN_FORM: TokenForm = {
  hasType: (typ) => typ === TYP,
  readClaims(payload, expected) {
    if (!isPlainObject(payload)) return 'claims'
    const { iss, aud, sub, jti, client_id: clientId, iat, exp, nbf = 0, scope } = bare(payload)
    if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return 'claims'
    const times = { iat, exp, nbf }
    if (!areTimes(times) || !isScope(scope)) return 'claims'
    const { issuer, audience } = expected
    if (iss !== issuer) return 'issuer'
    if (aud !== audience) return 'audience'
    const valid = validTime(times, expected)
    if (typeof valid === 'string') return valid
    const scopes = scope === undefined ? [] : scope.split(' ')
    const claims = privateClaims(payload)
    const token = new Verified({ id: jti, accountId: sub, issuer, audience, clientId, scopes, ...times, claims })
    return { token, ...valid }
  },
}
