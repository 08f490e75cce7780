import { warnOnce } from '../../events/warnings.js'
import { type Duration, isScopeList, isTextList, tokenAge } from '../../options/checks.js'
import { misuse } from '../../options/misuse.js'
import { aliasesOf, named, unknownOption } from '../../options/read-options.js'
import { isPlainObject, isThenable, isValidDate, memberOf } from '../../options/values.js'
import { createTokenId, ownPrivateClaims, reservedIn } from './claims.js'
import type { Signer } from './signature.js'

/** Longer tokens meet the limits of proxies: two of them fit into a header line of 8 kB. */
const LONG_TOKEN = 4096

/** The account and the permissions of a new token. */
export interface TokenSubject {
  /** Becomes `sub`. Must not be empty. */
  accountId: string
  /** Become `scope` (RFC 9068 section 2.2.3). Each is a scope token of RFC 6749 section 3.3. Default: no scopes. */
  scopes?: readonly string[] | undefined
  /** Private claims. Claims that the issuer writes itself (`iss`, `sub`, `exp`, `scope` …) are ignored, with a warning. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The token's lifetime, from 1 s. A longer one than the issuer's counts as the issuer's. Default: the issuer's. */
  lifetime?: Duration | null | undefined
  /**
   * The time just before the account was looked up: becomes `iat` in whole seconds, and the time of `jti` in milliseconds. The lifetime
   * begins there. A later time than now counts as now. Default: now. A password change during a login then ends the token too, by
   * `tokensValidAfter`.
   */
  issuedAt?: Date | undefined
  /** The session of the token: becomes `sid`. Default: none. */
  sessionId?: string | undefined
  /** The time of the sign-in, for `signedInWithin`: becomes `auth_time` in whole seconds (RFC 9470 section 6). Default: none. */
  signedInAt?: Date | undefined
  /** The authentication methods (RFC 8176), like `['pwd']`: become `amr`, in place of a private claim of this name. Default: none. */
  amr?: readonly string[] | undefined
}

/** A new token, returned by `issue`. */
export interface IssuedToken {
  /** The token's text (JWS in compact form). Keep it secret: it gives access to the account. */
  token: string
  /** The token's own `exp`, to the second. */
  expiresAt: Date
  /** The token's `jti`: a UUID of version 7 (RFC 9562 section 5.7), for logs and denylists. */
  id: string
}

interface Issuing {
  issuer: string
  audience: string
  clientId: string
  clock: () => number
  /** The lifetime of a token, in milliseconds. */
  lifetime: number
  sign: Signer
}

/** The members of a subject, and what other packages call them. */
const MEMBERS: Readonly<Record<keyof TokenSubject, null>> = {
  accountId: null,
  scopes: null,
  claims: null,
  lifetime: null,
  issuedAt: null,
  sessionId: null,
  signedInAt: null,
  amr: null,
}

const WORDING = {
  error: (message: string) => misuse(message as 'issue: '),
  option: (name: string) => name,
  unknown: (name: string) => `issue: unknown member "${name}"`,
  known: 'Put private claims into "claims". Known members',
  aliases: aliasesOf({ accountId: 'id sub', scopes: 'permissions', lifetime: 'expiresIn ttl maxAge' }),
}

function assertMembers(subject: TokenSubject): void {
  if (!isPlainObject(subject)) throw misuse('issue: pass an object like { accountId, scopes }')
  for (const name of Object.keys(subject)) {
    if (!Object.hasOwn(MEMBERS, name)) throw unknownOption(name, Object.keys(MEMBERS), WORDING)
  }
}

export function issueToken(issuing: Issuing, subject: TokenSubject): IssuedToken | Promise<IssuedToken> {
  assertMembers(subject)
  const accountId = memberOf(subject, 'accountId')
  const given = memberOf(subject, 'scopes') ?? []
  const scopes: unknown = Array.isArray(given) ? [...given] : given
  const claims = memberOf(subject, 'claims') ?? {}
  // Read for each token: the clock of the testing entry refuses to work in production.
  const now = issuing.clock()
  const issuedAt = memberOf(subject, 'issuedAt') ?? undefined
  if (typeof accountId !== 'string' || accountId === '')
    throw misuse('issue: "accountId" must be a non-empty string. Pass { accountId }')
  if (!isScopeList(scopes))
    throw misuse('issue: "scopes" must be an array of scope tokens (RFC 6749 section 3.3), like ["reports:read"]')
  if (!isPlainObject(claims)) throw misuse('issue: "claims" must be an object')
  if (issuedAt !== undefined && !isValidDate(issuedAt)) throw misuse('issue: "issuedAt" must be a valid Date')
  const sessionId = memberOf(subject, 'sessionId') ?? undefined
  const signedInAt = memberOf(subject, 'signedInAt') ?? undefined
  const amr = memberOf(subject, 'amr') ?? undefined
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId === ''))
    throw misuse('issue: "sessionId" must be a non-empty string')
  if (signedInAt !== undefined && !isValidDate(signedInAt)) throw misuse('issue: "signedInAt" must be a valid Date')
  if (amr !== undefined && !isTextList(amr)) throw misuse('issue: "amr" must be an array of non-empty strings')
  noteMistakes(scopes, claims, amr)
  const { issuer, audience, clientId, sign } = issuing
  const time = Math.floor(issuedAt === undefined ? now : Math.min(issuedAt.getTime(), now))
  const iat = Math.floor(time / 1000)
  const exp = iat + Math.floor(lifetimeOf(subject, issuing.lifetime) / 1000)
  const id = createTokenId(time)
  const payload = {
    // First, so that the claims of the issuer count.
    ...ownPrivateClaims(claims),
    iss: issuer,
    aud: audience,
    sub: accountId,
    client_id: clientId,
    iat,
    exp,
    jti: id,
    // JSON omits what is undefined.
    scope: scopes.length > 0 ? scopes.join(' ') : undefined,
    sid: sessionId,
    ...(signedInAt !== undefined && { auth_time: Math.floor(signedInAt.getTime() / 1000) }),
    ...(amr && amr.length > 0 && { amr: [...amr] }),
  }
  const issued = (token: string): IssuedToken => {
    if (token.length > LONG_TOKEN) warnOnce('longToken')
    return { token, expiresAt: new Date(exp * 1000), id }
  }
  const token = sign(payload)
  return isThenable(token) ? token.then(issued) : issued(token)
}

/** Warns of what a token does not have as the host may expect. */
function noteMistakes(scopes: readonly string[], claims: object, amr: readonly string[] | undefined): void {
  if (scopes.some((scope) => scope.includes(','))) warnOnce('commaInScope')
  const reserved = reservedIn(claims) ?? (amr && Object.hasOwn(claims, 'amr') ? 'amr' : undefined)
  if (reserved !== undefined) warnOnce('reservedClaim', reserved)
}

/** Returns the lifetime of a token in milliseconds, never longer than the issuer's. */
function lifetimeOf(subject: TokenSubject, longest: number): number {
  const given = memberOf(subject, 'lifetime') ?? undefined
  if (given === undefined) return longest
  const lifetime = named('issue: "lifetime"', tokenAge, given)
  // A token with a session or an actor gets the time that is left of these as its lifetime, which is not the host's.
  const isOfHost =
    memberOf(subject, 'sessionId') === undefined && !Object.hasOwn(Object(memberOf(subject, 'claims')), 'act')
  if (lifetime > longest && isOfHost) warnOnce('longLifetime')
  return Math.min(longest, lifetime)
}
