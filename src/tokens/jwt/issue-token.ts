import { randomUUID } from 'node:crypto'
import { isPlainObject, isScopeList } from '../../shared/options.js'
import { isValidDate, memberOf } from '../../shared/values.js'
import type { KeyRing } from '../keys/key-ring.js'
import { isRegistered } from '../verified-token.js'
import { signCompact } from './signature.js'

/** The media type of a JWT access token, in its `typ` header (RFC 9068 section 2.1). */
export const TYP = 'at+jwt'

/** Whom a token is for, and what it allows: what `issue` takes. */
export interface TokenSubject {
  /** Becomes `sub`. Never empty. */
  accountId: string
  /** Become `scope` (RFC 9068 section 2.2.3); without any the token has none. Each is a scope token of RFC 6749 section 3.3. */
  scopes?: readonly string[] | undefined
  /** Private claims. Those that the issuer writes itself (`iss`, `sub`, `exp`, `scope` …) are left out. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /**
   * When the account was looked at; becomes `iat`. Default: now. A password that is changed while a login is under way then ends its token
   * too, by `tokensValidAfter`.
   */
  issuedAt?: Date | undefined
}

/** A new token: what `issue` gives. */
export interface IssuedToken {
  /** The token's text (JWS in compact form). A secret: whoever has it has the account. */
  token: string
  /** The token's own `exp`, to the second. */
  expiresAt: Date
  /** The token's `jti`, for logs and denylists. */
  id: string
}

/** What tokens are issued with. */
export interface Signer {
  issuer: string
  audience: string
  clientId: string
  clock: () => number
  /** Milliseconds. */
  lifetime: number
  ring: KeyRing
  signingKey: NonNullable<KeyRing['first']['signingKey']>
}

export function issueToken(signer: Signer, subject: TokenSubject): IssuedToken {
  const accountId = memberOf(subject, 'accountId')
  const given = memberOf(subject, 'scopes') ?? []
  const scopes: unknown = Array.isArray(given) ? [...given] : given
  const claims = memberOf(subject, 'claims') ?? {}
  const issuedAt = memberOf(subject, 'issuedAt') ?? new Date(signer.clock())
  if (typeof accountId !== 'string' || accountId === '')
    throw new TypeError('issue: "accountId" must be a non-empty string')
  if (!isScopeList(scopes))
    throw new TypeError('issue: "scopes" must be an array of scope tokens (RFC 6749 section 3.3)')
  if (!isPlainObject(claims)) throw new TypeError('issue: "claims" must be an object')
  const { issuer, audience, clientId, lifetime, ring, signingKey } = signer
  if (!isValidDate(issuedAt)) throw new TypeError('issue: "issuedAt" must be a valid Date')
  const iat = Math.floor(issuedAt.getTime() / 1000)
  const exp = iat + Math.floor(lifetime / 1000)
  const id = randomUUID()
  const registered = {
    iss: issuer,
    aud: audience,
    sub: accountId,
    client_id: clientId,
    iat,
    exp,
    jti: id,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const { alg, kid } = ring.first
  const payload = Object.fromEntries([...privateClaims(claims), ...Object.entries(registered)])
  const token = signCompact({ alg, typ: TYP, kid }, payload, signingKey)
  return { token, expiresAt: new Date(exp * 1000), id }
}

/** What of an account's claims goes into a token: JSON values, none of them by a name that the issuer writes itself. */
function privateClaims(claims: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(claims).filter(([name, value]) => !isRegistered(name) && typeof value !== 'function')
}
