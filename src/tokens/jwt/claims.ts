import { LAST_MOMENT, SCOPE_TOKEN } from '../../options/checks.js'
import { isPlainObject, own } from '../../options/values.js'
import type { TokenRefusal } from '../../refusals/codes.js'
import { privateClaims, Verified, type VerifiedToken } from '../verified-token.js'
import type { CompactToken } from './compact-jws.js'
import { TYP } from './issue-token.js'
import { timeOfIssue } from './token-id.js'

/** The form of the tokens that a verifier accepts. */
export interface TokenForm {
  /** The `typ` that tokens of this form may have in their header. */
  readonly types: readonly unknown[]
  /** Reads the claims of a token whose signature is valid. Returns the reason of a refusal, or the accepted claims. */
  readClaims(payload: unknown, expected: Expectation, token: CompactToken): TokenRefusal | AcceptedClaims
}

export interface Expectation {
  issuer: string
  audience: string
  /** Milliseconds since the epoch. */
  now: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  tolerance: number
}

/** The verified token, and the time in which it is valid: milliseconds since the epoch, tolerance included. */
export interface AcceptedClaims {
  readonly token: VerifiedToken
  readonly notBefore: number
  readonly notAfter: number
}

interface ValidTime extends Omit<AcceptedClaims, 'token'> {
  readonly iat: number
  readonly exp: number
}

const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) * 1000 <= LAST_MOMENT
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns the scopes of a `scope` claim, undefined when it is not valid. */
function readScopes(scope: unknown): string[] | undefined {
  if (scope === undefined) return []
  const scopes = typeof scope === 'string' ? scope.split(' ') : undefined
  return scopes?.every((token) => SCOPE_TOKEN.test(token)) ? scopes : undefined
}

/** Returns the times of a token, or the reason of a refusal: `claims` for times that are not whole seconds, or not in their order. */
export function readTimes(
  payload: Readonly<Record<string, unknown>>,
  { now, tolerance }: Expectation,
): TokenRefusal | ValidTime {
  const iat = own(payload, 'iat')
  const exp = own(payload, 'exp')
  const nbf = Object.hasOwn(payload, 'nbf') ? payload['nbf'] : 0
  if (!isTime(iat) || !isTime(exp) || exp <= iat || !isTime(nbf)) return 'claims'
  const notBefore = Math.max(iat, nbf) * 1000 - tolerance
  const notAfter = exp * 1000 + tolerance
  if (now < notBefore) return 'not_yet_valid'
  return now >= notAfter ? 'expired' : { iat, exp, notBefore, notAfter }
}

/** The form of the tokens that this package issues (RFC 9068). */
export const ISSUED_FORM: TokenForm = {
  types: [TYP],
  readClaims(payload, expected) {
    if (!isPlainObject(payload)) return 'claims'
    const iss = own(payload, 'iss')
    const aud = own(payload, 'aud')
    const sub = own(payload, 'sub')
    const jti = own(payload, 'jti')
    const clientId = own(payload, 'client_id')
    const scopes = readScopes(own(payload, 'scope'))
    if (!isText(iss) || !isText(aud) || !isText(sub) || !isText(jti) || !isText(clientId)) return 'claims'
    const times = readTimes(payload, expected)
    if (times === 'claims' || !scopes) return 'claims'
    const { issuer, audience } = expected
    if (iss !== issuer) return 'issuer'
    if (aud !== audience) return 'audience'
    if (typeof times === 'string') return times
    const { exp, notBefore, notAfter } = times
    const iat = timeOfIssue(jti, times.iat) / 1000
    const claims = privateClaims(payload)
    const token = new Verified({ id: jti, accountId: sub, issuer, audience, clientId, scopes, iat, exp, claims })
    return { token, notBefore, notAfter }
  },
}
