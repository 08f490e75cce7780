import { bare, isPlainObject } from '../../options/values.js'
import { deepFreeze, type PrivateClaims } from '../verified-token.js'
import { anyCase, isText, privateClaims, readForeignTimes, type TokenForm } from './claims.js'
import { ANY_JWT, clientIn, FOR_APIS, OF_SIGN_IN, scopesIn } from './provider-claims.js'

/** A verified ID token: it tells who signed in at the provider, and gives no access. Frozen. */
export interface VerifiedIdToken {
  /** The provider (`iss`). */
  readonly issuer: string
  /** The user's id at the provider (`sub`), unique only within the provider. Find accounts by both, never by the e-mail address only. */
  readonly subject: string
  /** Your client (`aud`). */
  readonly audience: string
  /** The time of issue (`iat`). */
  readonly issuedAt: Date
  /** The expiration (`exp`). */
  readonly expiresAt: Date
  /** The other claims, such as `email`, `email_verified`, `name` and `auth_time`. Their types are not checked. */
  readonly claims: PrivateClaims
}

/** Returns whether a token says that it is for an API, or another message of the provider. */
function isOther(claims: Record<string, unknown>): boolean {
  // `token_use` is a claim of Cognito, and `typ` among the claims is one of Keycloak. Security events have `events` (RFC 8417).
  const { token_use: use = 'id', typ: kind = 'ID' } = claims
  const scopes = scopesIn(claims)
  const isForApi = !scopes?.every((scope) => OF_SIGN_IN.includes(scope))
  return (
    use !== 'id' ||
    kind !== 'ID' ||
    isForApi ||
    [...FOR_APIS, 'events'].some((name) => (claims[name] ?? undefined) !== undefined)
  )
}

/** Returns the form of the ID tokens of OpenID Connect Core 1.0 sections 2 and 3.1.3.7, issued to one of these clients (`azp`). */
export const idTokenForm = (parties: ReadonlySet<unknown>): TokenForm<VerifiedIdToken> => ({
  isType: anyCase(ANY_JWT),
  unnamedKeys: 'only',
  readClaims(payload, expected) {
    if (!isPlainObject(payload)) return 'claims'
    const claims = bare(payload)
    const { iss, sub, aud, azp, nonce } = claims
    const client = clientIn(claims)
    const audiences: unknown[] = Array.isArray(aud) ? aud : [aud]
    const times = readForeignTimes(claims, expected)
    if (!isText(iss) || !isText(sub) || client === false || !audiences.every(isText) || times === 'claims')
      return 'claims'
    const { issuer, audience } = expected
    if (iss !== issuer) return 'issuer'
    if (!audiences.includes(audience) || !parties.has(client ?? audience)) return 'audience'
    // Another audience could use the token here, unless the provider says that it was issued to one of these clients.
    if (audiences.length > 1 && !parties.has(azp)) return 'audience'
    if (isOther(claims)) return 'type'
    if (typeof times === 'string') return times
    if (nonce !== expected.nonce) return 'nonce'
    const { iat, exp, notBefore, notAfter } = times
    const dates = { issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000) }
    const kept = deepFreeze(privateClaims(payload))
    const token = Object.freeze({ issuer, subject: sub, audience, ...dates, claims: kept })
    return { token, notBefore, notAfter }
  },
})
